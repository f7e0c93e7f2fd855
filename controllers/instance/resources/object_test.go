// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	psaapi "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// buildAll builds all objects of an Instance, with test content for its Secrets.
func buildAll(in Input) []Object {
	var objects []Object
	objects = AppendNonNil(objects, BuildServiceAccount(in))
	objects = AppendNonNil(objects, BuildService(in))
	objects = AppendNonNil(objects, BuildNetworkPolicy(in))
	objects = AppendNonNil(objects, BuildPodDisruptionBudget(in))
	in.CABundle = []byte("authority")
	objects = AppendNonNil(objects, BuildConfigMap(in))
	objects = AppendNonNil(objects, BuildCAConfigMap(in))
	objects = AppendNonNil(objects, BuildPersistentVolumeClaim(in))
	objects = AppendNonNil(objects, BuildDeployment(in))
	objects = AppendNonNil(objects, BuildPreflightJob(in))
	keys := map[string]pki.ApplicationKeys{}
	for _, application := range Applications(in.Instance) {
		keys[application.Name] = pki.ApplicationKeys{Current: "key of " + application.Name}
		objects = AppendNonNil(objects, BuildApplicationSecret(in, application, keys[application.Name].Current))
	}
	keys[OperatorApplicationName] = pki.ApplicationKeys{Current: "key of the operator"}
	objects = AppendNonNil(objects, BuildCredentialsSecret(in, keys, nil))
	objects = AppendNonNil(objects, BuildNotificationsSecret(in, notificationFiles(in.Instance)))
	objects = AppendNonNil(objects, BuildKeysetsSecret(in, pki.Keysets{Encryption: []byte("encryption"), Lookup: []byte("lookup")}, nil))
	objects = AppendNonNil(objects, BuildSigningKeysSecret(in, map[string][]byte{"1.pem": []byte("one"), "2.pem": []byte("two")}, nil))
	return AppendNonNil(objects, BuildTLSSecret(in, []byte("chain"), []byte("private"), []byte("authority")))
}

// notificationFiles returns the files of an Instance's senders.
func notificationFiles(instance *v1alpha1.Instance) map[string][]byte {
	files := map[string][]byte{}
	for _, sender := range Senders(instance) {
		maps.Copy(files, sender.Files(map[string][]byte{"host": []byte("smtp.acme.example"), "url": []byte("https://sms.example"), "unknown": []byte("a")}))
	}
	return files
}

// newTyped returns an empty value of the Go type that the API server decodes a kind
// into.
func newTyped(kind string) any {
	return map[string]any{
		"ConfigMap":             &corev1.ConfigMap{},
		"Deployment":            &appsv1.Deployment{},
		"Job":                   &batchv1.Job{},
		"NetworkPolicy":         &networkingv1.NetworkPolicy{},
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
		"PodDisruptionBudget":   &policyv1.PodDisruptionBudget{},
		"Secret":                &corev1.Secret{},
		"Service":               &corev1.Service{},
		"ServiceAccount":        &corev1.ServiceAccount{},
	}[kind]
}

// drawInput generates an Input that the rules of the API allow.
func drawInput() *rapid.Generator[Input] {
	return rapid.Custom(func(t *rapid.T) Input {
		instance := &v1alpha1.Instance{
			ObjectMeta: metav1.ObjectMeta{
				Name:      rapid.StringMatching(fmt.Sprintf(`[a-z]([-a-z0-9]{0,%d}[a-z0-9])?`, MaxInstanceNameLength-2)).Draw(t, "name"),
				Namespace: rapid.StringMatching(`[a-z]{1,63}`).Draw(t, "namespace"),
				UID:       types.UID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, "uid")),
			},
			Spec: v1alpha1.InstanceSpec{
				Models:         rapid.SliceOfN(drawModel(), 1, 4).Draw(t, "models"),
				Applications:   rapid.SliceOfNDistinct(drawApplication(), 0, 4, func(a v1alpha1.Application) string { return a.Name }).Draw(t, "applications"),
				Replicas:       1,
				Hibernate:      rapid.Bool().Draw(t, "hibernate"),
				DeletionPolicy: rapid.SampledFrom([]v1alpha1.DeletionPolicy{"Retain", "Delete"}).Draw(t, "deletion policy"),
			},
		}
		in := Input{
			Instance: instance,
			Server: v1alpha1.ServerBuild{
				Image:    rapid.StringMatching(`[a-z]{1,9}/[a-z]{1,9}:[0-9]`).Draw(t, "image"),
				Revision: Revision,
			},
			Models:        rapid.SliceOfN(drawModel(), 1, 4).Draw(t, "pinned"),
			TemplateHash:  rapid.StringMatching(`[0-9a-f]{10}|`).Draw(t, "template hash"),
			PreflightHash: rapid.StringMatching(`[0-9a-f]{10}`).Draw(t, "preflight hash"),
		}
		drawStorage(t, &in)
		drawPods(t, instance)
		if rapid.Bool().Draw(t, "resources") {
			instance.Spec.Resources = memoryRequirements("1Gi")
		}
		if rapid.Bool().Draw(t, "CORS") {
			instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: rapid.SliceOfN(rapid.StringMatching(`https://[a-z.:0-9]{1,20}|\*`), 1, 4).Draw(t, "origins")}
		}
		return in
	})
}

func drawStorage(t *rapid.T, in *Input) {
	if rapid.Bool().Draw(t, "embedded") {
		in.Instance.Spec.Storage.Embedded = &v1alpha1.EmbeddedStorage{
			Size: resource.MustParse(strconv.FormatInt(rapid.Int64Range(1, 1<<40).Draw(t, "size"), 10)), // as a user would write it
		}
		if rapid.Bool().Draw(t, "with class") {
			class := "fast"
			in.Instance.Spec.Storage.Embedded.StorageClassName = &class
		}
		return
	}
	in.Instance.Spec.Replicas = rapid.Int32Range(1, 9).Draw(t, "replicas")
	in.Instance.Spec.Storage.External = &v1alpha1.ExternalStorage{
		SecretRef: v1alpha1.SecretKeyReference{Name: "db", Key: rapid.SampledFrom([]string{"", "url", "uri"}).Draw(t, "key")},
		CIDRs:     rapid.SliceOfN(rapid.SampledFrom([]v1alpha1.CIDR{"10.0.0.0/8", "10.96.0.1/32", "0.0.0.0/0", "2001:db8::/32"}), 0, 3).Draw(t, "networks"),
	}
	if rapid.Bool().Draw(t, "authority") {
		in.Instance.Spec.Storage.External.CARef = &v1alpha1.CABundleReference{Kind: rapid.SampledFrom([]string{"", "Secret", "ConfigMap"}).Draw(t, "kind"), Name: "ca"}
	}
	in.KubernetesAPINetworks = rapid.SliceOfN(rapid.SampledFrom(externalInputWithBlockedAPI().KubernetesAPINetworks), 0, 3).Draw(t, "API")
	in.DNSResolvers = rapid.SliceOfN(rapid.SampledFrom(externalInputWithBlockedAPI().DNSResolvers), 0, 2).Draw(t, "resolvers")
	in.RollbackPorts = rapid.SliceOfN(rapid.Int32Range(1, 65535), 0, 2).Draw(t, "other ports")
	in.DatabaseChecksum = rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "checksum")
	in.DatabasePorts = rapid.SliceOfN(rapid.Int32Range(1, 65535), 0, 3).Draw(t, "ports")
}

// drawPods generates spec.pods and omits each field half of the time.
func drawPods(t *rapid.T, instance *v1alpha1.Instance) {
	if rapid.Bool().Draw(t, "no pods") {
		return
	}
	maybe := func(label string, text string) string {
		if rapid.Bool().Draw(t, label) {
			return text + "\n"
		}
		return ""
	}
	withPods("{}\n")(instance)
	text := maybe("pull secrets", "imagePullSecrets: [{name: registry}]") + maybe("nodes", "nodeSelector: {disk: ssd}") +
		maybe("tolerations", `tolerations: [{key: a, tolerationSeconds: 0}, {operator: Exists}, {key: "", value: ""}]`) +
		maybe("priority", "priorityClassName: high") + maybe("labels", `labels: {team: a, empty: ""}`) +
		maybe("annotations", `annotations: {note: "", other: b}`) + maybe("log", "logLevel: warn") +
		maybe("user", rapid.SampledFrom([]string{"securityContext: {}", "securityContext: {runAsUser: 1}"}).Draw(t, "which user")) +
		maybe("affinity", rapid.SampledFrom([]string{"affinity: {}", "affinity: {nodeAffinity: {}}", onFastNodes, nearTheCache, farFromOthers}).Draw(t, "which affinity"))
	if text != "" {
		withPods(text)(instance)
	}
}

func drawModel() *rapid.Generator[v1alpha1.Model] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Model {
		return v1alpha1.Model{
			ID:      rapid.StringMatching(`service-[a-z]{2}`).Draw(t, "id"),
			Version: rapid.StringMatching(`20[0-9]{2}-1[0-2]-2[0-8]T00:00:00Z|`).Draw(t, "version"),
		}
	})
}

func drawApplication() *rapid.Generator[v1alpha1.Application] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Application {
		return v1alpha1.Application{
			Name:   rapid.StringMatching(`[a-z]([-a-z0-9]{0,61}[a-z0-9])?`).Draw(t, "name"),
			Scopes: rapid.SliceOfNDistinct(rapid.SampledFrom(everyScope), 0, 5, rapid.ID).Draw(t, "scopes"),
			Plan:   rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "plan"),
		}
	})
}

func mustEncode(t *rapid.T, object any) string {
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("encoding %T: %v", object, err)
	}
	return string(encoded)
}

func decodeInto[T any](t *rapid.T, text string, into T) T {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("decoding into %T: %v", into, err)
	}
	return into
}

// TestBuildersArePure builds twice and checks that the input is unchanged.
func TestBuildersArePure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput().Draw(t, "input")
		before := mustEncode(t, in)
		first := mustEncode(t, buildAll(in))
		if second := mustEncode(t, buildAll(in)); first != second {
			t.Errorf("two results for the same input:\n%s", cmp.Diff(first, second))
		}
		copied := in
		copied.Instance = in.Instance.DeepCopy()
		if second := mustEncode(t, buildAll(copied)); first != second {
			t.Errorf("different result for a copy of the input:\n%s", cmp.Diff(first, second))
		}
		if after := mustEncode(t, in); before != after {
			t.Errorf("the input was modified:\n%s", cmp.Diff(before, after))
		}
	})
}

// TestNoSentFieldIsDropped sends every object through the type that the API server
// stores. A field dropped there, such as a zero value that the API omits, would always
// differ from the live object.
func TestNoSentFieldIsDropped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, object := range buildAll(drawInput().Draw(t, "input")) {
			sent := mustEncode(t, object)
			kept := mustEncode(t, decodeInto(t, sent, newTyped(*object.GetKind())))
			if path := findDroppedField("", decodeInto(t, sent, &map[string]any{}), decodeInto(t, kept, &map[string]any{})); path != "" {
				t.Errorf("%s: field %s is sent but dropped", *object.GetKind(), path)
			}
		}
	})
}

// findDroppedField returns the path of the first field in sent that is missing from
// kept.
func findDroppedField(path string, sent, kept any) string {
	switch sent := sent.(type) {
	case *map[string]any:
		return findDroppedField(path, *sent, *kept.(*map[string]any))
	case map[string]any:
		kept, _ := kept.(map[string]any)
		for key, value := range sent {
			if found := findDroppedField(path+"."+key, value, kept[key]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		kept, _ := kept.([]any)
		for i, value := range sent {
			if i >= len(kept) {
				return fmt.Sprintf("%s[%d]", path, i)
			}
			if found := findDroppedField(fmt.Sprintf("%s[%d]", path, i), value, kept[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if sent != kept {
		return path
	}
	return ""
}

// TestPodsMeetRestrictedStandard checks every pod against the restricted Pod Security
// Standard, as Pod Security Admission does.
func TestPodsMeetRestrictedStandard(t *testing.T) {
	t.Parallel()
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput().Draw(t, "input")
		deployment := decodeInto(t, mustEncode(t, BuildDeployment(in)), &appsv1.Deployment{})
		job := decodeInto(t, mustEncode(t, BuildPreflightJob(in)), &batchv1.Job{})
		for _, template := range []corev1.PodTemplateSpec{deployment.Spec.Template, job.Spec.Template} {
			result := psapolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
			if !result.Allowed {
				t.Errorf("pod violates the restricted level: %s", result.ForbiddenDetail())
			}
		}
	})
}

// TestPodsAreHardenedBeyondRestrictedStandard checks hardening that the restricted level
// does not require.
func TestPodsAreHardenedBeyondRestrictedStandard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput().Draw(t, "input")
		deployment := decodeInto(t, mustEncode(t, BuildDeployment(in)), &appsv1.Deployment{})
		job := decodeInto(t, mustEncode(t, BuildPreflightJob(in)), &batchv1.Job{})
		for _, pod := range []corev1.PodSpec{deployment.Spec.Template.Spec, job.Spec.Template.Spec} {
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
				t.Errorf("pod mounts a service account token")
			}
			for _, container := range pod.Containers {
				if readOnly := container.SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
					t.Errorf("the root filesystem of %s is writable", container.Name)
				}
				if len(container.Resources.Requests) == 0 {
					t.Errorf("%s requests no resources", container.Name)
				}
			}
		}
	})
}

// TestObjectNamesAndLabels checks every name against the limits of Kubernetes, including
// for the longest Instance names.
func TestObjectNamesAndLabels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput().Draw(t, "input")
		for _, object := range buildAll(in) {
			kind, name := *object.GetKind(), *object.GetName()
			if problems := validateName(kind, name); len(problems) > 0 {
				t.Errorf("%s %q: %v", kind, name, problems)
			}
			if got := *object.GetNamespace(); got != in.Instance.Namespace {
				t.Errorf("%s %q is in namespace %q, want %q", kind, name, got, in.Instance.Namespace)
			}
			metadata := decodeInto(t, mustEncode(t, object), &metav1.PartialObjectMetadata{})
			checkLabels(t, in, kind, metadata.Labels)
			if len(metadata.OwnerReferences) > 0 {
				t.Errorf("%s %q has an owner reference, which only the reconciler may set", kind, name)
			}
		}
		template := BuildDeployment(in).Spec.Template
		checkLabels(t, in, "pod template", template.Labels)
		for key, value := range Selector(in.Instance) {
			if template.Labels[key] != value {
				t.Errorf("selector label %s=%s is missing from the pods: %v", key, value, template.Labels)
			}
		}
	})
}

func validateName(kind, name string) []string {
	switch kind {
	case "Service":
		return validation.IsDNS1035Label(name)
	case "Job", "Deployment":
		return validation.IsDNS1123Label(name)
	default:
		return validation.IsDNS1123Subdomain(name)
	}
}

func checkLabels(t *rapid.T, in Input, kind string, labels map[string]string) {
	for key, want := range Labels(in.Instance) {
		if labels[key] != want {
			t.Errorf("label %s of %s: got %q, want %q", key, kind, labels[key], want)
		}
	}
	for key, value := range labels {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			t.Errorf("label %s of %s: %v", key, kind, problems)
		}
	}
}

func TestAppendNonNilSkipsNil(t *testing.T) {
	t.Parallel()
	in := externalInput()
	objects := AppendNonNil(nil, BuildPersistentVolumeClaim(in))
	objects = AppendNonNil(objects, BuildService(in))
	if len(objects) != 1 || *objects[0].GetKind() != "Service" {
		t.Errorf("got %d objects, want the Service alone", len(objects))
	}
}

func TestLongestNameFits(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", MaxInstanceNameLength)}}
	if name := PreflightJobName(instance, "0123456789ab"); len(name) > validation.DNS1123LabelMaxLength {
		t.Errorf("Job name %s has %d characters, which is too long", name, len(name))
	}
}

func TestURLsAndDNSNames(t *testing.T) {
	t.Parallel()
	instance := embeddedInput().Instance
	if got, want := ClusterURL(instance), "https://acme.tenants.svc"; got != want {
		t.Errorf("got URL %q, want %q", got, want)
	}
	names := DNSNames(instance, "cluster.local")
	if diff := cmp.Diff([]string{"acme.tenants.svc", "acme.tenants.svc.cluster.local"}, names); diff != "" {
		t.Errorf("DNS names (-want +got):\n%s", diff)
	}
	if url := ClusterURL(instance); !strings.HasSuffix(url, "//"+names[0]) {
		t.Errorf("the certificate does not cover the host of %s", url)
	}
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"b.example", "acme.tenants.svc", "*.a.example"}}
	if diff := cmp.Diff([]string{"acme.tenants.svc", "acme.tenants.svc.cluster.example", "*.a.example", "b.example"}, DNSNames(instance, "cluster.example")); diff != "" {
		t.Errorf("DNS names with extra ones (-want +got):\n%s", diff)
	}
}
