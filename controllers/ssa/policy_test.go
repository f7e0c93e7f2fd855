// SPDX-License-Identifier: Apache-2.0

package ssa

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

// An admissionPolicy is a mutating admission policy for one namespace.
type admissionPolicy struct {
	group, resource string
	operations      []admissionv1.OperationType
	// condition and mutations are CEL. The mutations are JSON patches.
	condition, mutations string
}

var (
	onCreate = []admissionv1.OperationType{admissionv1.Create}
	onWrite  = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
)

// installPolicy creates a policy and waits until it acts on an object like the probe,
// which is not persisted.
func (c *testCluster) installPolicy(name string, p admissionPolicy, probe *unstructured.Unstructured) {
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
	c.createObject(installed)
	c.createObject(binding)
	c.waitForPolicy(probe)
}

// waitForPolicy waits until an object is changed on admission.
func (c *testCluster) waitForPolicy(probe *unstructured.Unstructured) {
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

	deploymentManifest = `
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
	jobManifest = `
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

// mirrorPolicy redirects images to a registry mirror.
func mirrorPolicy(group, resource string, operations []admissionv1.OperationType) admissionPolicy {
	return admissionPolicy{group, resource, operations,
		`!object.spec.template.spec.containers[0].image.startsWith("mirror.example/")`,
		`[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example/" + object.spec.template.spec.containers[0].image}]`}
}

func TestImageRewritingPolicy(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.installPolicy("images", mirrorPolicy("apps", "deployments", onWrite), desired)

	drift := c.expectConverged("when it is made", desired, 1, imagePath)
	c.Expect(drift).NotTo(gomega.BeNil())
	c.Expect(drift.String()).To(gomega.Equal(`Deployment acme has drifted: ` + imagePath +
		` is "mirror.example/registry.example/server:1" instead of "registry.example/server:1"`))

	c.waitForCache(desired)
	before := c.getLive(desired)
	c.restart()
	outcome := c.apply(desired)
	c.Expect(outcome.Reason).To(gomega.Equal("drifted fields: " + imagePath))
	c.Expect(outcome.Changed).To(gomega.BeFalse())
	c.Expect(c.getLive(desired).GetResourceVersion()).To(gomega.Equal(before.GetResourceVersion()), "nothing was to be changed")
	c.expectConverged("after a restart", desired, 0, imagePath)

	changed := desired.DeepCopy()
	c.Expect(unstructured.SetNestedField(changed.Object, int64(2), "spec", "replicas")).To(gomega.Succeed())
	c.expectConverged("when something else is wanted", changed, 1, imagePath)
	c.Expect(c.getLive(desired).Object["spec"]).To(gomega.HaveKeyWithValue("replicas", int64(2)))
}

func TestPolicyInstalledLater(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.expectConverged("when it is made", desired, 1)
	c.installPolicy("images", mirrorPolicy("apps", "deployments", onWrite), desired)
	// The annotation that another client changes in expectConverged triggers the policy.
	c.expectConverged("when the policy acts", desired, 1, imagePath)
	c.expectConverged("next", desired, 0, imagePath)
}

func TestLabelingAndDroppingPolicy(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.installPolicy("labels", admissionPolicy{"apps", "deployments", onWrite,
		`!has(object.metadata.labels) || !("cost" in object.metadata.labels) || object.metadata.labels["team"] != "theirs" || has(object.spec.template.spec.containers[0].ports)`,
		`[JSONPatch{op: "add", path: "/metadata/labels/cost", value: "1"}, JSONPatch{op: "add", path: "/metadata/labels/team", value: "theirs"},
		  JSONPatch{op: "remove", path: "/spec/template/spec/containers/0/ports"}]`}, desired)
	diverging := []string{"metadata.labels.team", `spec.template.spec.containers[name="server"].ports`}
	c.expectConverged("when it is made", desired, 1, diverging...)
	c.restart()
	c.expectConverged("after a restart", desired, 1, diverging...)
}

// TestPolicyOnKindWithoutGeneration has a policy remove sent fields, including the hash.
func TestPolicyOnKindWithoutGeneration(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(`{apiVersion: v1, kind: Secret, metadata: {name: acme}, data: {key: aGlkZGVu, other: aGlkZGVu}}`)
	c.installPolicy("data", admissionPolicy{"", "secrets", onWrite, `has(object.data) && "other" in object.data`,
		`[JSONPatch{op: "remove", path: "/data/other"}, JSONPatch{op: "replace", path: "/data/key", value: "Y2hhbmdlZA=="},
		  JSONPatch{op: "add", path: "/metadata/annotations", value: {}}]`}, desired)
	diverging := []string{"data.key", "data.other", "metadata.annotations." + HashAnnotation}
	drift := c.expectConverged("when it is made", desired, 1, diverging...)
	c.Expect(drift.String()).NotTo(gomega.Or(gomega.ContainSubstring("aGlkZGVu"), gomega.ContainSubstring("Y2hhbmdlZA")))
	c.restart()
	c.expectConverged("after a restart", desired, 1, diverging...)
}

// TestPolicyOnImmutableField covers policies that act only on creation: the values that
// they set cannot be changed later, and the desired values are rejected.
func TestPolicyOnImmutableField(t *testing.T) {
	c := newCluster(t)
	job := c.parseObject(jobManifest)
	c.installPolicy("jobs", mirrorPolicy("batch", "jobs", onCreate), job)
	claim := c.parseObject(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: acme}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`)
	c.installPolicy("claims", admissionPolicy{"", "persistentvolumeclaims", onCreate, `true`,
		`[JSONPatch{op: "replace", path: "/spec/storageClassName", value: "slow"}]`}, claim)
	for desired, diverging := range map[*unstructured.Unstructured]string{job: imagePath, claim: "spec.storageClassName"} {
		c.expectConverged("when it is made", desired, 1, diverging)
		c.restart()
		drift := c.expectConverged("after a restart", desired, 1, diverging)
		c.Expect(drift.ImmutableFields).NotTo(gomega.BeEmpty())
	}
}

func TestDeletionEvictsWriteRecord(t *testing.T) {
	c := newCluster(t)
	c.Expect(c.applier.EvictOnDelete(t.Context(), c.cache, &appsv1.Deployment{})).To(gomega.Succeed())
	desired := c.parseObject(deploymentManifest)
	c.installPolicy("images", mirrorPolicy("apps", "deployments", onWrite), desired)
	c.expectConverged("when it is made", desired, 1, imagePath)
	live := c.getLive(desired)
	_, remembered := c.applier.writes.get(live.GetUID())
	c.Expect(remembered).To(gomega.BeTrue())
	c.Expect(c.Delete(t.Context(), live)).To(gomega.Succeed())
	c.Eventually(func() bool {
		_, remembered := c.applier.writes.get(live.GetUID())
		return remembered
	}).Should(gomega.BeFalse())
}

func TestEvictOnDeleteReturnsWatchErrors(t *testing.T) {
	c := newCluster(t)
	err := c.applier.EvictOnDelete(t.Context(), c.cache, &v1alpha1.Instance{})
	c.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("watching for deletions of *v1alpha1.Instance: ")))
}
