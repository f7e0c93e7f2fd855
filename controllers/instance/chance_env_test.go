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

// TestFailedWriteDeletesNothing: of what a step makes, nothing goes because one
// write was refused.
func TestFailedWriteDeletesNothing(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	service := read(p, "acme", &corev1.Service{}).UID
	refused := make(chan struct{}, 1000)
	p.writes.refuse(func(request *http.Request) error {
		if !strings.Contains(request.URL.Path, "/configmaps/") {
			return nil
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return errors.New("the API server is not itself")
	})
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
	})
	for range 3 {
		<-refused
	}
	p.Expect(read(p, "acme", &corev1.Service{}).UID).To(gomega.Equal(service), "clients lost their address")
	p.Expect(p.get("acme-config", &corev1.ConfigMap{})).To(gomega.BeTrue())
	p.writes.refuse(nil)
	p.reaches("acme", "Ready=True Ready")
	p.Expect(read(p, "acme", &corev1.Service{}).UID).To(gomega.Equal(service))
}

// TestPreflightIsAskedAgain: an answer that kept an Instance from its models is
// not for ever.
func TestPreflightIsAskedAgain(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	instance.Spec.Models = []v1alpha1.Model{{ID: "service-fr"}}
	p.create(instance)
	p.reaches("acme", "Stalled=True ModelsUnavailable")
	p.world.change(func(w *world) { w.catalogue[serverImage] = map[string][]string{"service-fr": {newestVersion}} })
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.RetryAnnotation: "1"}
	})
	p.reaches("acme", "Ready=True Ready")
}
