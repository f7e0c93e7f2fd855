// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// withPods parses spec.pods from YAML.
func withPods(text string) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) {
		instance.Spec.Pods = &v1alpha1.Pods{}
		if err := yaml.UnmarshalStrict([]byte(text), instance.Spec.Pods); err != nil {
			panic(err)
		}
	}
}

const (
	onFastNodes = `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}`
	nearTheCache  = `affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [` + nearby + `]}}`
	farFromOthers = `affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [` + nearby + `]}}`
	nearby        = `{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {app: cache}}}}`

	apartByDefault = `{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {
  app.kubernetes.io/name: anamnesis, app.kubernetes.io/instance: acme, app.kubernetes.io/component: apiserver}}}}`
)

// TestPodsFollowSpec checks the effect of each field on the server's pods and on the
// preflight pod.
func TestPodsFollowSpec(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec          string
		serves, check string
	}{
		"nothing": {"{}", ``, ``},
		"pull secrets": {
			"imagePullSecrets: [{name: one}, {name: two}]",
			"imagePullSecrets: [{name: one}, {name: two}]", "imagePullSecrets: [{name: one}, {name: two}]",
		},
		"nodes":    {"nodeSelector: {disk: ssd}", "nodeSelector: {disk: ssd}", "nodeSelector: {disk: ssd}"},
		"priority": {"priorityClassName: high", "priorityClassName: high", "priorityClassName: high"},
		"tolerations": {
			"tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}, {operator: Exists}]",
			"tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}, {operator: Exists}]",
			"tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}, {operator: Exists}]",
		},
		"affinity to nodes": {onFastNodes, onFastNodes, onFastNodes},
		"affinity to pods":  {nearTheCache, nearTheCache, ``},
		"a user": {
			"securityContext: {runAsUser: 1234}",
			"securityContext: {runAsUser: 1234}", "securityContext: {runAsUser: 1234}",
		},
		"the platform's user": {
			"securityContext: {}",
			"securityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}", "securityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}",
		},
		"a log level": {"logLevel: debug", "containers: [{env: [{name: ANAMNESIS_LOG_LEVEL, value: debug}]}]", ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, in := embeddedInput(), embeddedInput(withPods(test.spec))
			assertMerged(t, "the server", toMap(t, BuildDeployment(plain).Spec.Template.Spec), test.serves, toMap(t, BuildDeployment(in).Spec.Template.Spec))
			assertMerged(t, "the check", toMap(t, BuildPreflightJob(plain).Spec.Template.Spec), test.check, toMap(t, BuildPreflightJob(in).Spec.Template.Spec))
		})
	}
}

// assertMerged compares a pod with a plain pod merged with the expected change.
func assertMerged(t *testing.T, name string, plain map[string]any, change string, got map[string]any) {
	t.Helper()
	merge(plain, parseYAML(t, change))
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// merge merges fields into an object: objects are merged, lists are appended to or, for
// the single container, merged too, and null removes a field.
func merge(into, change map[string]any) {
	for key, value := range change {
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			if _, exists := into[key]; !exists {
				into[key] = map[string]any{}
			}
			merge(into[key].(map[string]any), value)
		case []any:
			list, _ := into[key].([]any)
			if key == "containers" {
				merge(list[0].(map[string]any), value[0].(map[string]any))
			} else {
				into[key] = append(list, value...)
			}
		default:
			into[key] = value
		}
	}
}

// TestSpecAffinityOverridesDefault checks that defaults stay where the spec sets
// nothing.
func TestSpecAffinityOverridesDefault(t *testing.T) {
	t.Parallel()
	nodes := `nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}`
	defaultAntiAffinity := `podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [` + apartByDefault + `]}`
	for name, test := range map[string]struct{ spec, want string }{
		"nothing said":           {"{}", defaultAntiAffinity},
		"empty":                  {"affinity: {}", defaultAntiAffinity},
		"affinity to nodes":      {onFastNodes, nodes + "\n" + defaultAntiAffinity},
		"affinity to pods":       {nearTheCache, "podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + nearby + "]}\n" + defaultAntiAffinity},
		"antiaffinity":           {farFromOthers, "podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + nearby + "]}"},
		"no antiaffinity at all": {"affinity: {podAntiAffinity: {}}", "podAntiAffinity: {}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := BuildDeployment(externalInput(withPods(test.spec))).Spec.Template.Spec
			assertYAML(t, pod.Affinity, test.want)
			if len(pod.TopologySpreadConstraints) != 1 {
				t.Errorf("topology spread constraints are missing")
			}
		})
	}
}

// TestSpecLabelsAndAnnotations checks that the spec's labels and annotations apply to
// the server's pods and never override the operator's own.
func TestSpecLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	in := embeddedInput(withPods(`{labels: {example.com/team: care, empty: "", app.kubernetes.io/instance: other},
  annotations: {example.com/note: "a: b", anamnesis.dev/template-hash: other}}`))
	template := BuildDeployment(in).Spec.Template
	wantLabels := podLabels(in.Instance, serverContainerName)
	wantLabels["example.com/team"], wantLabels["empty"] = "care", ""
	if diff := cmp.Diff(wantLabels, template.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	wantAnnotations := BuildDeployment(embeddedInput()).Spec.Template.Annotations
	wantAnnotations["example.com/note"] = "a: b"
	if diff := cmp.Diff(wantAnnotations, template.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(toMap(t, BuildPreflightJob(embeddedInput()).Spec.Template), toMap(t, BuildPreflightJob(in).Spec.Template)); diff != "" {
		t.Errorf("preflight pod changed (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(Selector(in.Instance), Selector(embeddedInput().Instance)); diff != "" {
		t.Errorf("the selector changed:\n%s", diff)
	}
}

// TestPlacementDoesNotRerunPreflight checks that placement does not change the identity
// of a check.
func TestPlacementDoesNotRerunPreflight(t *testing.T) {
	t.Parallel()
	if preflightHash(t, externalInput()) != preflightHash(t, externalInput(withPods(fullPodsYAML))) {
		t.Error("placement changes the preflight hash")
	}
}

const fullPodsYAML = `
imagePullSecrets: [{name: registry}]
nodeSelector: {kubernetes.io/arch: amd64}
tolerations: [{key: tenants, operator: Exists, effect: NoSchedule}]
` + onFastNodes + `
priorityClassName: tenants-high
labels: {example.com/team: care}
annotations: {prometheus.io/scrape: "true"}
logLevel: debug
securityContext: {runAsUser: 1000680000}
`

// TestToApplyConfiguration compares the applied fields with the spec for the parts that
// are copied unchanged.
func TestToApplyConfiguration(t *testing.T) {
	t.Parallel()
	want := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpEqual, Value: "b", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(0))}
	in := embeddedInput(func(instance *v1alpha1.Instance) {
		instance.Spec.Pods = &v1alpha1.Pods{Tolerations: []corev1.Toleration{want}, Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"k"},
			}},
		}}}
	})
	pod := serverPodSpec(t, in)
	if diff := cmp.Diff([]corev1.Toleration{want}, pod.Tolerations); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(in.Instance.Spec.Pods.Affinity, pod.Affinity); diff != "" {
		t.Errorf("affinity (-want +got):\n%s", diff)
	}
}
