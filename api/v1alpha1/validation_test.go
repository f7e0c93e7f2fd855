// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.Run(m))
}

// newClient returns a client for a real kube-apiserver with the CRDs of this package.
func newClient(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	apiClient, err := client.New(controlplanetest.Get(t).AdminConfig(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return apiClient
}

// newInstance returns an Instance with a YAML spec.
func newInstance(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSON([]byte("spec:\n  models: [{id: service-en}]\n" + indent(spec)))
	if err == nil {
		err = utiljson.Unmarshal(encoded, &object.Object)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, spec)
	}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Instance"))
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// Minimal storage specs.
const (
	embeddedStorageSpec = "storage: {embedded: {}}\n"
	externalStorageSpec = "storage: {external: {secretRef: {name: acme-db}%s}}\n"
)

func externalStorage(fields string) string { return fmt.Sprintf(externalStorageSpec, ", "+fields) }

func TestInvalidInstancesAreRejected(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"webhook port 0":                   {embeddedStorageSpec + "webhooks: {allowedPorts: [0]}", "spec.webhooks.allowedPorts[0]"},
		"webhook port 65536":               {embeddedStorageSpec + "webhooks: {allowedPorts: [65536]}", "spec.webhooks.allowedPorts[0]"},
		"duplicate webhook port":           {embeddedStorageSpec + "webhooks: {allowedPorts: [443, 443]}", "Duplicate value"},
		"no webhook ports":                 {embeddedStorageSpec + "webhooks: {allowedPorts: []}", "spec.webhooks.allowedPorts"},
		"too many webhook ports":           {embeddedStorageSpec + "webhooks: {allowedPorts: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", "Too many"},
		"receiver CAs in a Pod":            {embeddedStorageSpec + "webhooks: {caRef: {name: ca, kind: Pod}}", "Unsupported value"},
		"retention in hours":               {embeddedStorageSpec + "retention: {deliveries: 12h}", "spec.retention.deliveries"},
		"retention without a number":       {embeddedStorageSpec + "retention: {deliveries: d}", "spec.retention.deliveries"},
		"empty page name":                  {embeddedStorageSpec + "page: {name: ''}", "spec.page.name"},
		"page name with a leading space":   {embeddedStorageSpec + "page: {name: ' Acme'}", "must be a single line"},
		"page name on two lines":           {embeddedStorageSpec + "page: {name: \"Acme\\nHealth\"}", "must be a single line"},
		"long page name":                   {embeddedStorageSpec + "page: {name: " + strings.Repeat("a", 101) + "}", "Too long"},
		"named color":                      {embeddedStorageSpec + "page: {colors: {primary: blue}}", "spec.page.colors.primary"},
		"color with alpha channel":         {embeddedStorageSpec + "page: {colors: {accent: '#00703c80'}}", "spec.page.colors.accent"},
		"empty logo":                       {embeddedStorageSpec + "page: {logo: {}}", "spec.page.logo.configMapRef"},
		"logo without a ConfigMap name":    {embeddedStorageSpec + "page: {logo: {configMapRef: {key: logo}}}", "spec.page.logo.configMapRef.name"},
		"logo key with a slash":            {embeddedStorageSpec + "page: {logo: {configMapRef: {name: acme, key: a/b}}}", "spec.page.logo.configMapRef.key"},
		"privacy URL with http":            {embeddedStorageSpec + "page: {privacyURL: 'http://acme.example'}", "must be an https URL"},
		"privacy URL with tel:":            {embeddedStorageSpec + "page: {privacyURL: 'tel:112'}", "must be an https URL"},
		"privacy URL without a host":       {embeddedStorageSpec + "page: {privacyURL: 'https:///privacy'}", "must be an https URL"},
		"privacy URL with user info":       {embeddedStorageSpec + "page: {privacyURL: 'https://me@acme.example'}", "must be an https URL"},
		"help URL with javascript:":        {embeddedStorageSpec + "page: {helpURL: 'javascript:alert(1)'}", "must be an https, tel: or mailto: URL"},
		"help URL with letters in tel:":    {embeddedStorageSpec + "page: {helpURL: 'tel:acme'}", "must be an https, tel: or mailto: URL"},
		"help URL with bcc":                {embeddedStorageSpec + "page: {helpURL: 'mailto:help@acme.example?bcc=me@acme.example'}", "must be an https, tel: or mailto: URL"},
		"emergency number in words":        {embeddedStorageSpec + "page: {emergencyNumber: call us}", "must be a phone number"},
		"crisis line with too many digits": {embeddedStorageSpec + "page: {crisisLine: '123456789012345678901'}", "Too long"},
		"crisis line with two spaces":      {embeddedStorageSpec + "page: {crisisLine: '116  123'}", "must be a phone number"},
		"unsupported access mode":          {"storage: {embedded: {accessMode: ReadWriteMany}}", "Unsupported value"},
		"database key with a slash":        {"storage: {external: {secretRef: {name: acme-db, key: a/b}}}", "spec.storage.external.secretRef.key"},
		"database CAs in a Pod":            {externalStorage("caRef: {name: ca, kind: Pod}"), "Unsupported value"},
		"database CAs without a name":      {externalStorage("caRef: {kind: ConfigMap}"), "spec.storage.external.caRef.name"},
		"key overlap above the maximum":    {embeddedStorageSpec + "keyOverlap: 721h", "must be at most 720h"},
		"key overlap in words":             {embeddedStorageSpec + "keyOverlap: a day", "spec.keyOverlap"},
		"negative key overlap":             {embeddedStorageSpec + "keyOverlap: -1h", "spec.keyOverlap"},
		"confirm without prefill":          {embeddedStorageSpec + "features: {prefill: {enabled: false, confirm: true}}", "confirm requires enabled"},
		"prefill without enabled":          {embeddedStorageSpec + "features: {prefill: {confirm: false}}", "spec.features.prefill.enabled"},
		"notifications without a channel":  {embeddedStorageSpec + "notifications: {}", "at least one of smtp and sms is required"},
		"SMTP without a Secret":            {embeddedStorageSpec + "notifications: {smtp: {}}", "spec.notifications.smtp.secretRef"},
		"URL with http":                    {embeddedStorageSpec + "url: http://acme.example", "must be an https URL"},
		"URL with a path":                  {embeddedStorageSpec + "url: https://acme.example/", "must be an https URL"},
		"URL with user info":               {embeddedStorageSpec + "url: https://me@acme.example", "must be an https URL"},
		"URL with a query":                 {embeddedStorageSpec + "url: https://acme.example?a=b", "must be an https URL"},
		"URL without a host":               {embeddedStorageSpec + "url: 'https://:443'", "must be an https URL"},
		"URL with a space":                 {embeddedStorageSpec + "url: 'https://acme example'", "must be an https URL"},
		"empty URL":                        {embeddedStorageSpec + "url: ''", "must be an https URL"},
		"proxy by name":                    {embeddedStorageSpec + "trustedProxies: [proxy.example]", "must be a CIDR without host bits"},
		"proxy with host bits":             {embeddedStorageSpec + "trustedProxies: [10.0.0.1/8]", "must be a CIDR without host bits"},
		"no proxies":                       {embeddedStorageSpec + "trustedProxies: []", "spec.trustedProxies"},
		"duplicate proxy":                  {embeddedStorageSpec + "trustedProxies: [10.0.0.0/8, 10.0.0.0/8]", "Duplicate value"},
		"reserved application name":        {embeddedStorageSpec + "applications: [{name: portal}, {name: operator}]", "is a reserved name"},
		"network without a prefix length":  {externalStorage("cidrs: [10.20.30.40]"), "such as 10.20.0.0/16, or 10.20.30.40/32"},
		"network with host bits":           {externalStorage("cidrs: [10.20.30.40/16]"), "must be a CIDR without host bits"},
		"network by name":                  {externalStorage("cidrs: [database]"), "must be a CIDR without host bits"},
		"no networks":                      {externalStorage("cidrs: []"), "spec.storage.external.cidrs"},
		"duplicate network":                {externalStorage("cidrs: [10.0.0.0/8, 10.0.0.0/8]"), "Duplicate value"},
		"too many networks":                {externalStorage("cidrs: [" + cidrList(33) + "]"), "Too many"},
		"deadline too short":               {embeddedStorageSpec + "rollout: {deadline: 59s}", "between 1m and 1h"},
		"deadline too long":                {embeddedStorageSpec + "rollout: {deadline: 1h1s}", "between 1m and 1h"},
		"deadline in words":                {embeddedStorageSpec + "rollout: {deadline: soon}", "spec.rollout.deadline"},
		"deadline without a unit":          {embeddedStorageSpec + `rollout: {deadline: "600"}`, "spec.rollout.deadline"},
		"image with a space":               {embeddedStorageSpec + `rollout: {image: "a b"}`, "spec.rollout.image"},
		"window start without minutes":     {embeddedStorageSpec + `rollout: {window: {start: "2", end: "05:00"}}`, "spec.rollout.window.start"},
		"window end at 24:00":              {embeddedStorageSpec + `rollout: {window: {start: "22:00", end: "24:00"}}`, "spec.rollout.window.end"},
		"window with equal start and end":  {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "02:00"}}`, "start and end must differ"},
		"window without an end":            {embeddedStorageSpec + `rollout: {window: {start: "02:00"}}`, "spec.rollout.window.end"},
		"unknown time zone":                {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "05:00", timeZone: Europe/Atlantis}}`, "Europe/Berlin"},
		"time zone with a path":            {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "05:00", timeZone: ../etc}}`, "spec.rollout.window.timeZone"},
		"duplicate pull secret":            {embeddedStorageSpec + "pods: {imagePullSecrets: [{name: a}, {name: a}]}", "Duplicate value"},
		"pull secret without a name":       {embeddedStorageSpec + `pods: {imagePullSecrets: [{name: ""}]}`, "spec.pods.imagePullSecrets[0].name"},
		"priority class with a slash":      {embeddedStorageSpec + "pods: {priorityClassName: a/b}", "spec.pods.priorityClassName"},
		"reserved label":                   {embeddedStorageSpec + `pods: {labels: {anamnesis.dev/admin-access: "true"}}`, "are reserved"},
		"reserved label prefix":            {embeddedStorageSpec + "pods: {labels: {x.anamnesis.dev/team: a}}", "are reserved"},
		"selector label":                   {embeddedStorageSpec + "pods: {labels: {app.kubernetes.io/instance: other}}", "are reserved"},
		"ReplicaSet label":                 {embeddedStorageSpec + "pods: {labels: {pod-template-hash: a}}", "are reserved"},
		"label with a space":               {embeddedStorageSpec + `pods: {labels: {"my team": a}}`, "label keys must be qualified names"},
		"invalid label value":              {embeddedStorageSpec + `pods: {labels: {team: "our team"}}`, "spec.pods.labels.team"},
		"long label value":                 {embeddedStorageSpec + "pods: {labels: {team: " + strings.Repeat("a", 64) + "}}", "spec.pods.labels.team"},
		"reserved annotation":              {embeddedStorageSpec + "pods: {annotations: {anamnesis.dev/template-hash: a}}", "are reserved"},
		"annotation with a space":          {embeddedStorageSpec + `pods: {annotations: {"my note": a}}`, "annotation keys must be qualified names"},
		"unknown log level":                {embeddedStorageSpec + "pods: {logLevel: trace}", "Unsupported value"},
		"root user":                        {embeddedStorageSpec + "pods: {securityContext: {runAsUser: 0}}", "spec.pods.securityContext.runAsUser"},
		"user ID out of range":             {embeddedStorageSpec + "pods: {securityContext: {runAsUser: 4294967296}}", "spec.pods.securityContext.runAsUser"},
		"node affinity without terms": {
			embeddedStorageSpec + "pods: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", "nodeSelectorTerms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := newClient(t).Create(t.Context(), newInstance(t, "acme", test.spec), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func cidrList(count int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("10.%d.0.0/16", i))
	}
	return strings.Join(all, ", ")
}

// TestValidInstancesAreAccepted compares the admitted specs, which include defaults.
func TestValidInstancesAreAccepted(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"volume": {embeddedStorageSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}`},
		"ReadWriteOncePod volume": {"storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}", `
storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}`},
		"database": {fmt.Sprintf(externalStorageSpec, ""), `
storage: {external: {secretRef: {name: acme-db, key: url}}}`},
		"database with all fields": {`
storage:
  external:
    secretRef: {name: acme-db, key: uri}
    caRef: {name: acme-db-ca}
    cidrs: [10.20.0.0/16, 10.20.30.40/32, "2001:db8::/32", 0.0.0.0/0]
    allowInsecure: true`, `
storage:
  external:
    secretRef: {name: acme-db, key: uri}
    caRef: {kind: Secret, name: acme-db-ca, key: ca.crt}
    cidrs: [10.20.0.0/16, 10.20.30.40/32, "2001:db8::/32", 0.0.0.0/0]
    allowInsecure: true`},
		"database CAs in a ConfigMap": {externalStorage("caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}"), `
storage: {external: {secretRef: {name: acme-db, key: url}, caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}}}`},
		"rollout": {embeddedStorageSpec + "rollout: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout: {deadline: 10m}`},
		"rollout with all fields": {embeddedStorageSpec + `
rollout:
  deadline: 1m30s
  pause: true
  image: registry.example:5000/anamnesis/apiserver:1.0@sha256:aa
  window: {start: "22:00", end: "05:00"}`, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout:
  deadline: 1m30s
  pause: true
  image: registry.example:5000/anamnesis/apiserver:1.0@sha256:aa
  window: {start: "22:00", end: "05:00", timeZone: UTC}`},
		"time zones": {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "05:00", timeZone: America/Argentina/Buenos_Aires}}`, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout: {deadline: 10m, window: {start: "02:00", end: "05:00", timeZone: America/Argentina/Buenos_Aires}}`},
		"pods with a user from the platform": {embeddedStorageSpec + "pods: {securityContext: {}}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
pods: {securityContext: {}}`},
		"pods with all fields": {embeddedStorageSpec + fullPodsSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + fullPodsSpec},
		"URL with a port": {embeddedStorageSpec + "url: https://acme.example:8443", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: https://acme.example:8443`},
		"URL with an IP address, and proxies": {embeddedStorageSpec + "url: 'https://[2001:db8::1]'\ntrustedProxies: [10.0.0.0/8, '2001:db8::/32']", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: 'https://[2001:db8::1]'
trustedProxies: [10.0.0.0/8, '2001:db8::/32']`},
		"zero key overlap": {embeddedStorageSpec + "keyOverlap: 0s", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
keyOverlap: 0s`},
		"disabled features": {embeddedStorageSpec + "features: {prefill: {enabled: false}, patientResults: false}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
features: {prefill: {enabled: false}, patientResults: false}`},
		"webhooks with all fields": {embeddedStorageSpec + "webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {name: ca}}\nretention: {deliveries: 7d}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {kind: Secret, name: ca, key: ca.crt}}
retention: {deliveries: 7d}`},
		"empty page": {embeddedStorageSpec + "page: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {}`},
		"page with one color": {embeddedStorageSpec + "page: {colors: {accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {colors: {primary: '#005ea5', accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}`},
		"page with all fields": {embeddedStorageSpec + fullPageSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + strings.Replace(fullPageSpec, "acme-logo", "acme-logo, key: logo", 1)},
		"application named operators": {embeddedStorageSpec + "applications: [{name: operators}]", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
applications: [{name: operators}]`},
	} {
		t.Run(name, func(t *testing.T) {
			object := newInstance(t, "acme", test.spec)
			if err := newClient(t).Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			got := object.Object["spec"].(map[string]any)
			for _, field := range []string{"storage", "rollout", "pods", "url", "trustedProxies", "applications", "keyOverlap", "features", "webhooks", "retention", "page"} {
				want := newInstance(t, "acme", test.want).Object["spec"].(map[string]any)[field]
				if diff := cmp.Diff(want, got[field]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", field, diff)
				}
			}
			toInstance(t, object)
		})
	}
}

const fullPageSpec = `
page:
  name: Ärztehaus "Süd" 🩺
  logo: {configMapRef: {name: acme-logo}}
  colors: {primary: '#1d1d1d', accent: '#767676'}
  privacyURL: https://acme.example:8443/privacy?lang=en#cookies
  helpURL: mailto:help@acme.example
  emergencyNumber: "112"
  crisisLine: +49 30 116-123`

const fullPodsSpec = `
pods:
  imagePullSecrets: [{name: registry}]
  nodeSelector: {kubernetes.io/arch: amd64}
  tolerations: [{key: tenants, operator: Exists, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]
  priorityClassName: tenants-high
  labels: {example.com/team: care, app.kubernetes.io/part-of: clinic, empty: ""}
  annotations: {prometheus.io/scrape: "true"}
  logLevel: debug
  securityContext: {runAsUser: 1000680000}`

// toInstance converts an object to its Go type and rejects unknown fields.
func toInstance(t *testing.T, object *unstructured.Unstructured) v1alpha1.Instance {
	t.Helper()
	var typed v1alpha1.Instance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatal(err)
	}
	return typed
}

func TestRolloutDeadlineDecodes(t *testing.T) {
	typed := toInstance(t, newInstance(t, "acme", embeddedStorageSpec+"rollout: {deadline: 1m30s}"))
	if got := typed.Spec.Rollout.Deadline.Duration; got != 90*time.Second {
		t.Errorf("got deadline %s, want 1m30s", got)
	}
}

// TestAccessModeIsImmutable checks that the access mode cannot be changed, because the
// volume would keep its mode.
func TestAccessModeIsImmutable(t *testing.T) {
	for from, to := range map[corev1.PersistentVolumeAccessMode]corev1.PersistentVolumeAccessMode{
		corev1.ReadWriteOnce:    corev1.ReadWriteOncePod,
		corev1.ReadWriteOncePod: corev1.ReadWriteOnce,
	} {
		object := newInstance(t, "stays-"+strings.ToLower(string(from)), fmt.Sprintf("storage: {embedded: {accessMode: %s}}", from))
		if err := newClient(t).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		err := unstructured.SetNestedField(object.Object, string(to), "spec", "storage", "embedded", "accessMode")
		if err != nil {
			t.Fatal(err)
		}
		err = newClient(t).Update(t.Context(), object)
		if err == nil || !strings.Contains(err.Error(), "accessMode is immutable") {
			t.Errorf("changing the access mode from %s to %s: got error %v", from, to, err)
		}
		err = unstructured.SetNestedField(object.Object, "2Gi", "spec", "storage", "embedded", "size")
		if err != nil {
			t.Fatal(err)
		}
		_ = unstructured.SetNestedField(object.Object, string(from), "spec", "storage", "embedded", "accessMode")
		if err := newClient(t).Update(t.Context(), object); err != nil {
			t.Errorf("expanding a %s volume: %v", from, err)
		}
	}
}

// TestKeyOverlapDecodes checks that a key overlap of zero differs from an unset one.
func TestKeyOverlapDecodes(t *testing.T) {
	if typed := toInstance(t, newInstance(t, "acme", embeddedStorageSpec+"keyOverlap: 0s")); typed.Spec.KeyOverlap == nil || typed.Spec.KeyOverlap.Duration != 0 {
		t.Errorf("key overlap 0s: got %v, want 0s", typed.Spec.KeyOverlap)
	}
	if typed := toInstance(t, newInstance(t, "acme", embeddedStorageSpec)); typed.Spec.KeyOverlap != nil {
		t.Errorf("unset key overlap: got %v, want nil", typed.Spec.KeyOverlap)
	}
}
