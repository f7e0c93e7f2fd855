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

// everything is all that an Instance is made of, with material for its Secrets.
func everything(in Input) []Object {
	var objects []Object
	objects = Append(objects, BuildServiceAccount(in))
	objects = Append(objects, BuildService(in))
	objects = Append(objects, BuildNetworkPolicy(in))
	objects = Append(objects, BuildPodDisruptionBudget(in))
	in.Authority = []byte("authority")
	objects = Append(objects, BuildConfigMap(in))
	objects = Append(objects, BuildTrustConfigMap(in))
	objects = Append(objects, BuildPersistentVolumeClaim(in))
	objects = Append(objects, BuildDeployment(in))
	objects = Append(objects, BuildPreflightJob(in))
	keys := map[string]pki.ApplicationKeys{}
	for _, application := range Applications(in.Instance) {
		keys[application.Name] = pki.ApplicationKeys{Key: "key of " + application.Name}
		objects = Append(objects, BuildApplicationSecret(in, application, keys[application.Name].Key))
	}
	if SendsWebhooks(in.Server) {
		keys[OperatorName] = pki.ApplicationKeys{Key: "key of the operator"}
	}
	objects = Append(objects, BuildCredentialsSecret(in, keys, nil))
	objects = Append(objects, BuildNotificationsSecret(in, notificationFiles(in.Instance)))
	objects = Append(objects, BuildKeysetsSecret(in, pki.Keysets{Encryption: []byte("encryption"), Lookup: []byte("lookup")}, nil))
	objects = Append(objects, BuildSigningKeysSecret(in, map[string][]byte{"1.pem": []byte("one"), "2.pem": []byte("two")}, nil))
	return Append(objects, BuildTLSSecret(in, []byte("chain"), []byte("private"), []byte("authority")))
}

// notificationFiles are those of the senders of an Instance.
func notificationFiles(instance *v1alpha1.Instance) map[string][]byte {
	files := map[string][]byte{}
	for _, sender := range Senders(instance) {
		maps.Copy(files, sender.Files(map[string][]byte{"host": []byte("smtp.acme.example"), "url": []byte("https://sms.example"), "unknown": []byte("a")}))
	}
	return files
}

// typed is an empty value of the Go type that the API server decodes a kind
// into.
func typed(kind string) any {
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

// inputs draws an Input that the rules of the API allow.
func inputs() *rapid.Generator[Input] {
	return rapid.Custom(func(t *rapid.T) Input {
		instance := &v1alpha1.Instance{
			ObjectMeta: metav1.ObjectMeta{
				Name:      rapid.StringMatching(fmt.Sprintf(`[a-z]([-a-z0-9]{0,%d}[a-z0-9])?`, MaxInstanceNameLength-2)).Draw(t, "name"),
				Namespace: rapid.StringMatching(`[a-z]{1,63}`).Draw(t, "namespace"),
				UID:       types.UID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, "uid")),
			},
			Spec: v1alpha1.InstanceSpec{
				Models:         rapid.SliceOfN(models(), 1, 4).Draw(t, "models"),
				Applications:   rapid.SliceOfNDistinct(someApplication(), 0, 4, func(a v1alpha1.Application) string { return a.Name }).Draw(t, "applications"),
				Replicas:       1,
				Hibernate:      rapid.Bool().Draw(t, "hibernate"),
				DeletionPolicy: rapid.SampledFrom([]v1alpha1.DeletionPolicy{"Retain", "Delete"}).Draw(t, "deletion policy"),
			},
		}
		in := Input{
			Instance: instance,
			Server: v1alpha1.ServerPin{
				Image:    rapid.StringMatching(`[a-z]{1,9}/[a-z]{1,9}:[0-9]`).Draw(t, "image"),
				Revision: rapid.Int32Range(oldestRevision, Revision).Draw(t, "revision"),
			},
			Models:        rapid.SliceOfN(models(), 1, 4).Draw(t, "pinned"),
			TemplateHash:  rapid.StringMatching(`[0-9a-f]{10}|`).Draw(t, "template hash"),
			PreflightHash: rapid.StringMatching(`[0-9a-f]{10}`).Draw(t, "preflight hash"),
		}
		drawStorage(t, &in)
		drawPods(t, instance)
		if rapid.Bool().Draw(t, "resources") {
			instance.Spec.Resources = memory("1Gi")
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
			Size: resource.MustParse(strconv.FormatInt(rapid.Int64Range(1, 1<<40).Draw(t, "size"), 10)), // as a user writes it
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
		in.Instance.Spec.Storage.External.CARef = &v1alpha1.CertificateReference{Kind: rapid.SampledFrom([]string{"", "Secret", "ConfigMap"}).Draw(t, "kind"), Name: "ca"}
	}
	in.KubernetesAPI = rapid.SliceOfN(rapid.SampledFrom(guarded().KubernetesAPI), 0, 3).Draw(t, "API")
	in.Resolvers = rapid.SliceOfN(rapid.SampledFrom(guarded().Resolvers), 0, 2).Draw(t, "resolvers")
	in.PutBackPorts = rapid.SliceOfN(rapid.Int32Range(1, 65535), 0, 2).Draw(t, "other ports")
	in.DatabaseChecksum = rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "checksum")
	in.DatabasePorts = rapid.SliceOfN(rapid.Int32Range(1, 65535), 0, 3).Draw(t, "ports")
}

// drawPods leaves each field out as often as not.
func drawPods(t *rapid.T, instance *v1alpha1.Instance) {
	if rapid.Bool().Draw(t, "no pods") {
		return
	}
	some := func(what string, text string) string {
		if rapid.Bool().Draw(t, what) {
			return text + "\n"
		}
		return ""
	}
	pods("{}\n")(instance)
	text := some("pull secrets", "imagePullSecrets: [{name: registry}]") + some("nodes", "nodeSelector: {disk: ssd}") +
		some("tolerations", `tolerations: [{key: a, tolerationSeconds: 0}, {operator: Exists}, {key: "", value: ""}]`) +
		some("priority", "priorityClassName: high") + some("labels", `labels: {team: a, empty: ""}`) +
		some("annotations", `annotations: {note: "", other: b}`) + some("log", "logLevel: warn") +
		some("user", rapid.SampledFrom([]string{"securityContext: {}", "securityContext: {runAsUser: 1}"}).Draw(t, "which user")) +
		some("affinity", rapid.SampledFrom([]string{"affinity: {}", "affinity: {nodeAffinity: {}}", onFastNodes, nearTheCache, farFromOthers}).Draw(t, "which affinity"))
	if text != "" {
		pods(text)(instance)
	}
}

func models() *rapid.Generator[v1alpha1.Model] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Model {
		return v1alpha1.Model{
			ID:      rapid.StringMatching(`service-[a-z]{2}`).Draw(t, "id"),
			Version: rapid.StringMatching(`20[0-9]{2}-1[0-2]-2[0-8]T00:00:00Z|`).Draw(t, "version"),
		}
	})
}

func someApplication() *rapid.Generator[v1alpha1.Application] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.Application {
		return v1alpha1.Application{
			Name:   rapid.StringMatching(`[a-z]([-a-z0-9]{0,61}[a-z0-9])?`).Draw(t, "name"),
			Scopes: rapid.SliceOfNDistinct(rapid.SampledFrom(everyScope), 0, 5, rapid.ID).Draw(t, "scopes"),
			Plan:   rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "plan"),
		}
	})
}

func encode(t *rapid.T, object any) string {
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

// TestBuildersArePure builds twice, and looks whether the input was touched.
func TestBuildersArePure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "input")
		before := encode(t, in)
		first := encode(t, everything(in))
		if second := encode(t, everything(in)); first != second {
			t.Errorf("the same input gave two results:\n%s", cmp.Diff(first, second))
		}
		again := in
		again.Instance = in.Instance.DeepCopy()
		if second := encode(t, everything(again)); first != second {
			t.Errorf("a copy of the input gave another result:\n%s", cmp.Diff(first, second))
		}
		if after := encode(t, in); before != after {
			t.Errorf("the input was changed:\n%s", cmp.Diff(before, after))
		}
	})
}

// TestNothingIsSentInVain sends every object through the type that the API
// server keeps it in. A field that gets lost there, such as a zero that the API
// leaves out, would differ from the live object for ever.
func TestNothingIsSentInVain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, object := range everything(inputs().Draw(t, "input")) {
			sent := encode(t, object)
			kept := encode(t, decodeInto(t, sent, typed(*object.GetKind())))
			if path := missing("", decodeInto(t, sent, &map[string]any{}), decodeInto(t, kept, &map[string]any{})); path != "" {
				t.Errorf("%s: %s is sent and not kept", *object.GetKind(), path)
			}
		}
	})
}

// missing is the path of the first field of sent that kept does not have.
func missing(path string, sent, kept any) string {
	switch sent := sent.(type) {
	case *map[string]any:
		return missing(path, *sent, *kept.(*map[string]any))
	case map[string]any:
		kept, _ := kept.(map[string]any)
		for key, value := range sent {
			if found := missing(path+"."+key, value, kept[key]); found != "" {
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
			if found := missing(fmt.Sprintf("%s[%d]", path, i), value, kept[i]); found != "" {
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

// TestPodsAreRestricted holds every pod against the restricted level of the Pod
// Security Standards, as the admission of Kubernetes does.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "input")
		deployment := decodeInto(t, encode(t, BuildDeployment(in)), &appsv1.Deployment{})
		job := decodeInto(t, encode(t, BuildPreflightJob(in)), &batchv1.Job{})
		for _, template := range []corev1.PodTemplateSpec{deployment.Spec.Template, job.Spec.Template} {
			result := psapolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
			if !result.Allowed {
				t.Errorf("a pod breaks the restricted level: %s", result.ForbiddenDetail())
			}
		}
	})
}

// TestPodsCannotDoMore asks for what the restricted level does not.
func TestPodsCannotDoMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "input")
		deployment := decodeInto(t, encode(t, BuildDeployment(in)), &appsv1.Deployment{})
		job := decodeInto(t, encode(t, BuildPreflightJob(in)), &batchv1.Job{})
		for _, pod := range []corev1.PodSpec{deployment.Spec.Template.Spec, job.Spec.Template.Spec} {
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
				t.Errorf("a service account token is mounted")
			}
			for _, container := range pod.Containers {
				if readOnly := container.SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
					t.Errorf("the root filesystem of %s can be written", container.Name)
				}
				if len(container.Resources.Requests) == 0 {
					t.Errorf("%s requests no resources", container.Name)
				}
			}
		}
	})
}

// TestObjectsAreNamedAndLabelled holds every name against the limits of
// Kubernetes, for the longest Instance names too.
func TestObjectsAreNamedAndLabelled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "input")
		for _, object := range everything(in) {
			kind, name := *object.GetKind(), *object.GetName()
			if problems := nameProblems(kind, name); len(problems) > 0 {
				t.Errorf("%s %q: %v", kind, name, problems)
			}
			if got := *object.GetNamespace(); got != in.Instance.Namespace {
				t.Errorf("%s %q is in namespace %q, want %q", kind, name, got, in.Instance.Namespace)
			}
			metadata := decodeInto(t, encode(t, object), &metav1.PartialObjectMetadata{})
			checkLabels(t, in, kind, metadata.Labels)
			if len(metadata.OwnerReferences) > 0 {
				t.Errorf("%s %q has an owner reference, which the reconciler sets", kind, name)
			}
		}
		template := BuildDeployment(in).Spec.Template
		checkLabels(t, in, "pod template", template.Labels)
		for key, value := range Selector(in.Instance) {
			if template.Labels[key] != value {
				t.Errorf("the selector's %s=%s is not on the pods: %v", key, value, template.Labels)
			}
		}
	})
}

func nameProblems(kind, name string) []string {
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
			t.Errorf("label %s of %s is %q, want %q", key, kind, labels[key], want)
		}
	}
	for key, value := range labels {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			t.Errorf("label %s of %s: %v", key, kind, problems)
		}
	}
}

func TestAppendLeavesOutNil(t *testing.T) {
	t.Parallel()
	in := external()
	objects := Append(nil, BuildPersistentVolumeClaim(in))
	objects = Append(objects, BuildService(in))
	if len(objects) != 1 || *objects[0].GetKind() != "Service" {
		t.Errorf("got %d objects, want the Service alone", len(objects))
	}
}

func TestLongestNameFits(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", MaxInstanceNameLength)}}
	if name := PreflightName(instance, "0123456789ab"); len(name) > validation.DNS1123LabelMaxLength {
		t.Errorf("%s has %d characters, more than the name of a Job may have", name, len(name))
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	instance := embedded().Instance
	if got, want := URL(instance), "https://acme.tenants.svc"; got != want {
		t.Errorf("URL is %q, want %q", got, want)
	}
	names := DNSNames(instance, "cluster.local")
	if diff := cmp.Diff([]string{"acme.tenants.svc", "acme.tenants.svc.cluster.local"}, names); diff != "" {
		t.Errorf("DNS names (-want +got):\n%s", diff)
	}
	if url := URL(instance); !strings.HasSuffix(url, "//"+names[0]) {
		t.Errorf("the certificate does not cover the host of %s", url)
	}
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"b.example", "acme.tenants.svc", "*.a.example"}}
	if diff := cmp.Diff([]string{"acme.tenants.svc", "acme.tenants.svc.cluster.example", "*.a.example", "b.example"}, DNSNames(instance, "cluster.example")); diff != "" {
		t.Errorf("DNS names with extra ones (-want +got):\n%s", diff)
	}
}
