// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDriftNamesFieldsAndManagers(t *testing.T) {
	t.Parallel()
	owner := func(name, version, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: name, APIVersion: version, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const image = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}}}`
	entries := []metav1.ManagedFieldsEntry{
		owner("us", "apps/v1", image),
		owner("kyverno", "apps/v1", image),
		owner("kyverno", "apps/v1", `{"f:spec":{"f:selector":{}}}`),
		owner("label-bot", "apps/v1", `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
		owner("old", "apps/v1beta1", image),
		owner("broken", "apps/v1", `{`),
		{Manager: "empty", APIVersion: "apps/v1"},
	}
	const sent = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: acme, labels: {a: "1"}}, `
	long := strings.Repeat("x", 200)
	for name, test := range map[string]struct{ sent, live, want string }{
		"a value": {sent + podTemplateSpec(`containers: [{name: a, image: x}]`) + `}`, sent + podTemplateSpec(`containers: [{name: a, image: z}]`) + `}`,
			`Deployment acme has drifted: spec.template.spec.containers[name="a"].image is "z" instead of "x", set by kyverno`},
		"an absent one": {sent + `spec: {replicas: 2}}`, sent + `spec: {}}`,
			`Deployment acme has drifted: spec.replicas is absent instead of 2`},
		"a map of one owner": {sent + `spec: {selector: {matchLabels: {a: "1"}}}}`, sent + `spec: {selector: {matchLabels: {a: "2"}}}}`,
			`Deployment acme has drifted: spec.selector.matchLabels.a is "2" instead of "1", set by kyverno`},
		"a label": {sent + `spec: {}}`, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: acme}}`,
			`Deployment acme has drifted: metadata.labels.a is absent instead of "1", set by label-bot`},
		"what others own below": {sent + podTemplateSpec(`containers: [{name: a, image: x}]`) + `}`, sent + podTemplateSpec(`containers: [{name: b}]`) + `}`,
			`Deployment acme has drifted: spec.template.spec.containers[name="a"] is absent instead of {"image":"x","name":"a"}, set by kyverno`},
		"a long one": {sent + podTemplateSpec(`containers: [{name: b, image: x}]`) + `}`, sent + podTemplateSpec(`containers: [{name: b, image: `+long+`}]`) + `}`,
			`Deployment acme has drifted: spec.template.spec.containers[name="b"].image is "` + long[:99] + `… instead of "x"`},
		"a Secret's": {`{apiVersion: v1, kind: Secret, metadata: {name: acme}, data: {key: c2VudA==, other: c2VudA==}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: acme}, data: {key: bGl2ZQ==}}`,
			`Secret acme has drifted: data.key differs; data.other differs`},
		"many": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: acme}, data: {a: "1", b: "1", c: "1", d: "1", e: "1", f: "1", g: "1"}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: acme}, data: {h: "1"}}`,
			`ConfigMap acme has drifted: data.a is absent instead of "1"; data.b is absent instead of "1"; data.c is absent instead of "1"; data.d is absent instead of "1"; data.e is absent instead of "1"; and 2 more`},
		"nothing": {sent + `spec: {}}`, sent + `spec: {}}`, `<nil>`},
	} {
		desired := parseObject(t, test.sent)
		found, err := compare(desired, parseObject(t, test.live))
		if err != nil {
			t.Fatal(err)
		}
		drift := newDrift(desired, found, entries, "us")
		got := "<nil>"
		if drift != nil {
			got = drift.String()
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}
