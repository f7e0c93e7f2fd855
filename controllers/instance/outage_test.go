// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An API server that is gone for a while, in the middle of a visit, delays what
// is wished for and nothing else.

func TestOutageOfTheAPIServerDelaysAndNothingElse(t *testing.T) {
	outage := max(soak(t), 10*time.Second)
	p := newPlatform(t)
	p.SetDefaultEventuallyTimeout(patience + 2*outage)
	p.create(p.instance("acme"))
	p.create(p.external("other"))
	p.reaches("acme", "Ready=True Ready")
	p.reaches("other", "Ready=True Ready")
	p.settle()
	before := p.goroutines()
	if before == 0 {
		t.Fatal("the operator has no goroutine: they are not told apart")
	}
	readiness := map[metav1.ConditionStatus]bool{}
	stop := p.follow(&v1alpha1.InstanceList{}, func(object runtime.Object) {
		ready := meta.FindStatusCondition(object.(*v1alpha1.Instance).Status.Conditions, v1alpha1.ConditionReady)
		readiness[ready.Status] = true
	})

	p.severAtNextWrite()
	p.editInstance("acme", allowPortal)
	p.Eventually(p.line.isCut).Should(gomega.BeTrue())
	p.editInstance("other", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 3 })
	if err := p.Delete(t.Context(), read(p, "other", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	time.Sleep(outage)
	p.line.mend()
	mended := time.Now()

	p.reaches("acme", "Ready=True Ready")
	p.reaches("other", "Ready=True Ready")
	t.Logf("ready %s after an outage of %s", time.Since(mended).Round(100*time.Millisecond), outage)
	p.Expect(read(p, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]).To(gomega.ContainSubstring("https://portal.example"))
	p.Expect(*read(p, "other", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(3)))
	p.Eventually(func() bool { return p.get("other", &networkingv1.NetworkPolicy{}) }).Should(gomega.BeTrue())
	p.settle()
	stop()
	p.Expect(readiness).NotTo(gomega.HaveKey(metav1.ConditionUnknown), "a short outage says nothing about an Instance")
	p.Eventually(p.goroutines).Should(gomega.BeNumerically("<=", before+before/10), "goroutines, %d before", before)
}

// severAtNextWrite cuts the line when the operator is about to write.
func (p *platform) severAtNextWrite() {
	line := p.line
	p.writes.refuse(func(*http.Request) error {
		line.sever()
		p.writes.refusal = nil // it is called with the lock held
		return errLineCut
	})
}

func allowPortal(instance *v1alpha1.Instance) {
	instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
}
