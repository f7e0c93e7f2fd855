// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// snapshot renders the objects in the test's namespace as text. The same changes always
// produce the same snapshot, because random values and times are replaced with
// placeholders. Equal values have equal placeholders, so that references remain visible.
func (h *harness) snapshot() string {
	h.t.Helper()
	var parts []string
	names := &placeholders{}
	for _, object := range h.managedObjects() {
		parts = append(parts, h.renderObject(object, names))
	}
	return names.normalize(strings.ReplaceAll(strings.Join(parts, ""), h.namespace, "NAMESPACE"))
}

// managedObjects returns the objects that the operator creates or writes, by kind and
// name.
func (h *harness) managedObjects() []client.Object {
	h.t.Helper()
	var objects []client.Object
	managed := client.MatchingLabels{resources.ManagedByLabel: resources.ManagedByValue}
	for _, kind := range inventory.Kinds {
		objects = append(objects, h.listObjects(kind.List, managed)...)
	}
	return append(objects, h.listObjects(&v1alpha1.InstanceList{})...)
}

func (h *harness) listObjects(emptyList client.ObjectList, options ...client.ListOption) []client.Object {
	h.t.Helper()
	list := emptyList.DeepCopyObject().(client.ObjectList)
	if err := h.List(h.t.Context(), list, append(options, client.InNamespace(h.namespace))...); err != nil {
		h.t.Fatalf("listing %T: %v", emptyList, err)
	}
	return inventory.ListItems(list)
}

// renderObject renders an object as JSON. If names is nil, random values are kept.
func (h *harness) renderObject(object client.Object, names *placeholders) string {
	h.t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		h.t.Fatal(err)
	}
	if secret, ok := object.(*corev1.Secret); ok {
		fields["data"] = names.renderSecretData(secret.Data)
	}
	if config, ok := object.(*corev1.ConfigMap); ok {
		fields["data"] = names.renderConfigMapData(config.Data)
	}
	if instance, ok := object.(*v1alpha1.Instance); ok {
		fields["status"].(map[string]any)["conditions"] = conditionsByType(instance)
	} else {
		delete(fields, "status")
		delete(fields["metadata"].(map[string]any), "generation") // a Deployment's generation increases with its annotations
	}
	dropNondeterministicFields(fields)
	encoded, err := json.MarshalIndent(fields, "", " ")
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprintf("%T %s\n", object, encoded)
}

// conditionsByType returns conditions without their order and times.
func conditionsByType(instance *v1alpha1.Instance) map[string]any {
	conditions := map[string]any{}
	for _, condition := range instance.Status.Conditions {
		conditions[condition.Type] = fmt.Sprintf("%s %s of generation %d: %s", condition.Status, condition.Reason, condition.ObservedGeneration, condition.Message)
	}
	return conditions
}

// dropNondeterministicFields removes fields whose values vary between runs.
func dropNondeterministicFields(fields map[string]any) {
	for name, value := range fields {
		switch {
		case slices.Contains([]string{"managedFields", "resourceVersion", "clusterIP", "clusterIPs"}, name),
			strings.HasPrefix(name, "test.example/"),
			strings.HasSuffix(name, "Time") || strings.HasSuffix(name, "Timestamp") || strings.HasSuffix(name, "At"):
			delete(fields, name)
		default:
			dropNondeterministicValues(value)
		}
		if annotations, ok := value.(map[string]any); ok && name == "annotations" && len(annotations) == 0 {
			delete(fields, name)
		}
	}
}

func dropNondeterministicValues(value any) {
	switch value := value.(type) {
	case map[string]any:
		dropNondeterministicFields(value)
	case []any:
		for _, item := range value {
			dropNondeterministicValues(item)
		}
	}
}

// placeholders replace values that vary between runs. They are numbered by first use.
type placeholders struct {
	byValue map[string]string
	counts  map[string]int // per kind
}

func (p *placeholders) get(kind, value string) string {
	if p.byValue == nil {
		p.byValue, p.counts = map[string]string{}, map[string]int{}
	}
	if p.byValue[value] == "" {
		p.byValue[value] = fmt.Sprintf("%s-%d", kind, p.counts[kind])
		p.counts[kind]++
	}
	return p.byValue[value]
}

// renderSecretData renders the content of a Secret. It keeps JSON and short texts, which
// normalize processes, and replaces everything else with placeholders.
func (p *placeholders) renderSecretData(content map[string][]byte) map[string]any {
	rendered := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		value := string(content[key])
		if p != nil && len(value) > 100 && (!json.Valid(content[key]) || strings.Contains(value, "primaryKeyId")) {
			value = p.get("CONTENT", value)
		}
		rendered[key] = value
	}
	return rendered
}

// renderConfigMapData is renderSecretData for a ConfigMap.
func (p *placeholders) renderConfigMapData(content map[string]string) map[string]any {
	encoded := map[string][]byte{}
	for key, value := range content {
		encoded[key] = []byte(value)
	}
	rendered := p.renderSecretData(encoded)
	for key, value := range content {
		if !strings.Contains(value, "BEGIN CERTIFICATE") {
			rendered[key] = value
		}
	}
	return rendered
}

// applicationKeyPattern matches an application key.
var applicationKeyPattern = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)

// randomPatterns match values that look random, longest first.
var randomPatterns = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"UID", regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)},
	{"CHECKSUM", regexp.MustCompile(`\b[0-9a-f]{64}\b`)},
	{"KEY", applicationKeyPattern},
	{"HASH", regexp.MustCompile(`\b[0-9a-f]{12}\b`)},
}

// timePattern matches a time, and a key's name, which is its creation time.
var timePattern = regexp.MustCompile(`\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z|\b20[0-9]{6}t[0-9]{6}z\b`)

// normalize replaces random values with placeholders. All times share one placeholder,
// because consecutive times may or may not be equal. Model versions look like times but
// are kept.
func (p *placeholders) normalize(text string) string {
	text = timePattern.ReplaceAllStringFunc(text, func(found string) string {
		if found == newestVersion || found == olderVersion {
			return found
		}
		return "TIME"
	})
	for _, c := range randomPatterns {
		text = c.pattern.ReplaceAllStringFunc(text, func(found string) string { return p.get(c.kind, found) })
	}
	return text
}

// secretContents returns the contents of all Secrets that the operator created, by name
// and key.
func (h *harness) secretContents() map[string]string {
	h.t.Helper()
	contents := map[string]string{}
	for _, object := range h.managedObjects() {
		if secret, ok := object.(*corev1.Secret); ok {
			for key, value := range secret.Data {
				contents[secret.Name+"/"+key] = string(value)
			}
		}
	}
	return contents
}

// renderOwnedObjects renders an Instance's owned objects without the operator's saved
// state. It replaces keys and certificates, which differ between runs, with placeholders.
func (h *harness) renderOwnedObjects(name string) string {
	h.t.Helper()
	var parts []string
	for _, object := range h.managedObjects() {
		if object.GetLabels()[resources.InstanceLabel] != name {
			continue
		}
		object.SetUID("")
		annotations := object.GetAnnotations()
		delete(annotations, ssa.HashAnnotation)
		if deployment, ok := object.(*appsv1.Deployment); ok {
			deployment.Annotations = nil
		}
		if secret, ok := object.(*corev1.Secret); ok && secret.Type == corev1.SecretTypeTLS {
			h.replaceIssuedCertificate(secret, name)
		}
		removeCABundle(object)
		parts = append(parts, h.renderObject(object, nil))
	}
	return applicationKeyPattern.ReplaceAllString(strings.Join(parts, ""), "KEY")
}

// removeCABundle removes the CA bundle for clients.
func removeCABundle(object client.Object) {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		delete(object.Data, corev1.ServiceAccountRootCAKey)
	case *corev1.Secret:
		if object.Type == corev1.SecretTypeOpaque {
			delete(object.Data, corev1.ServiceAccountRootCAKey)
		}
	}
}

// replaceIssuedCertificate replaces certificates that the operator issued with their DNS
// names. It also removes the CA bundle, which depends on earlier certificates.
func (h *harness) replaceIssuedCertificate(secret *corev1.Secret, instance string) {
	h.t.Helper()
	certificate := parseCertificate(h.t, secret.Data[corev1.TLSCertKey])
	roots := x509.NewCertPool()
	for _, name := range []string{authority.SecretName, resources.CASecretName(&v1alpha1.Instance{ObjectMeta: objectMeta(h.namespace, instance)})} {
		if secret := (&corev1.Secret{}); h.get(name, secret) {
			roots.AppendCertsFromPEM(secret.Data[corev1.TLSCertKey])
		}
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots}); err != nil {
		return
	}
	secret.Annotations = nil
	names := slices.Concat(certificate.DNSNames, certificate.PermittedDNSDomains)
	secret.Data = map[string][]byte{corev1.TLSCertKey: []byte("for " + strings.Join(names, " "))}
}
