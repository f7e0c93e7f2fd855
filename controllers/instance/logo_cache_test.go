// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
)

// A configMapReader holds one ConfigMap and counts reads of its content.
type configMapReader struct {
	client.Reader
	configMap corev1.ConfigMap
	reads     int
}

func (r *configMapReader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *metav1.PartialObjectMetadata:
		into.ObjectMeta = r.configMap.ObjectMeta
	case *corev1.ConfigMap:
		r.configMap.DeepCopyInto(into)
		r.reads++
	}
	return nil
}

// TestLogoIsReadOnceUntilItChanges checks that reconciles read an accepted or rejected logo
// only once until the logo or the configuration changes.
func TestLogoIsReadOnceUntilItChanges(t *testing.T) {
	t.Parallel()
	const good, other = "<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>"
	dataURL := func(content string) string {
		return branding.Logo{MediaType: "image/svg+xml", Data: []byte(content)}.DataURL()
	}
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	instance.Spec.Page = &v1alpha1.Page{Logo: &v1alpha1.PageLogo{ConfigMapRef: v1alpha1.ConfigMapKeyReference{Name: "acme-logo"}}}
	deps, reader, configured := &dependencies{}, &configMapReader{}, ""
	reconcile := func() error {
		s := newScope(deps, instance, inventory.New(inventory.Clients{}, instance), noon)
		s.Reader = cluster.Reader{APIReader: reader}
		s.input.Branding.Logo = configured
		err := s.loadLogo(t.Context())
		configured = s.input.Branding.Logo
		return err
	}
	setConfigMap := func(uid types.UID, version, content string) {
		reader.configMap = corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}, Data: map[string]string{"logo": content, "dark": other}}
	}
	for _, test := range []struct {
		name    string
		change  func()
		want    string // the logo in the configuration
		wantErr string
	}{
		{"a first one", func() { setConfigMap("u", "1", good) }, dataURL(good), ""},
		{"another one", func() { setConfigMap("u", "2", other) }, dataURL(other), ""},
		{"same version, recreated", func() { setConfigMap("w", "2", good) }, dataURL(good), ""},
		{"under another key", func() { instance.Spec.Page.Logo.ConfigMapRef.Key = "dark" }, dataURL(other), ""},
		{"changed in the configuration", func() { configured = dataURL(good) }, dataURL(other), ""},
		{"of another Instance", func() { instance.UID = "2" }, dataURL(other), ""},
		{"none", func() { instance.Spec.Page.Logo.ConfigMapRef.Key = ""; setConfigMap("w", "3", "GIF89a") }, dataURL(other), "not a PNG, JPEG or WebP image"},
		{"missing", func() { instance.Spec.Page.Logo.ConfigMapRef.Key = "light" }, dataURL(other), "has no key light"},
	} {
		test.change()
		before := reader.reads
		for range 3 {
			err := reconcile()
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got error %v, want %q", test.name, err, test.wantErr)
			}
			if configured != test.want {
				t.Errorf("%s: got configured logo %q, want %q", test.name, configured, test.want)
			}
		}
		if got := reader.reads - before; got != 1 {
			t.Errorf("%s: the logo was read %d times in three reconciles, want once", test.name, got)
		}
	}
	deps.logoCache.delete("2")
	if before := reader.reads; reconcile() == nil || reader.reads != before+1 {
		t.Error("the cache still holds a deleted Instance")
	}
}
