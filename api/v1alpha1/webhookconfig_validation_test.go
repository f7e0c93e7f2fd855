// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// newWebhookConfig is one with this spec, in YAML as people write it.
func newWebhookConfig(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSON([]byte("spec:\n" + indent(spec)))
	if err == nil {
		err = utiljson.Unmarshal(encoded, &object.Object)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("WebhookConfig"))
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

// receiverSpec is a spec with this URL and these further fields.
func receiverSpec(url, fields string) string {
	return "instanceRef: {name: acme}\nurl: '" + url + "'\nauthorizationTokenSecretRef: {name: portal-token}\n" + fields
}

const receiverURL = "https://portal.example/events"

func TestInvalidWebhookConfigsAreRejected(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"http":                {receiverSpec("http://portal.example/", ""), "must be an https URL"},
		"a user":              {receiverSpec("https://me:pw@portal.example/", ""), "must be an https URL"},
		"a fragment":          {receiverSpec("https://portal.example/#top", ""), "must be an https URL"},
		"no host":             {receiverSpec("https:///events", ""), "must be an https URL"},
		"a port and no host":  {receiverSpec("https://:443/events", ""), "must be an https URL"},
		"words":               {receiverSpec("https://portal example/", ""), "must be an https URL"},
		"no address":          {receiverSpec("", ""), "must be an https URL"},
		"a long address":      {receiverSpec("https://portal.example/"+strings.Repeat("a", 2048), ""), "may not be more than 2048"},
		"an event twice":      {receiverSpec(receiverURL, "subscribedEvents: [notification, notification]"), "Duplicate value"},
		"an unknown event":    {receiverSpec(receiverURL, "subscribedEvents: [ping]"), "Unsupported value"},
		"no Secret":           {"instanceRef: {name: acme}\nurl: " + receiverURL, "spec.authorizationTokenSecretRef"},
		"a key with a slash":  {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: portal-token}", "{name: a, key: b/c}"), "spec.authorizationTokenSecretRef.key"},
		"no Instance":         {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: acme}", "{}"), "spec.instanceRef.name"},
		"an Instance unnamed": {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: acme}", "{name: ''}"), "spec.instanceRef.name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := newClient(t).Create(t.Context(), newWebhookConfig(t, "portal", test.spec), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
		})
	}
	err := newClient(t).Create(t.Context(), newWebhookConfig(t, strings.Repeat("a", 246), receiverSpec(receiverURL, "")), client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "name must be at most 245 characters") {
		t.Errorf("a name that leaves no room for its Secret: got error %v", err)
	}
}

func TestValidWebhookConfigsAreAccepted(t *testing.T) {
	for _, url := range []string{receiverURL, "https://portal.example", "https://portal.example:8443?a=b", "https://[2001:db8::1]/e", "https://10.0.0.7/e?x=y&z"} {
		if err := newClient(t).Create(t.Context(), newWebhookConfig(t, "portal", receiverSpec(url, "")), client.DryRunAll); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	object := newWebhookConfig(t, "portal", receiverSpec(receiverURL, "subscribedEvents: []"))
	if err := newClient(t).Create(t.Context(), object, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	var typed v1alpha1.WebhookConfig
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		t.Fatal(err)
	}
	if typed.Spec.SubscribedEvents == nil {
		t.Error("no events are read as all events")
	}
	if encoded, err := utiljson.Marshal(typed.Spec); err != nil || !strings.Contains(string(encoded), `"subscribedEvents":[]`) {
		t.Errorf("no events are written as %s (%v)", encoded, err)
	}
	if diff := cmp.Diff("token", typed.Spec.AuthorizationTokenSecretRef.Key); diff != "" {
		t.Errorf("the key of the token (-want +got):\n%s", diff)
	}
	if typed.Status.ObservedGeneration != -1 {
		t.Errorf("before it is seen, the generation observed is %d", typed.Status.ObservedGeneration)
	}
}

// TestWebhookConfigInstanceRefIsImmutable: the server of the former Instance would go on
// sending.
func TestWebhookConfigInstanceRefIsImmutable(t *testing.T) {
	object := newWebhookConfig(t, "stays", receiverSpec(receiverURL, ""))
	if err := newClient(t).Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(object.Object, "other", "spec", "instanceRef", "name"); err != nil {
		t.Fatal(err)
	}
	if err := newClient(t).Update(t.Context(), object); err == nil || !strings.Contains(err.Error(), "instanceRef is immutable") {
		t.Errorf("got error %v", err)
	}
	_ = unstructured.SetNestedField(object.Object, "acme", "spec", "instanceRef", "name")
	_ = unstructured.SetNestedField(object.Object, "https://other.example/", "spec", "url")
	if err := newClient(t).Update(t.Context(), object); err != nil {
		t.Errorf("the address cannot change: %v", err)
	}
}
