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
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	service := mustGet(h, "acme", &corev1.Service{}).UID
	rejected := make(chan struct{}, 1000)
	h.writes.rejectWrites(func(request *http.Request) error {
		if !strings.Contains(request.URL.Path, "/configmaps/") {
			return nil
		}
		select {
		case rejected <- struct{}{}:
		default:
		}
		return errors.New("internal server error")
	})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
	})
	for range 3 {
		<-rejected
	}
	h.Expect(mustGet(h, "acme", &corev1.Service{}).UID).To(gomega.Equal(service), "the Service must not be replaced")
	h.Expect(h.get("acme-config", &corev1.ConfigMap{})).To(gomega.BeTrue())
	h.writes.rejectWrites(nil)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme", &corev1.Service{}).UID).To(gomega.Equal(service))
}

// TestPreflightIsRerunOnRetryAnnotation checks that a negative preflight result is not
// permanent.
func TestPreflightIsRerunOnRetryAnnotation(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	instance.Spec.Models = []v1alpha1.Model{{ID: "service-fr"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True ModelsUnavailable")
	h.cluster.update(func(c *fakeCluster) {
		c.modelsByImage[serverImage] = map[string][]string{"service-fr": {newestVersion}}
	})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.RetryAnnotation: "1"}
	})
	h.waitForConditions("acme", "Ready=True Ready")
}
