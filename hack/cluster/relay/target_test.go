// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestParseTarget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Target{
		"svc/tenants/acme:443":   {Kind: "svc", Namespace: "tenants", Name: "acme", Port: "443"},
		"svc/tenants/acme:https": {Kind: "svc", Namespace: "tenants", Name: "acme", Port: "https"},
		"pod/default/a-0:8080":   {Kind: "pod", Namespace: "default", Name: "a-0", Port: "8080"},
		"10.89.0.1:5432":         {Host: "10.89.0.1", Port: "5432"},
		"[fd00::1]:443":          {Host: "fd00::1", Port: "443"},
	} {
		got, err := ParseTarget(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{
		"", "acme", "acme:443", "svc/acme:443", "svc/tenants/acme", "svc/tenants/acme:", "svc//acme:443",
		"svc/tenants/:443", "deploy/tenants/acme:443", "svc/a/b/c:443", "10.89.0.1:https", "10.89.0.1:70000", ":443",
	} {
		if got, err := ParseTarget(text); err == nil || !strings.Contains(err.Error(), "svc/NAMESPACE/NAME:PORT") {
			t.Errorf("ParseTarget(%q) = %+v, %v, want an error", text, got, err)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	named := func(kind string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "tenants", Name: kind} }
	client := fake.NewClientset(
		&corev1.Service{ObjectMeta: named("acme"), Spec: corev1.ServiceSpec{
			ClusterIP: "10.96.0.7",
			Ports:     []corev1.ServicePort{{Name: "https", Port: 443}, {Name: "admin", Port: 8081}},
		}},
		&corev1.Service{ObjectMeta: named("headless"), Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 443}},
		}},
		&corev1.Pod{
			ObjectMeta: named("acme-0"),
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "https", ContainerPort: 8443}}}}},
			Status:     corev1.PodStatus{PodIP: "10.244.0.5"},
		},
		&corev1.Pod{ObjectMeta: named("pending")},
	)
	for _, test := range []struct{ target, want, says string }{
		{target: "svc/tenants/acme:443", want: "10.96.0.7:443"},
		{target: "svc/tenants/acme:admin", want: "10.96.0.7:8081"},
		{target: "svc/tenants/acme:80", says: "has no port 80"},
		{target: "svc/tenants/none:443", says: "not found"},
		{target: "svc/tenants/headless:443", says: "no cluster IP"},
		{target: "pod/tenants/acme-0:9999", want: "10.244.0.5:9999"},
		{target: "pod/tenants/acme-0:https", want: "10.244.0.5:8443"},
		{target: "pod/tenants/acme-0:admin", says: "no port named admin"},
		{target: "pod/tenants/pending:443", says: "no IP address yet"},
		{target: "pod/other/acme-0:443", says: "not found"},
		{target: "10.89.0.1:5432", want: "10.89.0.1:5432"},
	} {
		t.Run(test.target, func(t *testing.T) {
			t.Parallel()
			target, err := ParseTarget(test.target)
			if err != nil {
				t.Fatal(err)
			}
			got, err := target.Resolve(t.Context(), client)
			if got != test.want || (test.says == "") != (err == nil) {
				t.Errorf("got %q, error %v; want %q", got, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want %q", err, test.says)
			}
		})
	}
}
