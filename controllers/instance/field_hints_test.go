// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A fieldHint supplements the schema of a field of the spec. A hint for a field with
// nested fields covers all of them.
type fieldHint struct {
	// first and second are two valid values. For a list, they are two items.
	first, second any
	// extraFields are other fields that the spec must set for these values.
	extraFields map[string]any
	// noEffectReason explains why the field changes no owned object. It is empty if the field
	// changes an owned object.
	noEffectReason string
	// delayReason explains why a change takes effect only after the Instance is ready. It is
	// empty if the change takes effect before.
	delayReason string
	// immutable reports whether a rule of a parent forbids changes of the field.
	immutable bool
	// rejection is the API server's error if the field is set. It is empty for a field that
	// may be set.
	rejection string
	// conditionsWhenUnset are the conditions that the Instance shows after the field is
	// unset. If empty, the Instance is ready.
	conditionsWhenUnset []string
}

// fieldHints maps paths to hints. They are needed for strings without an enumeration,
// for maps, and for fields that depend on each other or on existing objects, which
// createReferencedObjects creates.
var fieldHints = map[string]fieldHint{
	"spec.applications[].name":               {first: "portal", second: "kiosk"},
	"spec.applications[].plan":               {first: "gold", second: "silver", extraFields: newObject("plans", []any{newObject("name", "gold"), newObject("name", "silver")})},
	"spec.cors.allowedOrigins[]":             {first: "https://one.example", second: "https://other.example"},
	"spec.deletionPolicy":                    {first: "Delete", second: "Retain", noEffectReason: "it is asked for when the Instance is deleted"},
	"spec.keyOverlap":                        {first: "1h", second: "2h", noEffectReason: "no key is rotating"},
	"spec.models[].id":                       {first: "service-en", second: "service-de"},
	"spec.models[].version":                  {first: olderVersion, second: newestVersion},
	"spec.notifications.sms.secretRef.name":  {first: "one-sms", second: "other-sms", extraFields: newObject("notifications", newObject("smtp", newObject("secretRef", newObject("name", "one-smtp"))))},
	"spec.notifications.smtp.secretRef.name": {first: "one-smtp", second: "other-smtp", extraFields: newObject("notifications", newObject("sms", newObject("secretRef", newObject("name", "one-sms"))))},
	"spec.page.colors.accent":                {first: "#1d1d1d", second: "#767676"},
	"spec.page.colors.primary":               {first: "#1d1d1d", second: "#767676"},
	"spec.page.crisisLine":                   {first: "116 123", second: "988"},
	"spec.page.emergencyNumber":              {first: "112", second: "911"},
	"spec.page.helpURL":                      {first: "tel:112", second: "https://other.example/help"},
	"spec.page.logo.configMapRef.key":        {first: "logo", second: "other"},
	"spec.page.logo.configMapRef.name":       {first: "one-logo", second: "other-logo"},
	"spec.page.name":                         {first: "One Health", second: "Other Health"},
	"spec.page.privacyURL":                   {first: "https://one.example/privacy", second: "https://other.example/privacy"},
	"spec.plans[].name":                      {first: "gold", second: "silver"},
	"spec.pods.affinity":                     {first: zoneAffinity("one"), second: zoneAffinity("other")},
	"spec.pods.annotations":                  {first: newObject("example.com/team", "one"), second: newObject("example.com/team", "other")},
	"spec.pods.imagePullSecrets[].name":      {first: "one", second: "other"},
	"spec.pods.labels":                       {first: newObject("example.com/team", "one"), second: newObject("example.com/team", "other")},
	"spec.pods.nodeSelector":                 {first: newObject("example.com/pool", "one"), second: newObject("example.com/pool", "other")},
	"spec.pods.priorityClassName":            {first: "one", second: "other"},
	"spec.pods.tolerations[]":                {first: newObject("key", "one", "operator", "Exists"), second: newObject("key", "other", "operator", "Exists")},
	"spec.resources.claims[]":                {first: newObject("name", "one"), second: newObject("name", "other"), rejection: "resource claims are not supported"},
	"spec.resources.limits":                  {first: newObject("memory", "2Gi"), second: newObject("memory", "3Gi")},
	"spec.resources.requests":                {first: newObject("cpu", "100m"), second: newObject("cpu", "200m")},
	"spec.rollout.deadline":                  {first: "20m", second: "30m"},
	"spec.rollout.image":                     {first: nextServerImage, second: serverImage},
	"spec.rollout.pause":                     {noEffectReason: "nothing waits to be rolled out"},
	"spec.rollout.window.end":                {first: "05:00", second: "06:00", noEffectReason: "nothing waits to be rolled out"},
	"spec.rollout.window.start":              {first: "02:00", second: "03:00", noEffectReason: "nothing waits to be rolled out"},
	"spec.rollout.window.timeZone":           {first: "Europe/Berlin", second: "Asia/Tokyo", noEffectReason: "nothing waits to be rolled out"},
	"spec.trustedProxies[]":                  {first: "10.20.0.0/16", second: "10.30.0.0/16"},
	"spec.url":                               {first: "https://one.example", second: "https://other.example"},
	"spec.retention.deliveries":              {first: "7d", second: "90d"},
	"spec.webhooks.caRef.key":                {first: "ca.crt", second: "other.crt"},
	"spec.webhooks.caRef.kind":               {first: "Secret", second: "ConfigMap", noEffectReason: "both hold the same certificates"},
	"spec.webhooks.caRef.name":               {first: "one-ca", second: "other-ca"},
	// An expanded volume cannot shrink.
	"spec.storage.embedded.size":             {first: "2Gi", second: "3Gi", conditionsWhenUnset: []string{"Stalled=True RejectedByAPIServer"}},
	"spec.storage.embedded.storageClassName": {first: "one", second: "other", immutable: true},
	"spec.storage.external.allowInsecure":    {noEffectReason: "the database is verified"},
	"spec.storage.external.caRef.key":        {first: "ca.crt", second: "other.crt"},
	"spec.storage.external.caRef.name":       {first: "one-ca", second: "other-ca"},
	"spec.storage.external.cidrs[]":          {first: "10.20.0.0/16", second: "10.30.0.0/16"},
	"spec.storage.external.secretRef.key":    {first: "url", second: "other"},
	"spec.storage.external.secretRef.name":   {first: "one-db", second: "other-db"},
	"spec.suspend":                           {noEffectReason: "only changes of the spec wait"},
	"spec.tls.extraNames[]":                  {first: "one.example", second: "other.example", delayReason: "clients get the new CA bundle first"},
	"spec.tls.secretRef.name":                {first: "one-tls", second: "other-tls", delayReason: "clients get the new CA bundle first"},
}

// baseSpecs returns the base specs for setting fields, by kind of storage.
func (h *harness) baseSpecs() map[string]map[string]any {
	models := []any{newObject("id", "service-en")}
	return map[string]map[string]any{
		"embedded": newObject("models", models, "storage", newObject("embedded", newObject("storageClassName", h.expandableStorageClass()))),
		"external": newObject("models", models, "storage", newObject("external", newObject("secretRef", newObject("name", "one-db")))),
	}
}

// newObject returns an object of alternating names and values.
func newObject(namesAndValues ...any) map[string]any {
	object := map[string]any{}
	for i := 0; i < len(namesAndValues); i += 2 {
		object[namesAndValues[i].(string)] = namesAndValues[i+1]
	}
	return object
}

func zoneAffinity(zone string) map[string]any {
	in := newObject("key", corev1.LabelTopologyZone, "operator", "In", "values", []any{zone})
	terms := newObject("nodeSelectorTerms", []any{newObject("matchExpressions", []any{in})})
	return newObject("nodeAffinity", newObject("requiredDuringSchedulingIgnoredDuringExecution", terms))
}

// createReferencedObjects creates the objects that hints refer to.
func (h *harness) createReferencedObjects() {
	h.t.Helper()
	for _, name := range []string{"one", "other"} {
		h.createWatchedSecret(name+"-db", map[string][]byte{
			"url":   []byte("postgres://acme:secret-password@" + name + ".example:6432/acme?sslmode=verify-full"),
			"other": []byte("postgres://acme:secret-password@" + name + ".example:7432/acme?sslmode=verify-full"),
		})
		h.createWatchedSecret(name+"-smtp", map[string][]byte{"host": []byte(name + ".example"), "from": []byte("me@" + name + ".example")})
		h.createWatchedSecret(name+"-sms", map[string][]byte{"url": []byte("https://" + name + ".example"), "body": []byte(`["{to}", "{text}"]`)})
		pair, authority := newTLSPair(h.t, time.Now())
		_, other := newTLSPair(h.t, time.Now())
		h.createWatchedSecret(name+"-tls", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority})
		h.createWatchedSecret(name+"-ca", map[string][]byte{"ca.crt": authority, "other.crt": other})
		h.mustCreate(&corev1.ConfigMap{
			ObjectMeta: objectMeta(h.namespace, name+"-ca"),
			Data:       map[string]string{"ca.crt": string(authority), "other.crt": string(other)},
		})
		h.mustCreate(&corev1.ConfigMap{
			ObjectMeta: objectMeta(h.namespace, name+"-logo"),
			Data:       map[string]string{"logo": newSVG(name), "other": newSVG(name + " other")},
		})
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: h.expandableStorageClass()}, Provisioner: "test.example/none", AllowVolumeExpansion: new(true)}
	h.mustCreate(class)
	h.t.Cleanup(func() {
		if err := h.Delete(context.Background(), class); err != nil {
			h.t.Error(err)
		}
	})
}

// expandableStorageClass returns the name of a storage class with expandable volumes. It
// includes the namespace, because storage classes are cluster-scoped.
func (h *harness) expandableStorageClass() string { return "growing-" + h.namespace }

func (h *harness) createWatchedSecret(name string, data map[string][]byte) {
	h.t.Helper()
	secret := &corev1.Secret{ObjectMeta: objectMeta(h.namespace, name), Data: data}
	metav1.SetMetaDataLabel(&secret.ObjectMeta, v1alpha1.WatchLabel, "true")
	h.mustCreate(secret)
}
