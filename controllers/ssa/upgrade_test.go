// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestApplyRemovesFieldsOfCreatedSecret checks that fields which are no longer desired
// are removed from an object made by Create, as from an applied one, and that fields of
// other owners are kept.
func TestApplyRemovesFieldsOfCreatedSecret(t *testing.T) {
	c := newCluster(t)
	first := c.parseObject(`
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {old: "1", kept: "1"}}
data: {revoked: YQ==, kept: YQ==}`)
	first.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "0d7c1e52"}})
	if _, err := c.applier.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	c.patchAs(first, "other", types.MergePatchType, `{"data":{"theirs":"YQ=="}}`)
	c.waitForCache(first)
	second := c.parseObject(`
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {kept: "1"}}
data: {kept: YQ==}`)
	c.apply(second)
	live := c.getLive(second)
	data, _, err := unstructured.NestedStringMap(live.Object, "data")
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Expect(data).To(gomega.Equal(map[string]string{"kept": "YQ==", "theirs": "YQ=="}))
	c.Expect(live.GetLabels()).To(gomega.Equal(map[string]string{"kept": "1"}))
	c.Expect(live.GetOwnerReferences()).To(gomega.BeEmpty())
	c.expectConverged("once it was handed over", second, 0)

	c.restart()
	unstructured.RemoveNestedField(second.Object, "metadata", "labels")
	c.expectConverged("the next change", second, 1)
	c.Expect(c.getLive(second).GetLabels()).To(gomega.BeEmpty())
}
