// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const serviceManifest = `{apiVersion: v1, kind: Service, metadata: {name: acme}, spec: {selector: {a: "1"}, ports: [{name: https, port: 443}]}}`

// servicePorts returns the port numbers of a Service, or of a Deployment's first
// container, by name.
func (c *testCluster) servicePorts(desired *unstructured.Unstructured) map[any]any {
	c.t.Helper()
	object, number, listPath := c.getLive(desired).Object, "port", []string{"spec", "ports"}
	if desired.GetKind() == "Deployment" {
		containers, _, err := unstructured.NestedSlice(object, "spec", "template", "spec", "containers")
		c.Expect(err).NotTo(gomega.HaveOccurred())
		object, number, listPath = containers[0].(map[string]any), "containerPort", []string{"ports"}
	}
	ports, _, err := unstructured.NestedSlice(object, listPath...)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	numbers := map[any]any{}
	for _, each := range ports {
		numbers[each.(map[string]any)["name"]] = each.(map[string]any)[number]
	}
	return numbers
}

// TestChangedServicePortIsReplaced keeps a port that another client added and restores a
// port that it changed: the first write is rejected, the second succeeds after the
// conflict was resolved.
func TestChangedServicePortIsReplaced(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(serviceManifest)
	c.expectConverged("when it is made", desired, 1)
	c.patchAs(desired, "edit", types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":444},{"op":"add","path":"/spec/ports/-","value":{"name":"http","port":80}}]`)
	c.waitForCache(desired)
	c.expectConverged("when a port was changed", desired, 3)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(443), "http": int64(80)}))
	for _, entry := range c.getLive(desired).GetManagedFields() {
		if entry.Manager == "us" {
			c.Expect(entry.Operation).To(gomega.Equal(metav1.ManagedFieldsOperationApply), "what is no longer sent could not be removed")
		}
	}

	moved := desired.DeepCopy()
	c.Expect(unstructured.SetNestedSlice(moved.Object, []any{map[string]any{"name": "https", "port": int64(8443)}}, "spec", "ports")).To(gomega.Succeed())
	c.expectConverged("when another port is wanted", moved, 1)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(8443), "http": int64(80)}))
}

func TestChangedContainerPortIsReplaced(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(deploymentManifest)
	c.expectConverged("when it is made", desired, 1)
	const ports = "/spec/template/spec/containers/0/ports"
	c.patchAs(desired, "edit", types.JSONPatchType, `[{"op":"replace","path":"`+ports+`/0/containerPort","value":1},{"op":"add","path":"`+ports+`/-","value":{"name":"http","containerPort":80}}]`)
	c.waitForCache(desired)
	c.expectConverged("when a port was changed", desired, 3)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(8443), "http": int64(80)}))
}

// TestListConflictResolutionDetectsConcurrentChange writes between reading a port and
// transferring its ownership. This is a conflict, and the next reconcile retries.
func TestListConflictResolutionDetectsConcurrentChange(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(serviceManifest)
	c.expectConverged("when it is made", desired, 1)
	c.patchAs(desired, "edit", types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":444}]`)
	c.waitForCache(desired)
	c.applier.Reader = hookReader{Reader: c.Client, afterGet: func() {
		c.patchAs(desired, "edit", types.MergePatchType, `{"metadata":{"labels":{"a":"1"}}}`)
	}}
	_, err := c.applier.Apply(t.Context(), desired, c.cached(desired))
	c.Expect(apierrors.IsConflict(err)).To(gomega.BeTrue(), "got error %v", err)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(444)}))
	c.applier.Reader = c.Client
	c.expectConverged("next", desired, 3)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(443)}))
}

// TestUnrelatedListConflictIsReturned covers a duplicate that does not stem from one of
// the operator's items. Other owners keep their items.
func TestUnrelatedListConflictIsReturned(t *testing.T) {
	c := newCluster(t)
	desired := c.parseObject(serviceManifest)
	c.expectConverged("when it is made", desired, 1)
	twice := desired.DeepCopy()
	c.Expect(unstructured.SetNestedSlice(twice.Object, []any{
		map[string]any{"name": "https", "port": int64(443)}, map[string]any{"name": "https", "port": int64(444)},
	}, "spec", "ports")).To(gomega.Succeed())
	_, err := c.applier.Apply(t.Context(), twice, c.cached(desired))
	c.Expect(apierrors.IsInvalid(err)).To(gomega.BeTrue(), "got error %v", err)
	c.Expect(c.servicePorts(desired)).To(gomega.Equal(map[any]any{"https": int64(443)}))
}

// A hookReader calls a hook after each read.
type hookReader struct {
	client.Reader
	afterGet func()
}

func (r hookReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	defer r.afterGet()
	return r.Reader.Get(ctx, key, object, options...)
}
