// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestEveryKindConverges creates an object of each kind that the operator writes. One
// request creates it, and no other follows.
func TestEveryKindConverges(t *testing.T) {
	c := newCluster(t)
	for kind, text := range map[string]string{
		"Deployment":            deploymentManifest,
		"Job":                   jobManifest,
		"ConfigMap":             `{apiVersion: v1, kind: ConfigMap, metadata: {name: acme}, data: {a: "1", empty: ""}}`,
		"Secret":                `{apiVersion: v1, kind: Secret, metadata: {name: acme}, type: Opaque, data: {a: YQ==, empty: ""}}`,
		"ServiceAccount":        `{apiVersion: v1, kind: ServiceAccount, metadata: {name: acme}, automountServiceAccountToken: false}`,
		"Service":               `{apiVersion: v1, kind: Service, metadata: {name: acme}, spec: {selector: {a: "1"}, ports: [{name: https, port: 443, targetPort: https}]}}`,
		"PersistentVolumeClaim": `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: acme}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`,
		"PodDisruptionBudget":   `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: acme}, spec: {maxUnavailable: 1, selector: {matchLabels: {a: "1"}}}}`,
		"NetworkPolicy": `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: acme}, spec: {podSelector: {}, policyTypes: [Ingress, Egress],
			ingress: [{from: [{namespaceSelector: {}}], ports: [{port: 443}]}], egress: [{ports: [{port: 53, protocol: UDP}, {port: 53}]}]}}`,
	} {
		c.expectConverged(kind, c.parseObject(text), 1)
	}
}

func TestApplyReclaimsFieldFromOtherManager(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.expectConverged("when it is made", desired, 1)
	theirs := c.parseObject(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme, labels: {cost: "1"}}
spec: {template: {spec: {containers: [{name: server, image: evil}, {name: sidecar, image: proxy}]}}}
`)
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner("them"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	c.waitForCache(desired)
	c.expectConverged("when they took the image", desired, 1)
	live := c.getLive(desired)
	containers, _, err := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	c.Expect(err).NotTo(gomega.HaveOccurred())
	images := map[any]any{}
	for _, each := range containers {
		images[each.(map[string]any)["name"]] = each.(map[string]any)["image"]
	}
	c.Expect(images).To(gomega.Equal(map[any]any{"server": "registry.example/server:1", "sidecar": "proxy"}))
	c.Expect(live.GetLabels()).To(gomega.HaveKeyWithValue("cost", "1"))
}

func TestDuplicateEnvironmentVariableIsRemoved(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.Expect(unstructured.SetNestedSlice(desired.Object, []any{map[string]any{
		"name": "server", "image": "registry.example/server:1", "env": []any{map[string]any{"name": "LEVEL", "value": "info"}},
	}}, "spec", "template", "spec", "containers")).To(gomega.Succeed())
	c.expectConverged("when it is made", desired, 1)
	c.patchAs(desired, "edit", types.JSONPatchType, `[{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"LEVEL","value":"debug"}}]`)
	c.waitForCache(desired)
	c.expectConverged("when a variable is there twice", desired, 1)
	found, err := compare(desired, c.getLive(desired))
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Expect(found).To(gomega.BeEmpty())
}
