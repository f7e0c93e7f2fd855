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

// A hint says of a field of the spec what its schema does not tell. A hint for a
// field that has fields of its own speaks for all of these.
type hint struct {
	// first and second are two values that it may have: of a list, two items.
	first, second any
	// beside is what the spec must have besides for them.
	beside map[string]any
	// silent says that no child changes with it, and why that is right; empty for
	// a field that some child tells of.
	silent string
	// late says what of its effect comes after the Instance is ready; empty for
	// none.
	late string
	// immutable says that a rule around the field forbids to change it.
	immutable bool
	// refused is what the API server says to whoever sets it; empty for a field
	// that may be set.
	refused string
	// leftOut is what the Instance shows once the field is left out again; none
	// for being ready.
	leftOut []string
}

// hints are by path. They are needed for texts without an enumeration, for maps,
// and where fields depend on each other or on objects that must be there, which
// furnish makes.
var hints = map[string]hint{
	"spec.applications[].name":               {first: "portal", second: "kiosk"},
	"spec.applications[].plan":               {first: "gold", second: "silver", beside: object("plans", []any{object("name", "gold"), object("name", "silver")})},
	"spec.cors.allowedOrigins[]":             {first: "https://one.example", second: "https://other.example"},
	"spec.deletionPolicy":                    {first: "Delete", second: "Retain", silent: "it is asked for when the Instance is deleted"},
	"spec.keyOverlap":                        {first: "1h", second: "2h", silent: "no key turns"},
	"spec.models[].id":                       {first: "service-en", second: "service-de"},
	"spec.models[].version":                  {first: olderVersion, second: newestVersion},
	"spec.notifications.sms.secretRef.name":  {first: "one-sms", second: "other-sms", beside: object("notifications", object("smtp", object("secretRef", object("name", "one-smtp"))))},
	"spec.notifications.smtp.secretRef.name": {first: "one-smtp", second: "other-smtp", beside: object("notifications", object("sms", object("secretRef", object("name", "one-sms"))))},
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
	"spec.pods.affinity":                     {first: inZone("one"), second: inZone("other")},
	"spec.pods.annotations":                  {first: object("example.com/team", "one"), second: object("example.com/team", "other")},
	"spec.pods.imagePullSecrets[].name":      {first: "one", second: "other"},
	"spec.pods.labels":                       {first: object("example.com/team", "one"), second: object("example.com/team", "other")},
	"spec.pods.nodeSelector":                 {first: object("example.com/pool", "one"), second: object("example.com/pool", "other")},
	"spec.pods.priorityClassName":            {first: "one", second: "other"},
	"spec.pods.tolerations[]":                {first: object("key", "one", "operator", "Exists"), second: object("key", "other", "operator", "Exists")},
	"spec.resources.claims[]":                {first: object("name", "one"), second: object("name", "other"), refused: "resource claims are not supported"},
	"spec.resources.limits":                  {first: object("memory", "2Gi"), second: object("memory", "3Gi")},
	"spec.resources.requests":                {first: object("cpu", "100m"), second: object("cpu", "200m")},
	"spec.rollout.deadline":                  {first: "20m", second: "30m"},
	"spec.rollout.image":                     {first: nextServerImage, second: serverImage},
	"spec.rollout.pause":                     {silent: "nothing waits to be rolled out"},
	"spec.rollout.window.end":                {first: "05:00", second: "06:00", silent: "nothing waits to be rolled out"},
	"spec.rollout.window.start":              {first: "02:00", second: "03:00", silent: "nothing waits to be rolled out"},
	"spec.rollout.window.timeZone":           {first: "Europe/Berlin", second: "Asia/Tokyo", silent: "nothing waits to be rolled out"},
	"spec.trustedProxies[]":                  {first: "10.20.0.0/16", second: "10.30.0.0/16"},
	"spec.url":                               {first: "https://one.example", second: "https://other.example"},
	"spec.retention.deliveries":              {first: "7d", second: "90d"},
	"spec.webhooks.caRef.key":                {first: "ca.crt", second: "other.crt"},
	"spec.webhooks.caRef.kind":               {first: "Secret", second: "ConfigMap", silent: "both hold the same certificates"},
	"spec.webhooks.caRef.name":               {first: "one-ca", second: "other-ca"},
	// A volume that grew is never made smaller than it is.
	"spec.storage.embedded.size":             {first: "2Gi", second: "3Gi", leftOut: []string{"Stalled=True RefusedByAPIServer"}},
	"spec.storage.embedded.storageClassName": {first: "one", second: "other", immutable: true},
	"spec.storage.external.allowInsecure":    {silent: "the database is verified"},
	"spec.storage.external.caRef.key":        {first: "ca.crt", second: "other.crt"},
	"spec.storage.external.caRef.name":       {first: "one-ca", second: "other-ca"},
	"spec.storage.external.cidrs[]":          {first: "10.20.0.0/16", second: "10.30.0.0/16"},
	"spec.storage.external.secretRef.key":    {first: "url", second: "other"},
	"spec.storage.external.secretRef.name":   {first: "one-db", second: "other-db"},
	"spec.suspend":                           {silent: "only changes of the spec wait"},
	"spec.tls.extraNames[]":                  {first: "one.example", second: "other.example", late: "clients are told first"},
	"spec.tls.secretRef.name":                {first: "one-tls", second: "other-tls", late: "clients are told first"},
}

// grounds are the specs that fields are set in, by the kind of storage.
func (p *platform) grounds() map[string]map[string]any {
	models := []any{object("id", "service-en")}
	return map[string]map[string]any{
		"embedded": object("models", models, "storage", object("embedded", object("storageClassName", p.growingClass()))),
		"external": object("models", models, "storage", object("external", object("secretRef", object("name", "one-db")))),
	}
}

// object gives one of names and values in turn.
func object(namesAndValues ...any) map[string]any {
	made := map[string]any{}
	for i := 0; i < len(namesAndValues); i += 2 {
		made[namesAndValues[i].(string)] = namesAndValues[i+1]
	}
	return made
}

func inZone(zone string) map[string]any {
	in := object("key", corev1.LabelTopologyZone, "operator", "In", "values", []any{zone})
	terms := object("nodeSelectorTerms", []any{object("matchExpressions", []any{in})})
	return object("nodeAffinity", object("requiredDuringSchedulingIgnoredDuringExecution", terms))
}

// furnish makes the objects that hints refer to.
func (p *platform) furnish() {
	p.t.Helper()
	for _, name := range []string{"one", "other"} {
		p.createWatched(name+"-db", map[string][]byte{
			"url":   []byte("postgres://acme:secret-password@" + name + ".example:6432/acme?sslmode=verify-full"),
			"other": []byte("postgres://acme:secret-password@" + name + ".example:7432/acme?sslmode=verify-full"),
		})
		p.createWatched(name+"-smtp", map[string][]byte{"host": []byte(name + ".example"), "from": []byte("me@" + name + ".example")})
		p.createWatched(name+"-sms", map[string][]byte{"url": []byte("https://" + name + ".example"), "body": []byte(`["{to}", "{text}"]`)})
		pair, authority := makeTLS(p.t, time.Now())
		_, other := makeTLS(p.t, time.Now())
		p.createWatched(name+"-tls", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority})
		p.createWatched(name+"-ca", map[string][]byte{"ca.crt": authority, "other.crt": other})
		p.create(&corev1.ConfigMap{
			ObjectMeta: objectMeta(p.namespace, name+"-ca"),
			Data:       map[string]string{"ca.crt": string(authority), "other.crt": string(other)},
		})
		p.create(&corev1.ConfigMap{
			ObjectMeta: objectMeta(p.namespace, name+"-logo"),
			Data:       map[string]string{"logo": drawing(name), "other": drawing(name + " other")},
		})
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: p.growingClass()}, Provisioner: "test.example/none", AllowVolumeExpansion: new(true)}
	p.create(class)
	p.t.Cleanup(func() {
		if err := p.Delete(context.Background(), class); err != nil {
			p.t.Error(err)
		}
	})
}

// growingClass is the name of the storage class whose volumes grow: classes are
// shared by all namespaces.
func (p *platform) growingClass() string { return "growing-" + p.namespace }

func (p *platform) createWatched(name string, data map[string][]byte) {
	p.t.Helper()
	secret := &corev1.Secret{ObjectMeta: objectMeta(p.namespace, name), Data: data}
	metav1.SetMetaDataLabel(&secret.ObjectMeta, v1alpha1.WatchLabel, "true")
	p.create(secret)
}
