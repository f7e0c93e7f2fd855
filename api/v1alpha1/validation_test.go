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

// newClient returns a client of a real kube-apiserver with the CRDs of this package.
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

// newInstance returns an Instance with a spec in YAML, as users write it.
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

// embeddedStorageSpec and externalStorageSpec are specs that say no more than they must of storage.
const (
	embeddedStorageSpec = "storage: {embedded: {}}\n"
	externalStorageSpec = "storage: {external: {secretRef: {name: acme-db}%s}}\n"
)

func externalStorage(fields string) string { return fmt.Sprintf(externalStorageSpec, ", "+fields) }

func TestInvalidInstancesAreRejected(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"a webhook port that is none":               {embeddedStorageSpec + "webhooks: {allowedPorts: [0]}", "spec.webhooks.allowedPorts[0]"},
		"a webhook port beyond all":                 {embeddedStorageSpec + "webhooks: {allowedPorts: [65536]}", "spec.webhooks.allowedPorts[0]"},
		"a webhook port twice":                      {embeddedStorageSpec + "webhooks: {allowedPorts: [443, 443]}", "Duplicate value"},
		"no webhook port":                           {embeddedStorageSpec + "webhooks: {allowedPorts: []}", "spec.webhooks.allowedPorts"},
		"too many webhook ports":                    {embeddedStorageSpec + "webhooks: {allowedPorts: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", "Too many"},
		"authorities of receivers in a Pod":         {embeddedStorageSpec + "webhooks: {caRef: {name: ca, kind: Pod}}", "Unsupported value"},
		"deliveries kept for hours":                 {embeddedStorageSpec + "retention: {deliveries: 12h}", "spec.retention.deliveries"},
		"deliveries kept for no days":               {embeddedStorageSpec + "retention: {deliveries: d}", "spec.retention.deliveries"},
		"a page of no name":                         {embeddedStorageSpec + "page: {name: ''}", "spec.page.name"},
		"a page of a blank name":                    {embeddedStorageSpec + "page: {name: ' Acme'}", "must be a single line"},
		"a page of a name in two lines":             {embeddedStorageSpec + "page: {name: \"Acme\\nHealth\"}", "must be a single line"},
		"a page of a long name":                     {embeddedStorageSpec + "page: {name: " + strings.Repeat("a", 101) + "}", "Too long"},
		"a colour by its name":                      {embeddedStorageSpec + "page: {colors: {primary: blue}}", "spec.page.colors.primary"},
		"a colour that lets through":                {embeddedStorageSpec + "page: {colors: {accent: '#00703c80'}}", "spec.page.colors.accent"},
		"a logo of nothing":                         {embeddedStorageSpec + "page: {logo: {}}", "spec.page.logo.configMapRef"},
		"a logo of no name":                         {embeddedStorageSpec + "page: {logo: {configMapRef: {key: logo}}}", "spec.page.logo.configMapRef.name"},
		"a logo under a path":                       {embeddedStorageSpec + "page: {logo: {configMapRef: {name: acme, key: a/b}}}", "spec.page.logo.configMapRef.key"},
		"privacy over http":                         {embeddedStorageSpec + "page: {privacyURL: 'http://acme.example'}", "must be an https URL"},
		"privacy by telephone":                      {embeddedStorageSpec + "page: {privacyURL: 'tel:112'}", "must be an https URL"},
		"privacy URL without a host":                {embeddedStorageSpec + "page: {privacyURL: 'https:///privacy'}", "must be an https URL"},
		"privacy of a user":                         {embeddedStorageSpec + "page: {privacyURL: 'https://me@acme.example'}", "must be an https URL"},
		"help by a program":                         {embeddedStorageSpec + "page: {helpURL: 'javascript:alert(1)'}", "must be an https, tel: or mailto: URL"},
		"help by telephone with a name":             {embeddedStorageSpec + "page: {helpURL: 'tel:acme'}", "must be an https, tel: or mailto: URL"},
		"help by mail with a copy":                  {embeddedStorageSpec + "page: {helpURL: 'mailto:help@acme.example?bcc=me@acme.example'}", "must be an https, tel: or mailto: URL"},
		"an emergency in words":                     {embeddedStorageSpec + "page: {emergencyNumber: call us}", "must be a phone number"},
		"a crisis in too many digits":               {embeddedStorageSpec + "page: {crisisLine: '123456789012345678901'}", "Too long"},
		"a crisis with nothing between blanks":      {embeddedStorageSpec + "page: {crisisLine: '116  123'}", "must be a phone number"},
		"an access mode for many":                   {"storage: {embedded: {accessMode: ReadWriteMany}}", "Unsupported value"},
		"a key with a slash":                        {"storage: {external: {secretRef: {name: acme-db, key: a/b}}}", "spec.storage.external.secretRef.key"},
		"authorities in a Pod":                      {externalStorage("caRef: {name: ca, kind: Pod}"), "Unsupported value"},
		"authorities without a name":                {externalStorage("caRef: {kind: ConfigMap}"), "spec.storage.external.caRef.name"},
		"key overlap above the maximum":             {embeddedStorageSpec + "keyOverlap: 721h", "must be at most 720h"},
		"keys that overlap by words":                {embeddedStorageSpec + "keyOverlap: a day", "spec.keyOverlap"},
		"keys that overlap backwards":               {embeddedStorageSpec + "keyOverlap: -1h", "spec.keyOverlap"},
		"nothing to confirm":                        {embeddedStorageSpec + "features: {prefill: {enabled: false, confirm: true}}", "confirm requires enabled"},
		"prefilling or not":                         {embeddedStorageSpec + "features: {prefill: {confirm: false}}", "spec.features.prefill.enabled"},
		"notifications by nothing":                  {embeddedStorageSpec + "notifications: {}", "at least one of smtp and sms is required"},
		"notifications by no Secret":                {embeddedStorageSpec + "notifications: {smtp: {}}", "spec.notifications.smtp.secretRef"},
		"an address over http":                      {embeddedStorageSpec + "url: http://acme.example", "must be an https URL"},
		"an address with a path":                    {embeddedStorageSpec + "url: https://acme.example/", "must be an https URL"},
		"an address with a user":                    {embeddedStorageSpec + "url: https://me@acme.example", "must be an https URL"},
		"an address with a query":                   {embeddedStorageSpec + "url: https://acme.example?a=b", "must be an https URL"},
		"an address without a host":                 {embeddedStorageSpec + "url: 'https://:443'", "must be an https URL"},
		"an address of words":                       {embeddedStorageSpec + "url: 'https://acme example'", "must be an https URL"},
		"no address":                                {embeddedStorageSpec + "url: ''", "must be an https URL"},
		"a name for a proxy":                        {embeddedStorageSpec + "trustedProxies: [proxy.example]", "must be a CIDR without host bits"},
		"a proxy with a host part":                  {embeddedStorageSpec + "trustedProxies: [10.0.0.1/8]", "must be a CIDR without host bits"},
		"no proxies":                                {embeddedStorageSpec + "trustedProxies: []", "spec.trustedProxies"},
		"a proxy twice":                             {embeddedStorageSpec + "trustedProxies: [10.0.0.0/8, 10.0.0.0/8]", "Duplicate value"},
		"an application of a name that is reserved": {embeddedStorageSpec + "applications: [{name: portal}, {name: operator}]", "the name operator is reserved"},
		"an address for a network":                  {externalStorage("cidrs: [10.20.30.40]"), "such as 10.20.0.0/16, or 10.20.30.40/32"},
		"a network with a host part":                {externalStorage("cidrs: [10.20.30.40/16]"), "must be a CIDR without host bits"},
		"a network of words":                        {externalStorage("cidrs: [database]"), "must be a CIDR without host bits"},
		"no networks":                               {externalStorage("cidrs: []"), "spec.storage.external.cidrs"},
		"a network twice":                           {externalStorage("cidrs: [10.0.0.0/8, 10.0.0.0/8]"), "Duplicate value"},
		"too many networks":                         {externalStorage("cidrs: [" + cidrList(33) + "]"), "Too many"},
		"a rollout without time":                    {embeddedStorageSpec + "rollout: {deadline: 59s}", "between 1m and 1h"},
		"a rollout without end":                     {embeddedStorageSpec + "rollout: {deadline: 1h1s}", "between 1m and 1h"},
		"a deadline of words":                       {embeddedStorageSpec + "rollout: {deadline: soon}", "spec.rollout.deadline"},
		"a deadline without a unit":                 {embeddedStorageSpec + `rollout: {deadline: "600"}`, "spec.rollout.deadline"},
		"an image with a space":                     {embeddedStorageSpec + `rollout: {image: "a b"}`, "spec.rollout.image"},
		"a window in hours alone":                   {embeddedStorageSpec + `rollout: {window: {start: "2", end: "05:00"}}`, "spec.rollout.window.start"},
		"a window after midnight":                   {embeddedStorageSpec + `rollout: {window: {start: "22:00", end: "24:00"}}`, "spec.rollout.window.end"},
		"a window without length":                   {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "02:00"}}`, "start and end must differ"},
		"a window without end":                      {embeddedStorageSpec + `rollout: {window: {start: "02:00"}}`, "spec.rollout.window.end"},
		"a time zone that is none":                  {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "05:00", timeZone: Europe/Atlantis}}`, "Europe/Berlin"},
		"a time zone from a file":                   {embeddedStorageSpec + `rollout: {window: {start: "02:00", end: "05:00", timeZone: ../etc}}`, "spec.rollout.window.timeZone"},
		"a pull secret twice":                       {embeddedStorageSpec + "pods: {imagePullSecrets: [{name: a}, {name: a}]}", "Duplicate value"},
		"a pull secret without a name":              {embeddedStorageSpec + `pods: {imagePullSecrets: [{name: ""}]}`, "spec.pods.imagePullSecrets[0].name"},
		"a priority class with a /":                 {embeddedStorageSpec + "pods: {priorityClassName: a/b}", "spec.pods.priorityClassName"},
		"a label of ours":                           {embeddedStorageSpec + `pods: {labels: {anamnesis.dev/admin-access: "true"}}`, "are reserved"},
		"a label below ours":                        {embeddedStorageSpec + "pods: {labels: {x.anamnesis.dev/team: a}}", "are reserved"},
		"a label that selects":                      {embeddedStorageSpec + "pods: {labels: {app.kubernetes.io/instance: other}}", "are reserved"},
		"a label of the replica set":                {embeddedStorageSpec + "pods: {labels: {pod-template-hash: a}}", "are reserved"},
		"a label with a space":                      {embeddedStorageSpec + `pods: {labels: {"my team": a}}`, "label keys must be qualified names"},
		"a label with a wrong value":                {embeddedStorageSpec + `pods: {labels: {team: "our team"}}`, "spec.pods.labels.team"},
		"a label with a long value":                 {embeddedStorageSpec + "pods: {labels: {team: " + strings.Repeat("a", 64) + "}}", "spec.pods.labels.team"},
		"an annotation of ours":                     {embeddedStorageSpec + "pods: {annotations: {anamnesis.dev/template-hash: a}}", "are reserved"},
		"an annotation with a space":                {embeddedStorageSpec + `pods: {annotations: {"my note": a}}`, "annotation keys must be qualified names"},
		"a log level of our own":                    {embeddedStorageSpec + "pods: {logLevel: trace}", "Unsupported value"},
		"root":                                      {embeddedStorageSpec + "pods: {securityContext: {runAsUser: 0}}", "spec.pods.securityContext.runAsUser"},
		"a user that no kernel knows":               {embeddedStorageSpec + "pods: {securityContext: {runAsUser: 4294967296}}", "spec.pods.securityContext.runAsUser"},
		"a node affinity without terms": {
			embeddedStorageSpec + "pods: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", "nodeSelectorTerms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := newClient(t).Create(t.Context(), newInstance(t, "acme", test.spec), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
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

// TestValidInstancesAreAccepted reads back what the API server made of a spec, with its defaults.
func TestValidInstancesAreAccepted(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"a volume": {embeddedStorageSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}`},
		"a volume for one pod": {"storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}", `
storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}`},
		"a database": {fmt.Sprintf(externalStorageSpec, ""), `
storage: {external: {secretRef: {name: acme-db, key: url}}}`},
		"a database with all": {`
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
		"authorities in a ConfigMap": {externalStorage("caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}"), `
storage: {external: {secretRef: {name: acme-db, key: url}, caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}}}`},
		"a rollout": {embeddedStorageSpec + "rollout: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout: {deadline: 10m}`},
		"a rollout with all": {embeddedStorageSpec + `
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
		"pods of the platform's user": {embeddedStorageSpec + "pods: {securityContext: {}}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
pods: {securityContext: {}}`},
		"pods with all": {embeddedStorageSpec + fullPodsSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + fullPodsSpec},
		"a public address": {embeddedStorageSpec + "url: https://acme.example:8443", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: https://acme.example:8443`},
		"a public address in numbers, and proxies": {embeddedStorageSpec + "url: 'https://[2001:db8::1]'\ntrustedProxies: [10.0.0.0/8, '2001:db8::/32']", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: 'https://[2001:db8::1]'
trustedProxies: [10.0.0.0/8, '2001:db8::/32']`},
		"keys that do not overlap": {embeddedStorageSpec + "keyOverlap: 0s", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
keyOverlap: 0s`},
		"features that are off": {embeddedStorageSpec + "features: {prefill: {enabled: false}, patientResults: false}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
features: {prefill: {enabled: false}, patientResults: false}`},
		"webhooks with all": {embeddedStorageSpec + "webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {name: ca}}\nretention: {deliveries: 7d}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {kind: Secret, name: ca, key: ca.crt}}
retention: {deliveries: 7d}`},
		"a page": {embeddedStorageSpec + "page: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {}`},
		"a page in one colour": {embeddedStorageSpec + "page: {colors: {accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {colors: {primary: '#005ea5', accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}`},
		"a page with all": {embeddedStorageSpec + fullPageSpec, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + strings.Replace(fullPageSpec, "acme-logo", "acme-logo, key: logo", 1)},
		"an application that operates": {embeddedStorageSpec + "applications: [{name: operators}]", `
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

// toInstance reads an object as Go programs do.
func toInstance(t *testing.T, object *unstructured.Unstructured) v1alpha1.Instance {
	t.Helper()
	var typed v1alpha1.Instance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatal(err)
	}
	return typed
}

// TestRolloutDeadlineDecodes as people wrote it.
func TestRolloutDeadlineDecodes(t *testing.T) {
	typed := toInstance(t, newInstance(t, "acme", embeddedStorageSpec+"rollout: {deadline: 1m30s}"))
	if got := typed.Spec.Rollout.Deadline.Duration; got != 90*time.Second {
		t.Errorf("the deadline is %s", got)
	}
}

// TestAccessModeIsImmutable tries to change it both ways. The volume would not follow.
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
			t.Errorf("from %s to %s: got error %v", from, to, err)
		}
		err = unstructured.SetNestedField(object.Object, "2Gi", "spec", "storage", "embedded", "size")
		if err != nil {
			t.Fatal(err)
		}
		_ = unstructured.SetNestedField(object.Object, string(from), "spec", "storage", "embedded", "accessMode")
		if err := newClient(t).Update(t.Context(), object); err != nil {
			t.Errorf("a volume of %s cannot grow: %v", from, err)
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
