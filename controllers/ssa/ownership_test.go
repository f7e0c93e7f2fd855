// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestTransferOwnership(t *testing.T) {
	t.Parallel()
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, version, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: version, Subresource: subresource,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const (
		apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
		kind          = `{"f:spec":{"f:type":{}}}`
		port          = `{"f:spec":{"f:ports":{"k:{\"port\":444}":{".":{},"f:name":{}}}}}`
		portAlone     = `{"f:spec":{"f:ports":{"k:{\"port\":444}":{}}}}`
		kindAndPort   = `{"f:spec":{"f:ports":{"k:{\"port\":444}":{".":{},"f:name":{}}},"f:type":{}}}`
		kindAndBoth   = `{"f:spec":{"f:ports":{"k:{\"port\":444}":{".":{},"f:name":{}},"k:{\"port\":80}":{".":{},"f:name":{}}},"f:type":{}}}`
		kindAndOther  = `{"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:name":{}}},"f:type":{}}}`
	)
	items := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "ports", fieldpath.KeyByFields("port", 444)))
	for name, test := range map[string]struct{ before, want []metav1.ManagedFieldsEntry }{
		"no managed fields": {nil, []metav1.ManagedFieldsEntry{entry("us", apply, "v1", "", portAlone)}},
		"another manager owns the item alone": {
			[]metav1.ManagedFieldsEntry{entry("us", apply, "v1", "", kind), entry("edit", update, "v1", "", port)},
			[]metav1.ManagedFieldsEntry{entry("us", apply, "v1", "", kindAndPort)}},
		"another manager owns more": {
			[]metav1.ManagedFieldsEntry{entry("edit", update, "v1", "", kindAndBoth), entry("us", apply, "v1", "", kind)},
			[]metav1.ManagedFieldsEntry{entry("edit", update, "v1", "", kindAndOther), entry("us", apply, "v1", "", kindAndPort)}},
		"we wrote without applying": {
			[]metav1.ManagedFieldsEntry{entry("us", update, "v1", "", kindAndBoth)},
			[]metav1.ManagedFieldsEntry{entry("us", update, "v1", "", kindAndOther), entry("us", apply, "v1", "", port)}},
		"by another version, by a subresource": {
			[]metav1.ManagedFieldsEntry{entry("edit", update, "v2", "", port), entry("kubelet", update, "v1", "status", port)},
			[]metav1.ManagedFieldsEntry{entry("edit", update, "v2", "", port), entry("kubelet", update, "v1", "status", port), entry("us", apply, "v1", "", portAlone)}},
	} {
		got, err := transferOwnership(test.before, items, "v1", "us")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, err := transferOwnership([]metav1.ManagedFieldsEntry{entry("edit", update, "v1", "", "{")}, items, "v1", "us")
	if err == nil || !strings.Contains(err.Error(), "decoding the fields of manager edit") {
		t.Errorf("got error %v", err)
	}
}
