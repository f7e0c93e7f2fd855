// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestFailedWritePrunesNothing checks that a rejected write does not cause the phase's
// other objects to be pruned.
func TestFailedWritePrunesNothing(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	service := mustGet(p, "acme", &corev1.Service{}).UID
	refused := make(chan struct{}, 1000)
	p.writes.rejectWrites(func(request *http.Request) error {
		if !strings.Contains(request.URL.Path, "/configmaps/") {
			return nil
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return errors.New("the API server is not itself")
	})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
	})
	for range 3 {
		<-refused
	}
	p.Expect(mustGet(p, "acme", &corev1.Service{}).UID).To(gomega.Equal(service), "clients lost their address")
	p.Expect(p.get("acme-config", &corev1.ConfigMap{})).To(gomega.BeTrue())
	p.writes.rejectWrites(nil)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(mustGet(p, "acme", &corev1.Service{}).UID).To(gomega.Equal(service))
}

// TestPreflightIsRerunOnRetryAnnotation checks that a negative preflight result is not
// permanent.
func TestPreflightIsRerunOnRetryAnnotation(t *testing.T) {
	p := newHarness(t)
	instance := p.newExternalInstance("acme")
	instance.Spec.Models = []v1alpha1.Model{{ID: "service-fr"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Stalled=True ModelsUnavailable")
	p.cluster.update(func(w *fakeCluster) {
		w.modelsByImage[serverImage] = map[string][]string{"service-fr": {newestVersion}}
	})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.RetryAnnotation: "1"}
	})
	p.waitForConditions("acme", "Ready=True Ready")
}
