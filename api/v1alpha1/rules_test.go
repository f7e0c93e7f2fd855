// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// platform is a client of a real kube-apiserver that knows the kinds of this
// package: what it refuses, no Instance has.
var platform client.Client

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assetsDirectory(),
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	code, err := runWith(environment, m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a control plane (`go -C hack/cluster run . build assets` builds it):", err)
		code = 1
	}
	os.Exit(code)
}

func runWith(environment *envtest.Environment, m *testing.M) (code int, err error) {
	config, err := environment.Start()
	if err != nil {
		return 1, err
	}
	defer func() { _ = environment.Stop() }()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return 1, err
	}
	if platform, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// assetsDirectory is where kube-apiserver and etcd are: where KUBEBUILDER_ASSETS
// says, else where hack/cluster builds them.
func assetsDirectory() string {
	if directory := os.Getenv("KUBEBUILDER_ASSETS"); directory != "" {
		return directory
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(cache, "anamnesis", "assets", "*", "kube-apiserver"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// instance is one with this spec, in YAML as people write it.
func instance(t *testing.T, name, spec string) *unstructured.Unstructured {
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

// onVolume and onDatabase are specs that say no more than they must of storage.
const (
	onVolume   = "storage: {embedded: {}}\n"
	onDatabase = "storage: {external: {secretRef: {name: acme-db}%s}}\n"
)

func external(fields string) string { return fmt.Sprintf(onDatabase, ", "+fields) }

func TestRefused(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"a webhook port that is none":               {onVolume + "webhooks: {allowedPorts: [0]}", "spec.webhooks.allowedPorts[0]"},
		"a webhook port beyond all":                 {onVolume + "webhooks: {allowedPorts: [65536]}", "spec.webhooks.allowedPorts[0]"},
		"a webhook port twice":                      {onVolume + "webhooks: {allowedPorts: [443, 443]}", "Duplicate value"},
		"no webhook port":                           {onVolume + "webhooks: {allowedPorts: []}", "spec.webhooks.allowedPorts"},
		"too many webhook ports":                    {onVolume + "webhooks: {allowedPorts: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", "Too many"},
		"authorities of receivers in a Pod":         {onVolume + "webhooks: {caRef: {name: ca, kind: Pod}}", "Unsupported value"},
		"deliveries kept for hours":                 {onVolume + "retention: {deliveries: 12h}", "spec.retention.deliveries"},
		"deliveries kept for no days":               {onVolume + "retention: {deliveries: d}", "spec.retention.deliveries"},
		"a page of no name":                         {onVolume + "page: {name: ''}", "spec.page.name"},
		"a page of a blank name":                    {onVolume + "page: {name: ' Acme'}", "a name is one line"},
		"a page of a name in two lines":             {onVolume + "page: {name: \"Acme\\nHealth\"}", "a name is one line"},
		"a page of a long name":                     {onVolume + "page: {name: " + strings.Repeat("a", 101) + "}", "Too long"},
		"a colour by its name":                      {onVolume + "page: {colors: {primary: blue}}", "spec.page.colors.primary"},
		"a colour that lets through":                {onVolume + "page: {colors: {accent: '#00703c80'}}", "spec.page.colors.accent"},
		"a logo of nothing":                         {onVolume + "page: {logo: {}}", "spec.page.logo.configMapRef"},
		"a logo of no name":                         {onVolume + "page: {logo: {configMapRef: {key: logo}}}", "spec.page.logo.configMapRef.name"},
		"a logo under a path":                       {onVolume + "page: {logo: {configMapRef: {name: acme, key: a/b}}}", "spec.page.logo.configMapRef.key"},
		"privacy over http":                         {onVolume + "page: {privacyURL: 'http://acme.example'}", "the address of a page is https://"},
		"privacy by telephone":                      {onVolume + "page: {privacyURL: 'tel:112'}", "the address of a page is https://"},
		"privacy at nobody's":                       {onVolume + "page: {privacyURL: 'https:///privacy'}", "the address of a page is https://"},
		"privacy of a user":                         {onVolume + "page: {privacyURL: 'https://me@acme.example'}", "the address of a page is https://"},
		"help by a program":                         {onVolume + "page: {helpURL: 'javascript:alert(1)'}", "help is at https://"},
		"help by telephone with a name":             {onVolume + "page: {helpURL: 'tel:acme'}", "help is at https://"},
		"help by mail with a copy":                  {onVolume + "page: {helpURL: 'mailto:help@acme.example?bcc=me@acme.example'}", "help is at https://"},
		"an emergency in words":                     {onVolume + "page: {emergencyNumber: call us}", "a telephone number is digits"},
		"a crisis in too many digits":               {onVolume + "page: {crisisLine: '123456789012345678901'}", "Too long"},
		"a crisis with nothing between blanks":      {onVolume + "page: {crisisLine: '116  123'}", "a telephone number is digits"},
		"an access mode for many":                   {"storage: {embedded: {accessMode: ReadWriteMany}}", "Unsupported value"},
		"a key with a slash":                        {"storage: {external: {secretRef: {name: acme-db, key: a/b}}}", "spec.storage.external.secretRef.key"},
		"authorities in a Pod":                      {external("caRef: {name: ca, kind: Pod}"), "Unsupported value"},
		"authorities without a name":                {external("caRef: {kind: ConfigMap}"), "spec.storage.external.caRef.name"},
		"keys that overlap for ever":                {onVolume + "keyOverlap: 721h", "may stay good for 720h"},
		"keys that overlap by words":                {onVolume + "keyOverlap: a day", "spec.keyOverlap"},
		"keys that overlap backwards":               {onVolume + "keyOverlap: -1h", "spec.keyOverlap"},
		"nothing to confirm":                        {onVolume + "features: {prefill: {enabled: false, confirm: true}}", "nothing to confirm"},
		"prefilling or not":                         {onVolume + "features: {prefill: {confirm: false}}", "spec.features.prefill.enabled"},
		"notifications by nothing":                  {onVolume + "notifications: {}", "name a sender"},
		"notifications by no Secret":                {onVolume + "notifications: {smtp: {}}", "spec.notifications.smtp.secretRef"},
		"an address over http":                      {onVolume + "url: http://acme.example", "a public address is https://"},
		"an address with a path":                    {onVolume + "url: https://acme.example/", "a public address is https://"},
		"an address with a user":                    {onVolume + "url: https://me@acme.example", "a public address is https://"},
		"an address with a query":                   {onVolume + "url: https://acme.example?a=b", "a public address is https://"},
		"an address without a host":                 {onVolume + "url: 'https://:443'", "a public address is https://"},
		"an address of words":                       {onVolume + "url: 'https://acme example'", "a public address is https://"},
		"no address":                                {onVolume + "url: ''", "a public address is https://"},
		"a name for a proxy":                        {onVolume + "trustedProxies: [proxy.example]", "a network is an address"},
		"a proxy with a host part":                  {onVolume + "trustedProxies: [10.0.0.1/8]", "with zeros behind that"},
		"no proxies":                                {onVolume + "trustedProxies: []", "spec.trustedProxies"},
		"a proxy twice":                             {onVolume + "trustedProxies: [10.0.0.0/8, 10.0.0.0/8]", "Duplicate value"},
		"an application of a name that is reserved": {onVolume + "applications: [{name: portal}, {name: operator}]", "the name operator is reserved"},
		"an address for a network":                  {external("cidrs: [10.20.30.40]"), "such as 10.20.0.0/16, or 10.20.30.40/32"},
		"a network with a host part":                {external("cidrs: [10.20.30.40/16]"), "with zeros behind that"},
		"a network of words":                        {external("cidrs: [database]"), "a network is an address"},
		"no networks":                               {external("cidrs: []"), "spec.storage.external.cidrs"},
		"a network twice":                           {external("cidrs: [10.0.0.0/8, 10.0.0.0/8]"), "Duplicate value"},
		"too many networks":                         {external("cidrs: [" + networks(33) + "]"), "Too many"},
		"a rollout without time":                    {onVolume + "rollout: {deadline: 59s}", "from 1m to 1h"},
		"a rollout without end":                     {onVolume + "rollout: {deadline: 1h1s}", "from 1m to 1h"},
		"a deadline of words":                       {onVolume + "rollout: {deadline: soon}", "spec.rollout.deadline"},
		"a deadline without a unit":                 {onVolume + `rollout: {deadline: "600"}`, "spec.rollout.deadline"},
		"an image with a space":                     {onVolume + `rollout: {image: "a b"}`, "spec.rollout.image"},
		"a window in hours alone":                   {onVolume + `rollout: {window: {start: "2", end: "05:00"}}`, "spec.rollout.window.start"},
		"a window after midnight":                   {onVolume + `rollout: {window: {start: "22:00", end: "24:00"}}`, "spec.rollout.window.end"},
		"a window without length":                   {onVolume + `rollout: {window: {start: "02:00", end: "02:00"}}`, "has no length"},
		"a window without end":                      {onVolume + `rollout: {window: {start: "02:00"}}`, "spec.rollout.window.end"},
		"a time zone that is none":                  {onVolume + `rollout: {window: {start: "02:00", end: "05:00", timeZone: Europe/Atlantis}}`, "Europe/Berlin"},
		"a time zone from a file":                   {onVolume + `rollout: {window: {start: "02:00", end: "05:00", timeZone: ../etc}}`, "spec.rollout.window.timeZone"},
		"a pull secret twice":                       {onVolume + "pods: {imagePullSecrets: [{name: a}, {name: a}]}", "Duplicate value"},
		"a pull secret without a name":              {onVolume + `pods: {imagePullSecrets: [{name: ""}]}`, "spec.pods.imagePullSecrets[0].name"},
		"a priority class with a /":                 {onVolume + "pods: {priorityClassName: a/b}", "spec.pods.priorityClassName"},
		"a label of ours":                           {onVolume + `pods: {labels: {anamnesis.dev/admin-access: "true"}}`, "the operator's own"},
		"a label below ours":                        {onVolume + "pods: {labels: {x.anamnesis.dev/team: a}}", "the operator's own"},
		"a label that selects":                      {onVolume + "pods: {labels: {app.kubernetes.io/instance: other}}", "the operator's own"},
		"a label of the replica set":                {onVolume + "pods: {labels: {pod-template-hash: a}}", "the operator's own"},
		"a label with a space":                      {onVolume + `pods: {labels: {"my team": a}}`, "each label needs a name"},
		"a label with a wrong value":                {onVolume + `pods: {labels: {team: "our team"}}`, "spec.pods.labels.team"},
		"a label with a long value":                 {onVolume + "pods: {labels: {team: " + strings.Repeat("a", 64) + "}}", "spec.pods.labels.team"},
		"an annotation of ours":                     {onVolume + "pods: {annotations: {anamnesis.dev/template-hash: a}}", "the operator's own"},
		"an annotation with a space":                {onVolume + `pods: {annotations: {"my note": a}}`, "each annotation needs a name"},
		"a log level of our own":                    {onVolume + "pods: {logLevel: trace}", "Unsupported value"},
		"root":                                      {onVolume + "pods: {securityContext: {runAsUser: 0}}", "spec.pods.securityContext.runAsUser"},
		"a user that no kernel knows":               {onVolume + "pods: {securityContext: {runAsUser: 4294967296}}", "spec.pods.securityContext.runAsUser"},
		"a node affinity without terms": {
			onVolume + "pods: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", "nodeSelectorTerms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := platform.Create(t.Context(), instance(t, "acme", test.spec), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func networks(count int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("10.%d.0.0/16", i))
	}
	return strings.Join(all, ", ")
}

// TestAccepted reads back what the API server made of a spec, with its defaults.
func TestAccepted(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"a volume": {onVolume, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}`},
		"a volume for one pod": {"storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}", `
storage: {embedded: {size: 2Gi, accessMode: ReadWriteOncePod}}`},
		"a database": {fmt.Sprintf(onDatabase, ""), `
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
		"authorities in a ConfigMap": {external("caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}"), `
storage: {external: {secretRef: {name: acme-db, key: url}, caRef: {kind: ConfigMap, name: rds, key: global-bundle.pem}}}`},
		"a rollout": {onVolume + "rollout: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout: {deadline: 10m}`},
		"a rollout with all": {onVolume + `
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
		"time zones": {onVolume + `rollout: {window: {start: "02:00", end: "05:00", timeZone: America/Argentina/Buenos_Aires}}`, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
rollout: {deadline: 10m, window: {start: "02:00", end: "05:00", timeZone: America/Argentina/Buenos_Aires}}`},
		"pods of the platform's user": {onVolume + "pods: {securityContext: {}}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
pods: {securityContext: {}}`},
		"pods with all": {onVolume + podsWithAll, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + podsWithAll},
		"a public address": {onVolume + "url: https://acme.example:8443", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: https://acme.example:8443`},
		"a public address in numbers, and proxies": {onVolume + "url: 'https://[2001:db8::1]'\ntrustedProxies: [10.0.0.0/8, '2001:db8::/32']", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
url: 'https://[2001:db8::1]'
trustedProxies: [10.0.0.0/8, '2001:db8::/32']`},
		"keys that do not overlap": {onVolume + "keyOverlap: 0s", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
keyOverlap: 0s`},
		"features that are off": {onVolume + "features: {prefill: {enabled: false}, patientResults: false}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
features: {prefill: {enabled: false}, patientResults: false}`},
		"webhooks with all": {onVolume + "webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {name: ca}}\nretention: {deliveries: 7d}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
webhooks: {allowPrivateAddresses: true, allowedPorts: [443, 8443], caRef: {kind: Secret, name: ca, key: ca.crt}}
retention: {deliveries: 7d}`},
		"a page": {onVolume + "page: {}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {}`},
		"a page in one colour": {onVolume + "page: {colors: {accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
page: {colors: {primary: '#005ea5', accent: '#FFDD00'}, helpURL: 'tel:+49-30-1234567'}`},
		"a page with all": {onVolume + pageWithAll, `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}` + strings.Replace(pageWithAll, "acme-logo", "acme-logo, key: logo", 1)},
		"an application that operates": {onVolume + "applications: [{name: operators}]", `
storage: {embedded: {size: 1Gi, accessMode: ReadWriteOnce}}
applications: [{name: operators}]`},
	} {
		t.Run(name, func(t *testing.T) {
			object := instance(t, "acme", test.spec)
			if err := platform.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			got := object.Object["spec"].(map[string]any)
			for _, field := range []string{"storage", "rollout", "pods", "url", "trustedProxies", "applications", "keyOverlap", "features", "webhooks", "retention", "page"} {
				want := instance(t, "acme", test.want).Object["spec"].(map[string]any)[field]
				if diff := cmp.Diff(want, got[field]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", field, diff)
				}
			}
			decode(t, object)
		})
	}
}

const pageWithAll = `
page:
  name: Ärztehaus "Süd" 🩺
  logo: {configMapRef: {name: acme-logo}}
  colors: {primary: '#1d1d1d', accent: '#767676'}
  privacyURL: https://acme.example:8443/privacy?lang=en#cookies
  helpURL: mailto:help@acme.example
  emergencyNumber: "112"
  crisisLine: +49 30 116-123`

const podsWithAll = `
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

// decode reads an object as Go programs do.
func decode(t *testing.T, object *unstructured.Unstructured) v1alpha1.Instance {
	t.Helper()
	var typed v1alpha1.Instance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatal(err)
	}
	return typed
}

// TestDeadlineIsRead as people wrote it.
func TestDeadlineIsRead(t *testing.T) {
	typed := decode(t, instance(t, "acme", onVolume+"rollout: {deadline: 1m30s}"))
	if got := typed.Spec.Rollout.Deadline.Duration; got != 90*time.Second {
		t.Errorf("the deadline is %s", got)
	}
}

// TestAccessModeStays tries to change it both ways. The volume would not follow.
func TestAccessModeStays(t *testing.T) {
	for from, to := range map[corev1.PersistentVolumeAccessMode]corev1.PersistentVolumeAccessMode{
		corev1.ReadWriteOnce:    corev1.ReadWriteOncePod,
		corev1.ReadWriteOncePod: corev1.ReadWriteOnce,
	} {
		object := instance(t, "stays-"+strings.ToLower(string(from)), fmt.Sprintf("storage: {embedded: {accessMode: %s}}", from))
		if err := platform.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		err := unstructured.SetNestedField(object.Object, string(to), "spec", "storage", "embedded", "accessMode")
		if err != nil {
			t.Fatal(err)
		}
		err = platform.Update(t.Context(), object)
		if err == nil || !strings.Contains(err.Error(), "the access mode of a volume cannot change") {
			t.Errorf("from %s to %s: got error %v", from, to, err)
		}
		err = unstructured.SetNestedField(object.Object, "2Gi", "spec", "storage", "embedded", "size")
		if err != nil {
			t.Fatal(err)
		}
		_ = unstructured.SetNestedField(object.Object, string(from), "spec", "storage", "embedded", "accessMode")
		if err := platform.Update(t.Context(), object); err != nil {
			t.Errorf("a volume of %s cannot grow: %v", from, err)
		}
	}
}

// TestOverlapIsRead: none at all is something else than one that is left out.
func TestOverlapIsRead(t *testing.T) {
	if typed := decode(t, instance(t, "acme", onVolume+"keyOverlap: 0s")); typed.Spec.KeyOverlap == nil || typed.Spec.KeyOverlap.Duration != 0 {
		t.Errorf("0s is read as %v", typed.Spec.KeyOverlap)
	}
	if typed := decode(t, instance(t, "acme", onVolume)); typed.Spec.KeyOverlap != nil {
		t.Errorf("left out, it is read as %v", typed.Spec.KeyOverlap)
	}
}
