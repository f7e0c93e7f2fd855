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

// newWebhookConfig returns a WebhookConfig with a YAML spec.
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

// receiverSpec returns a spec with the URL and the additional fields.
func receiverSpec(url, fields string) string {
	return "instanceRef: {name: acme}\nurl: '" + url + "'\nauthorizationTokenSecretRef: {name: portal-token}\n" + fields
}

const receiverURL = "https://portal.example/events"

func TestInvalidWebhookConfigsAreRejected(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"http":                {receiverSpec("http://portal.example/", ""), "must be an https URL"},
		"user info":           {receiverSpec("https://me:pw@portal.example/", ""), "must be an https URL"},
		"fragment":            {receiverSpec("https://portal.example/#top", ""), "must be an https URL"},
		"no host":             {receiverSpec("https:///events", ""), "must be an https URL"},
		"port without a host": {receiverSpec("https://:443/events", ""), "must be an https URL"},
		"URL with a space":    {receiverSpec("https://portal example/", ""), "must be an https URL"},
		"empty URL":           {receiverSpec("", ""), "must be an https URL"},
		"long URL":            {receiverSpec("https://portal.example/"+strings.Repeat("a", 2048), ""), "may not be more than 2048"},
		"duplicate event":     {receiverSpec(receiverURL, "subscribedEvents: [notification, notification]"), "Duplicate value"},
		"unknown event":       {receiverSpec(receiverURL, "subscribedEvents: [ping]"), "Unsupported value"},
		"no Secret":           {"instanceRef: {name: acme}\nurl: " + receiverURL, "spec.authorizationTokenSecretRef"},
		"key with a slash":    {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: portal-token}", "{name: a, key: b/c}"), "spec.authorizationTokenSecretRef.key"},
		"no Instance":         {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: acme}", "{}"), "spec.instanceRef.name"},
		"empty Instance name": {strings.ReplaceAll(receiverSpec(receiverURL, ""), "{name: acme}", "{name: ''}"), "spec.instanceRef.name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := newClient(t).Create(t.Context(), newWebhookConfig(t, "portal", test.spec), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
	err := newClient(t).Create(t.Context(), newWebhookConfig(t, strings.Repeat("a", 246), receiverSpec(receiverURL, "")), client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "name must be at most 245 characters") {
		t.Errorf("name of 246 characters: got error %v", err)
	}
}

func TestValidWebhookConfigsAreAccepted(t *testing.T) {
	for _, url := range []string{receiverURL, "https://portal.example", "https://portal.example:8443?a=b", "https://[2001:db8::1]/e", "https://10.0.0.7/e?x=y&z"} {
		if err := newClient(t).Create(t.Context(), newWebhookConfig(t, "portal", receiverSpec(url, "")), client.DryRunAll); err != nil {
			t.Errorf("creating a WebhookConfig with URL %s: %v", url, err)
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
		t.Error("empty subscribedEvents decoded as nil")
	}
	if encoded, err := utiljson.Marshal(typed.Spec); err != nil || !strings.Contains(string(encoded), `"subscribedEvents":[]`) {
		t.Errorf("empty subscribedEvents encoded as %s (error %v)", encoded, err)
	}
	if diff := cmp.Diff("token", typed.Spec.AuthorizationTokenSecretRef.Key); diff != "" {
		t.Errorf("token key (-want +got):\n%s", diff)
	}
	if typed.Status.ObservedGeneration != -1 {
		t.Errorf("initial observedGeneration: got %d, want -1", typed.Status.ObservedGeneration)
	}
}

// TestWebhookConfigInstanceRefIsImmutable checks that instanceRef cannot be changed,
// because the server of the previous Instance would continue to send events.
func TestWebhookConfigInstanceRefIsImmutable(t *testing.T) {
	object := newWebhookConfig(t, "stays", receiverSpec(receiverURL, ""))
	if err := newClient(t).Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(object.Object, "other", "spec", "instanceRef", "name"); err != nil {
		t.Fatal(err)
	}
	if err := newClient(t).Update(t.Context(), object); err == nil || !strings.Contains(err.Error(), "instanceRef is immutable") {
		t.Errorf("changing instanceRef: got error %v", err)
	}
	_ = unstructured.SetNestedField(object.Object, "acme", "spec", "instanceRef", "name")
	_ = unstructured.SetNestedField(object.Object, "https://other.example/", "spec", "url")
	if err := newClient(t).Update(t.Context(), object); err != nil {
		t.Errorf("changing the URL: %v", err)
	}
}
