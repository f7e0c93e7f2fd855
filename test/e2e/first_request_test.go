// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// newInstanceCount is the number of Instances created concurrently.
const newInstanceCount = 4

// TestFirstRequestAfterReadySucceeds creates Instances and sends one request to each
// as soon as it reports that it is ready.
func TestFirstRequestAfterReadySucceeds(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "first")
	for i := range newInstanceCount {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			n := createInstance(t, namespace, fmt.Sprintf("new-%d", i), embeddedSpec())
			began := time.Now()
			address := n.relay()
			n.waitForSecrets("-serving-tls", "-app-default")
			api := n.newAPIClientAt(address, "http/1.1")
			instance := n.waitFirstReady()
			took := time.Since(began)
			api.mustDiagnose(t)
			ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionReady)
			available := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionAvailable)
			behind := ready.LastTransitionTime.Sub(available.LastTransitionTime.Time)
			t.Logf("Ready %.1f s after creation, %s after the first pod", took.Seconds(), behind)
			// The operator stops calling after ten seconds if the network blocks its calls.
			if behind >= 10*time.Second {
				t.Errorf("Instance became Ready %s after the first pod: the operator's call got no response", behind)
			}
		})
	}
}

// waitForSecrets waits for Secrets, given by the suffixes to the Instance's name.
func (tn tenant) waitForSecrets(suffixes ...string) {
	tn.t.Helper()
	gomega.NewWithT(tn.t).Eventually(func(g gomega.Gomega) {
		for _, suffix := range suffixes {
			key := client.ObjectKey{Namespace: tn.key.Namespace, Name: tn.key.Name + suffix}
			g.Expect(kubeClient.Get(tn.t.Context(), key, &corev1.Secret{})).To(gomega.Succeed())
		}
	}, defaultTimeout, "100ms").Should(gomega.Succeed())
}

// waitFirstReady waits until the Instance first reports that it is ready.
func (tn tenant) waitFirstReady() *v1alpha1.Instance {
	tn.t.Helper()
	watch, err := kubeClient.Watch(tn.t.Context(), &v1alpha1.InstanceList{},
		client.InNamespace(tn.key.Namespace), client.MatchingFields{"metadata.name": tn.key.Name})
	if err != nil {
		tn.t.Fatalf("watching Instance %s: %v", tn.key, err)
	}
	defer watch.Stop()
	late := time.After(defaultTimeout)
	for {
		select {
		case <-late:
			tn.t.Fatalf("Instance %s is not ready: %+v", tn.key, tn.get().Status.Conditions)
		case event, open := <-watch.ResultChan():
			instance, is := event.Object.(*v1alpha1.Instance)
			if !open || !is {
				tn.t.Fatalf("watch of Instance %s ended: %+v", tn.key, event)
			}
			if meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha1.ConditionReady) {
				return instance
			}
		}
	}
}
