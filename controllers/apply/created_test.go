// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestWhatWasCreatedIsRemoved: of an object that Create made, what is not wanted
// any more goes as it does from one that was applied, and what is somebody else's
// stays.
func TestWhatWasCreatedIsRemoved(t *testing.T) {
	c := newCluster(t)
	first := c.object(`
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {old: "1", kept: "1"}}
data: {revoked: YQ==, kept: YQ==}`)
	first.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "0d7c1e52"}})
	if _, err := c.applier.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	c.patch(first, "somebody", types.MergePatchType, `{"data":{"theirs":"YQ=="}}`)
	c.shows(first)
	second := c.object(`
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {kept: "1"}}
data: {kept: YQ==}`)
	c.visit(second)
	live := c.live(second)
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Expect(data).To(gomega.Equal(map[string]string{"kept": "YQ==", "theirs": "YQ=="}))
	c.Expect(live.GetLabels()).To(gomega.Equal(map[string]string{"kept": "1"}))
	c.Expect(live.GetOwnerReferences()).To(gomega.BeEmpty())
	c.settles("once it was handed over", second, 0)

	c.restart()
	unstructured.RemoveNestedField(second.Object, "metadata", "labels")
	c.settles("the next change", second, 1)
	c.Expect(c.live(second).GetLabels()).To(gomega.BeEmpty())
}
