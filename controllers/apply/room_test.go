// SPDX-License-Identifier: Apache-2.0

package apply

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

const serviceText = `{apiVersion: v1, kind: Service, metadata: {name: acme}, spec: {selector: {a: "1"}, ports: [{name: https, port: 443}]}}`

// portsOf gives the numbers of the ports of a Service, or of a Deployment's
// first container, by name.
func (c *cluster) portsOf(wanted *unstructured.Unstructured) map[any]any {
	c.t.Helper()
	object, number, way := c.live(wanted).Object, "port", []string{"spec", "ports"}
	if wanted.GetKind() == "Deployment" {
		containers, _, err := unstructured.NestedSlice(object, "spec", "template", "spec", "containers")
		c.Expect(err).NotTo(gomega.HaveOccurred())
		object, number, way = containers[0].(map[string]any), "containerPort", []string{"ports"}
	}
	ports, _, err := unstructured.NestedSlice(object, way...)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	numbers := map[any]any{}
	for _, each := range ports {
		numbers[each.(map[string]any)["name"]] = each.(map[string]any)[number]
	}
	return numbers
}

// TestPortThatSomebodyChanged leaves the port that somebody added, and puts back
// the one that was changed: refused at first, then with room made for it.
func TestPortThatSomebodyChanged(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(serviceText)
	c.settles("when it is made", wanted, 1)
	c.patch(wanted, "edit", types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":444},{"op":"add","path":"/spec/ports/-","value":{"name":"http","port":80}}]`)
	c.shows(wanted)
	c.settles("when a port was changed", wanted, 3)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(443), "http": int64(80)}))
	for _, entry := range c.live(wanted).GetManagedFields() {
		if entry.Manager == "us" {
			c.Expect(entry.Operation).To(gomega.Equal(metav1.ManagedFieldsOperationApply), "what is no longer sent could not be removed")
		}
	}

	moved := wanted.DeepCopy()
	c.Expect(unstructured.SetNestedSlice(moved.Object, []any{map[string]any{"name": "https", "port": int64(8443)}}, "spec", "ports")).To(gomega.Succeed())
	c.settles("when another port is wanted", moved, 1)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(8443), "http": int64(80)}))
}

func TestPortOfAContainerThatSomebodyChanged(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(deploymentText)
	c.settles("when it is made", wanted, 1)
	const ports = "/spec/template/spec/containers/0/ports"
	c.patch(wanted, "edit", types.JSONPatchType, `[{"op":"replace","path":"`+ports+`/0/containerPort","value":1},{"op":"add","path":"`+ports+`/-","value":{"name":"http","containerPort":80}}]`)
	c.shows(wanted)
	c.settles("when a port was changed", wanted, 3)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(8443), "http": int64(80)}))
}

// TestRoomIsMadeOnlyInWhatWasRead has somebody write between the reading and the
// handing over of a port: that is a conflict, and the next visit tries again.
func TestRoomIsMadeOnlyInWhatWasRead(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(serviceText)
	c.settles("when it is made", wanted, 1)
	c.patch(wanted, "edit", types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":444}]`)
	c.shows(wanted)
	c.applier.Reader = meddlingReader{Reader: c.Client, after: func() {
		c.patch(wanted, "edit", types.MergePatchType, `{"metadata":{"labels":{"a":"1"}}}`)
	}}
	_, err := c.applier.Apply(t.Context(), wanted, c.cached(wanted))
	c.Expect(apierrors.IsConflict(err)).To(gomega.BeTrue(), "got error %v", err)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(444)}))
	c.applier.Reader = c.Client
	c.settles("next", wanted, 3)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(443)}))
}

// TestClashThatIsNotOursStaysRefused is about a duplicate that no item of ours
// was made into: nothing is taken from anybody.
func TestClashThatIsNotOursStaysRefused(t *testing.T) {
	c := newCluster(t)
	wanted := c.object(serviceText)
	c.settles("when it is made", wanted, 1)
	twice := wanted.DeepCopy()
	c.Expect(unstructured.SetNestedSlice(twice.Object, []any{
		map[string]any{"name": "https", "port": int64(443)}, map[string]any{"name": "https", "port": int64(444)},
	}, "spec", "ports")).To(gomega.Succeed())
	_, err := c.applier.Apply(t.Context(), twice, c.cached(wanted))
	c.Expect(apierrors.IsInvalid(err)).To(gomega.BeTrue(), "got error %v", err)
	c.Expect(c.portsOf(wanted)).To(gomega.Equal(map[any]any{"https": int64(443)}))
}

// A meddlingReader has something happen after each reading.
type meddlingReader struct {
	client.Reader
	after func()
}

func (r meddlingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	defer r.after()
	return r.Reader.Get(ctx, key, object, options...)
}
