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

// A snapshot is a text that describes the objects of a platform. Two platforms with the
// same history have the same snapshot: random values and times are replaced by
// placeholders, each by the same placeholder wherever it occurs, so that references stay
// recognizable.
func (p *harness) snapshot() string {
	p.t.Helper()
	var parts []string
	names := &placeholders{}
	for _, object := range p.managedObjects() {
		parts = append(parts, p.renderObject(object, names))
	}
	return names.normalize(strings.ReplaceAll(strings.Join(parts, ""), p.namespace, "NAMESPACE"))
}

// managedObjects returns the objects that the operator creates or writes, by kind and
// name.
func (p *harness) managedObjects() []client.Object {
	p.t.Helper()
	var all []client.Object
	ours := client.MatchingLabels{resources.ManagedByLabel: resources.ManagedByValue}
	for _, kind := range inventory.Kinds {
		all = append(all, p.listObjects(kind.List, ours)...)
	}
	return append(all, p.listObjects(&v1alpha1.InstanceList{})...)
}

func (p *harness) listObjects(of client.ObjectList, which ...client.ListOption) []client.Object {
	p.t.Helper()
	list := of.DeepCopyObject().(client.ObjectList)
	if err := p.List(p.t.Context(), list, append(which, client.InNamespace(p.namespace))...); err != nil {
		p.t.Fatalf("listing %T: %v", of, err)
	}
	return inventory.ListItems(list)
}

// renderObject renders an object as JSON. If names is nil, random values are kept.
func (p *harness) renderObject(object client.Object, names *placeholders) string {
	p.t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		p.t.Fatal(err)
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
		p.t.Fatal(err)
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

// placeholders are names for values that vary between runs, in order of first use.
type placeholders struct {
	byValue map[string]string
	counts  map[string]int // per kind
}

func (a *placeholders) get(kind, value string) string {
	if a.byValue == nil {
		a.byValue, a.counts = map[string]string{}, map[string]int{}
	}
	if a.byValue[value] == "" {
		a.byValue[value] = fmt.Sprintf("%s-%d", kind, a.counts[kind])
		a.counts[kind]++
	}
	return a.byValue[value]
}

// renderSecretData renders the content of a Secret: JSON and short texts unchanged, for
// normalize to process, and everything else as a placeholder.
func (a *placeholders) renderSecretData(content map[string][]byte) map[string]any {
	shown := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		value := string(content[key])
		if a != nil && len(value) > 100 && (!json.Valid(content[key]) || strings.Contains(value, "primaryKeyId")) {
			value = a.get("CONTENT", value)
		}
		shown[key] = value
	}
	return shown
}

// renderConfigMapData is renderSecretData for a ConfigMap.
func (a *placeholders) renderConfigMapData(content map[string]string) map[string]any {
	encoded := map[string][]byte{}
	for key, value := range content {
		encoded[key] = []byte(value)
	}
	shown := a.renderSecretData(encoded)
	for key, value := range content {
		if !strings.Contains(value, "BEGIN CERTIFICATE") {
			shown[key] = value
		}
	}
	return shown
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
func (a *placeholders) normalize(text string) string {
	text = timePattern.ReplaceAllStringFunc(text, func(found string) string {
		if found == newestVersion || found == olderVersion {
			return found
		}
		return "TIME"
	})
	for _, c := range randomPatterns {
		text = c.pattern.ReplaceAllStringFunc(text, func(found string) string { return a.get(c.kind, found) })
	}
	return text
}

// secretContents returns the contents of all Secrets that the operator created, by name
// and key.
func (p *harness) secretContents() map[string]string {
	p.t.Helper()
	contents := map[string]string{}
	for _, object := range p.managedObjects() {
		if secret, ok := object.(*corev1.Secret); ok {
			for key, value := range secret.Data {
				contents[secret.Name+"/"+key] = string(value)
			}
		}
	}
	return contents
}

// renderOwnedObjects renders an Instance's owned objects without the operator's saved
// state. Keys and certificates, which differ on every run, are replaced by their
// purpose.
func (p *harness) renderOwnedObjects(name string) string {
	p.t.Helper()
	var parts []string
	for _, object := range p.managedObjects() {
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
			p.replaceIssuedCertificate(secret, name)
		}
		removeCABundle(object)
		parts = append(parts, p.renderObject(object, nil))
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

// replaceIssuedCertificate replaces certificates that the operator issued by their DNS
// names. The other CAs that clients trust depend on which certificates were served
// before.
func (p *harness) replaceIssuedCertificate(secret *corev1.Secret, instance string) {
	p.t.Helper()
	certificate := parseCertificate(p.t, secret.Data[corev1.TLSCertKey])
	roots := x509.NewCertPool()
	for _, name := range []string{authority.SecretName, resources.CASecretName(&v1alpha1.Instance{ObjectMeta: objectMeta(p.namespace, instance)})} {
		if kept := (&corev1.Secret{}); p.get(name, kept) {
			roots.AppendCertsFromPEM(kept.Data[corev1.TLSCertKey])
		}
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots}); err != nil {
		return
	}
	secret.Annotations = nil
	names := slices.Concat(certificate.DNSNames, certificate.PermittedDNSDomains)
	secret.Data = map[string][]byte{corev1.TLSCertKey: []byte("for " + strings.Join(names, " "))}
}
