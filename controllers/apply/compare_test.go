// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"
)

// parse reads the fields of an object as they come from JSON.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return fields
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ sent, live, want string }{
		"equal":                  {`{spec: {replicas: 2}}`, `{spec: {replicas: 2}}`, ""},
		"another value":          {`{spec: {replicas: 2}}`, `{spec: {replicas: 3}}`, "spec.replicas"},
		"a default":              {`{spec: {replicas: 2}}`, `{spec: {replicas: 2, paused: false}, status: {}}`, ""},
		"a field is gone":        {`{spec: {replicas: 2}}`, `{spec: {}}`, "spec.replicas"},
		"a branch is gone":       {`{spec: {replicas: 2}}`, `{}`, "spec"},
		"a branch is a value":    {`{spec: {replicas: 2}}`, `{spec: text}`, "spec"},
		"another type":           {`{spec: {replicas: 2}}`, `{spec: {replicas: "2"}}`, "spec.replicas"},
		"a zero left out":        {`{a: false, b: "", c: 0, d: null}`, `{}`, ""},
		"a zero that is none":    {`{a: false}`, `{a: true}`, "a"},
		"an empty list left out": {`{a: []}`, `{}`, ""},
		"an empty list that is none": {
			`{a: []}`, `{a: [1]}`, "a",
		},
		"a list in order":          {`{args: [serve, --x]}`, `{args: [serve, --x]}`, ""},
		"a list in another order":  {`{args: [serve, --x]}`, `{args: [--x, serve]}`, "args.0"},
		"a longer list":            {`{args: [serve]}`, `{args: [serve, --x]}`, "args"},
		"a shorter list":           {`{args: [serve, --x]}`, `{args: [serve]}`, "args"},
		"a list is gone":           {`{args: [serve]}`, `{}`, "args"},
		"a default in a list":      {`{rules: [{a: 1}]}`, `{rules: [{a: 1, b: 2}]}`, ""},
		"somebody's sidecar":       {`{spec: {template: {spec: {containers: [{name: a, image: x}]}}}}`, `{spec: {template: {spec: {containers: [{name: b}, {name: a, image: x, tty: false}]}}}}`, ""},
		"our container changed":    {`{spec: {template: {spec: {containers: [{name: a, image: x}]}}}}`, `{spec: {template: {spec: {containers: [{name: a, image: y}]}}}}`, "spec.template.spec.containers.image"},
		"our container is gone":    {`{spec: {template: {spec: {containers: [{name: a, image: x}]}}}}`, `{spec: {template: {spec: {containers: [{name: b, image: x}]}}}}`, "spec.template.spec.containers"},
		"a default in a key":       {`{spec: {ports: [{port: 443}]}}`, `{spec: {ports: [{port: 443, protocol: TCP}]}}`, ""},
		"a key of two fields":      {`{spec: {ports: [{port: 53, protocol: UDP, name: u}]}}`, `{spec: {ports: [{port: 53, protocol: TCP, name: t}, {port: 53, protocol: UDP, name: u}]}}`, ""},
		"ports of a policy":        {`{spec: {ingress: [{ports: [{port: 443}]}]}}`, `{spec: {ingress: [{ports: [{port: 443}, {port: 22}]}]}}`, "spec.ingress.0.ports"},
		"a rule somebody added":    {`{spec: {ingress: [{ports: [{port: 443}]}]}}`, `{spec: {ingress: [{ports: [{port: 443}]}, {}]}}`, "spec.ingress"},
		"a quantity, another word": {`{limits: {cpu: "1000m"}}`, `{limits: {cpu: "1"}}`, ""},
		"a quantity as a number":   {`{requests: {cpu: "2000m"}}`, `{requests: {cpu: 2}}`, ""},
		"another quantity":         {`{limits: {memory: 1Gi}}`, `{limits: {memory: 1G}}`, "limits.memory"},
		"a quantity that is none":  {`{limits: {memory: 1Gi}}`, `{limits: {memory: much}}`, "limits.memory"},
		"no quantity":              {`{data: {a: "1000m"}}`, `{data: {a: "1"}}`, "data.a"},
	} {
		if got := Difference(parse(t, test.sent), parse(t, test.live)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestDifferenceOfSupersets checks that whatever an API server adds to an object
// is no difference, and that a change of what was sent always is.
func TestDifferenceOfSupersets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := drawObject(t, 3)
		live := withAdditions(t, sent)
		if path := Difference(sent, live); path != "" {
			t.Fatalf("sent %v, live %v: differs in %s", sent, live, path)
		}
		changed, path := withChange(t, sent, live)
		if got := Difference(sent, changed); got == "" {
			t.Fatalf("sent %v, live %v: the change of %s was not seen", sent, changed, path)
		}
	})
}

var fieldNames = rapid.SampledFrom([]string{"a", "b", "c", "d"})

func drawObject(t *rapid.T, depth int) map[string]any {
	fields := map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(fieldNames, 1, 4, rapid.ID).Draw(t, "fields") {
		switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			fields[name] = drawObject(t, depth-1)
		case kind == 1:
			fields[name] = []any{rapid.Int64().Draw(t, "item"), rapid.String().Draw(t, "item")}
		default:
			fields[name] = rapid.Int64Min(1).Draw(t, "value")
		}
	}
	return fields
}

func withAdditions(t *rapid.T, fields map[string]any) map[string]any {
	more := map[string]any{}
	for name, value := range fields {
		if branch, ok := value.(map[string]any); ok {
			value = withAdditions(t, branch)
		}
		more[name] = value
	}
	if rapid.Bool().Draw(t, "add") {
		more["added"] = "by somebody else"
	}
	return more
}

// withChange changes one field that was sent.
func withChange(t *rapid.T, sent, live map[string]any) (changed map[string]any, path string) {
	changed = map[string]any{}
	for name, value := range live {
		changed[name] = value
	}
	name := rapid.SampledFrom(sortedKeys(sent)).Draw(t, "changed")
	if branch, ok := sent[name].(map[string]any); ok {
		below, belowPath := withChange(t, branch, live[name].(map[string]any))
		changed[name] = below
		return changed, name + "." + belowPath
	}
	changed[name] = "changed"
	return changed, name
}
