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
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// A portrait is what a platform looks like, in a text that is the same for two
// platforms with which the same was done. What chance or a clock made is
// replaced by a name, the same wherever it occurs, so that what refers to each
// other still does.
func (p *platform) portrait() string {
	p.t.Helper()
	var parts []string
	names := &aliases{}
	for _, object := range p.everything() {
		parts = append(parts, p.draw(object, names))
	}
	return names.replace(strings.ReplaceAll(strings.Join(parts, ""), p.namespace, "NAMESPACE"))
}

// everything is what the operator made or writes to, by kind and name.
func (p *platform) everything() []client.Object {
	p.t.Helper()
	var all []client.Object
	ours := client.MatchingLabels{resources.ManagedByLabel: resources.ManagedByValue}
	for _, kind := range children.Kinds {
		all = append(all, p.list(kind.List, ours)...)
	}
	return append(all, p.list(&v1alpha1.InstanceList{})...)
}

func (p *platform) list(of client.ObjectList, which ...client.ListOption) []client.Object {
	p.t.Helper()
	list := of.DeepCopyObject().(client.ObjectList)
	if err := p.List(p.t.Context(), list, append(which, client.InNamespace(p.namespace))...); err != nil {
		p.t.Fatalf("listing %T: %v", of, err)
	}
	return children.Items(list)
}

// draw gives one object in JSON, with what chance made as it is when there are no
// names for it.
func (p *platform) draw(object client.Object, names *aliases) string {
	p.t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		p.t.Fatal(err)
	}
	if secret, ok := object.(*corev1.Secret); ok {
		fields["data"] = names.data(secret.Data)
	}
	if config, ok := object.(*corev1.ConfigMap); ok {
		fields["data"] = names.texts(config.Data)
	}
	if instance, ok := object.(*v1alpha1.Instance); ok {
		fields["status"].(map[string]any)["conditions"] = conditionsByType(instance)
	} else {
		delete(fields, "status")
		delete(fields["metadata"].(map[string]any), "generation") // a Deployment's grows with its annotations
	}
	dropChance(fields)
	encoded, err := json.MarshalIndent(fields, "", " ")
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%T %s\n", object, encoded)
}

// conditionsByType tells conditions without their order and times.
func conditionsByType(instance *v1alpha1.Instance) map[string]any {
	conditions := map[string]any{}
	for _, condition := range instance.Status.Conditions {
		conditions[condition.Type] = fmt.Sprintf("%s %s of generation %d: %s", condition.Status, condition.Reason, condition.ObservedGeneration, condition.Message)
	}
	return conditions
}

// dropChance leaves out of an object what nobody decides.
func dropChance(fields map[string]any) {
	for name, value := range fields {
		switch {
		case slices.Contains([]string{"managedFields", "resourceVersion", "clusterIP", "clusterIPs"}, name),
			strings.HasPrefix(name, "test.example/"),
			strings.HasSuffix(name, "Time") || strings.HasSuffix(name, "Timestamp") || strings.HasSuffix(name, "At"):
			delete(fields, name)
		default:
			dropChanceWithin(value)
		}
		if annotations, ok := value.(map[string]any); ok && name == "annotations" && len(annotations) == 0 {
			delete(fields, name)
		}
	}
}

func dropChanceWithin(value any) {
	switch value := value.(type) {
	case map[string]any:
		dropChance(value)
	case []any:
		for _, item := range value {
			dropChanceWithin(item)
		}
	}
}

// aliases are names for what is different each time, in the order of first use.
type aliases struct {
	known map[string]string
	used  map[string]int // of each kind
}

func (a *aliases) of(kind, value string) string {
	if a.known == nil {
		a.known, a.used = map[string]string{}, map[string]int{}
	}
	if a.known[value] == "" {
		a.known[value] = fmt.Sprintf("%s-%d", kind, a.used[kind])
		a.used[kind]++
	}
	return a.known[value]
}

// data shows the content of a Secret: JSON and short texts as they are, for
// replace to look into, and all else under a name.
func (a *aliases) data(content map[string][]byte) map[string]any {
	shown := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		value := string(content[key])
		if a != nil && len(value) > 100 && (!json.Valid(content[key]) || strings.Contains(value, "primaryKeyId")) {
			value = a.of("CONTENT", value)
		}
		shown[key] = value
	}
	return shown
}

// texts does the same for a ConfigMap.
func (a *aliases) texts(content map[string]string) map[string]any {
	encoded := map[string][]byte{}
	for key, value := range content {
		encoded[key] = []byte(value)
	}
	shown := a.data(encoded)
	for key, value := range content {
		if !strings.Contains(value, "BEGIN CERTIFICATE") {
			shown[key] = value
		}
	}
	return shown
}

// applicationKey is what the key of an application looks like.
var applicationKey = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)

// chance is what looks as if it was made by chance, the longest first.
var chance = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"UID", regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)},
	{"CHECKSUM", regexp.MustCompile(`\b[0-9a-f]{64}\b`)},
	{"KEY", applicationKey},
	{"HASH", regexp.MustCompile(`\b[0-9a-f]{12}\b`)},
}

// moment is what a time looks like, and the name of a key, which is when it was
// made.
var moment = regexp.MustCompile(`\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z|\b20[0-9]{6}t[0-9]{6}z\b`)

// replace puts names for what chance made. Times are told apart from no other
// time, since of two that follow each other any may be the same; but versions of
// models look like times and stay.
func (a *aliases) replace(text string) string {
	text = moment.ReplaceAllStringFunc(text, func(found string) string {
		if found == newestVersion || found == olderVersion {
			return found
		}
		return "TIME"
	})
	for _, c := range chance {
		text = c.pattern.ReplaceAllStringFunc(text, func(found string) string { return a.of(c.kind, found) })
	}
	return text
}

// secrets are the contents of all Secrets that the operator made, by name and
// key.
func (p *platform) secrets() map[string]string {
	p.t.Helper()
	contents := map[string]string{}
	for _, object := range p.everything() {
		if secret, ok := object.(*corev1.Secret); ok {
			for key, value := range secret.Data {
				contents[secret.Name+"/"+key] = string(value)
			}
		}
	}
	return contents
}

// drawChildren gives what an Instance's children are, without what the operator
// notes on them, and with keys and certificates that are made anew each time
// told by what they are for.
func (p *platform) drawChildren(name string) string {
	p.t.Helper()
	var parts []string
	for _, object := range p.everything() {
		if object.GetLabels()[resources.InstanceLabel] != name {
			continue
		}
		object.SetUID("")
		annotations := object.GetAnnotations()
		delete(annotations, apply.HashAnnotation)
		if deployment, ok := object.(*appsv1.Deployment); ok {
			deployment.Annotations = nil
		}
		if secret, ok := object.(*corev1.Secret); ok && secret.Type == corev1.SecretTypeTLS {
			p.nameIssued(secret, name)
		}
		leaveOutAuthority(object)
		parts = append(parts, p.draw(object, nil))
	}
	return applicationKey.ReplaceAllString(strings.Join(parts, ""), "KEY")
}

// leaveOutAuthority takes out whom clients are told to trust.
func leaveOutAuthority(object client.Object) {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		delete(object.Data, corev1.ServiceAccountRootCAKey)
	case *corev1.Secret:
		if object.Type == corev1.SecretTypeOpaque {
			delete(object.Data, corev1.ServiceAccountRootCAKey)
		}
	}
}

// nameIssued replaces certificates that the operator made by the names that they
// are for. Whom clients are told to trust besides is a matter of what was served
// before.
func (p *platform) nameIssued(secret *corev1.Secret, instance string) {
	p.t.Helper()
	certificate := parseCertificate(p.t, secret.Data[corev1.TLSCertKey])
	roots := x509.NewCertPool()
	for _, name := range []string{authority.SecretName, resources.AuthorityName(&v1alpha1.Instance{ObjectMeta: objectMeta(p.namespace, instance)})} {
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
