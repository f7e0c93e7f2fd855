// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A policy is a mutating admission policy of one namespace.
type policy struct {
	group, resource string
	operations      []admissionv1.OperationType
	// condition and mutations are CEL: the latter JSON patches.
	condition, mutations string
}

var (
	onCreate = []admissionv1.OperationType{admissionv1.Create}
	onWrite  = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
)

// install makes a policy, and waits until it acts on an object like the probe,
// which is not kept.
func (c *cluster) install(name string, p policy, probe *unstructured.Unstructured) {
	c.t.Helper()
	name = c.namespace + "-" + name
	installed := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": c.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: p.operations,
					Rule:       admissionv1.Rule{APIGroups: []string{p.group}, APIVersions: []string{"v1"}, Resources: []string{p.resource}},
				}}},
			},
			FailurePolicy:      ptr.To(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConditions:    []admissionv1.MatchCondition{{Name: "applies", Expression: p.condition}},
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: p.mutations},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}
	c.make(installed)
	c.make(binding)
	c.acts(probe)
}

// acts waits until an object does not become what it is sent.
func (c *cluster) acts(probe *unstructured.Unstructured) {
	c.t.Helper()
	c.Eventually(func() []difference {
		object := probe.DeepCopy()
		object.SetName("probe")
		if err := c.Create(c.t.Context(), object, client.DryRunAll); err != nil {
			c.t.Fatal(err)
		}
		object.SetName(probe.GetName())
		found, err := compare(probe, object)
		if err != nil {
			c.t.Fatal(err)
		}
		return found
	}).ShouldNot(gomega.BeEmpty())
}

const (
	imagePath = `spec.template.spec.containers[name="server"].image`

	deploymentText = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme, labels: {team: ours}}
spec:
  replicas: 1
  selector: {matchLabels: {app: acme}}
  template:
    metadata: {labels: {app: acme}}
    spec:
      containers:
      - {name: server, image: "registry.example/server:1", ports: [{name: https, containerPort: 8443}], resources: {requests: {cpu: 1000m}}}
`
	jobText = `
apiVersion: batch/v1
kind: Job
metadata: {name: acme}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: server, image: "registry.example/server:1"}]
`
)

// mirror has images come from elsewhere, as registries that cache do.
func mirror(group, resource string, operations []admissionv1.OperationType) policy {
	return policy{group, resource, operations,
		`!object.spec.template.spec.containers[0].image.startsWith("mirror.example/")`,
		`[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example/" + object.spec.template.spec.containers[0].image}]`}
}

func TestPolicyThatRewritesImages(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(deploymentText)
	c.install("images", mirror("apps", "deployments", onWrite), wanted)

	divergence := c.settles("when it is made", wanted, 1, imagePath)
	c.Expect(divergence).NotTo(gomega.BeNil())
	c.Expect(divergence.String()).To(gomega.Equal(`Deployment acme is not as sent: ` + imagePath +
		` is "mirror.example/registry.example/server:1" instead of "registry.example/server:1"`))

	c.shows(wanted)
	before := c.live(wanted)
	c.restart()
	outcome := c.visit(wanted)
	c.Expect(outcome.Reason).To(gomega.Equal("somebody changed " + imagePath))
	c.Expect(outcome.Changed).To(gomega.BeFalse())
	c.Expect(c.live(wanted).GetResourceVersion()).To(gomega.Equal(before.GetResourceVersion()), "nothing was to be changed")
	c.settles("after a restart", wanted, 0, imagePath)

	changed := wanted.DeepCopy()
	c.Expect(unstructured.SetNestedField(changed.Object, int64(2), "spec", "replicas")).To(gomega.Succeed())
	c.settles("when something else is wanted", changed, 1, imagePath)
	c.Expect(c.live(wanted).Object["spec"]).To(gomega.HaveKeyWithValue("replicas", int64(2)))
}

func TestPolicyThatComesLater(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(deploymentText)
	c.settles("when it is made", wanted, 1)
	c.install("images", mirror("apps", "deployments", onWrite), wanted)
	// The change of somebody's annotation in here lets the policy act.
	c.settles("when the policy acts", wanted, 1, imagePath)
	c.settles("next", wanted, 0, imagePath)
}

func TestPolicyThatLabelsAndDrops(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(deploymentText)
	c.install("labels", policy{"apps", "deployments", onWrite,
		`!has(object.metadata.labels) || !("cost" in object.metadata.labels) || object.metadata.labels["team"] != "theirs" || has(object.spec.template.spec.containers[0].ports)`,
		`[JSONPatch{op: "add", path: "/metadata/labels/cost", value: "1"}, JSONPatch{op: "add", path: "/metadata/labels/team", value: "theirs"},
		  JSONPatch{op: "remove", path: "/spec/template/spec/containers/0/ports"}]`}, wanted)
	diverging := []string{"metadata.labels.team", `spec.template.spec.containers[name="server"].ports`}
	c.settles("when it is made", wanted, 1, diverging...)
	c.restart()
	c.settles("after a restart", wanted, 1, diverging...)
}

// TestPolicyOnAKindWithoutGeneration has a policy take away what is sent, and
// the hash with it.
func TestPolicyOnAKindWithoutGeneration(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(`{apiVersion: v1, kind: Secret, metadata: {name: acme}, data: {key: aGlkZGVu, other: aGlkZGVu}}`)
	c.install("data", policy{"", "secrets", onWrite, `has(object.data) && "other" in object.data`,
		`[JSONPatch{op: "remove", path: "/data/other"}, JSONPatch{op: "replace", path: "/data/key", value: "Y2hhbmdlZA=="},
		  JSONPatch{op: "add", path: "/metadata/annotations", value: {}}]`}, wanted)
	diverging := []string{"data.key", "data.other", "metadata.annotations." + HashAnnotation}
	divergence := c.settles("when it is made", wanted, 1, diverging...)
	c.Expect(divergence.String()).NotTo(gomega.Or(gomega.ContainSubstring("aGlkZGVu"), gomega.ContainSubstring("Y2hhbmdlZA")))
	c.restart()
	c.settles("after a restart", wanted, 1, diverging...)
}

// TestPolicyOnWhatCannotBeChanged is about policies that act only when an object
// is made: what they put cannot be changed later, and not even sent.
func TestPolicyOnWhatCannotBeChanged(t *testing.T) {
	c := newCluster(t)
	job := c.object(jobText)
	c.install("jobs", mirror("batch", "jobs", onCreate), job)
	claim := c.object(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: acme}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`)
	c.install("claims", policy{"", "persistentvolumeclaims", onCreate, `true`,
		`[JSONPatch{op: "replace", path: "/spec/storageClassName", value: "slow"}]`}, claim)
	for wanted, diverging := range map[*unstructured.Unstructured]string{job: imagePath, claim: "spec.storageClassName"} {
		c.settles("when it is made", wanted, 1, diverging)
		c.restart()
		divergence := c.settles("after a restart", wanted, 1, diverging)
		c.Expect(divergence.Immutable).NotTo(gomega.BeEmpty())
	}
}

func TestWhatIsDeletedIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.Expect(c.applier.ForgetDeleted(t.Context(), c.cache, &appsv1.Deployment{})).To(gomega.Succeed())
	wanted := c.object(deploymentText)
	c.install("images", mirror("apps", "deployments", onWrite), wanted)
	c.settles("when it is made", wanted, 1, imagePath)
	live := c.live(wanted)
	_, remembered := c.applier.memory.of(live.GetUID())
	c.Expect(remembered).To(gomega.BeTrue())
	c.Expect(c.Delete(t.Context(), live)).To(gomega.Succeed())
	c.Eventually(func() bool {
		_, remembered := c.applier.memory.of(live.GetUID())
		return remembered
	}).Should(gomega.BeFalse())
}

func TestForgetDeletedTellsWhatCannotBeWatched(t *testing.T) {
	c := newCluster(t)
	err := c.applier.ForgetDeleted(t.Context(), c.cache, &v1alpha1.Instance{})
	c.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("watching for deletions of *v1alpha1.Instance: ")))
}
