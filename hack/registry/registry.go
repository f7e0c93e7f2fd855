// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// An Entry is a line of the registry.
type Entry struct {
	Section, Slug, ID string
}

// Missing gives an id to every slug of the content that has none, in the
// order of the files. Specialists have none to miss: theirs are fixed.
func Missing(core *source.Core) ([]Entry, error) {
	a := newAssigner(core.Registry)
	for _, o := range core.Observations {
		kind, err := model.ParseObservationKind(o.Kind.Text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", o.File, o.Slug.Line, o.Slug.Text, err)
		}
		a.assign("observations", kind.Prefix(), o.Slug.Text)
	}
	for _, c := range core.Conditions {
		a.assign("conditions", model.ConditionPrefix, c.Slug.Text)
		for _, category := range c.Categories {
			a.assign("categories", model.CategoryPrefix, category.Text)
		}
	}
	for _, t := range core.LabTests {
		a.assign("lab_tests", model.LabTestPrefix, t.Slug.Text)
	}
	for _, d := range core.Drugs {
		a.assign("drugs", model.DrugPrefix, d.Slug.Text)
	}
	return a.entries, nil
}

// assigner hands out numbers that were never handed out before.
type assigner struct {
	known   map[string]bool   // section and slug
	highest map[string]uint32 // by prefix
	entries []Entry
}

func newAssigner(r source.Registry) *assigner {
	a := &assigner{known: map[string]bool{}, highest: map[string]uint32{}}
	sections := map[string]map[source.Word]source.Word{
		"conditions": r.Conditions, "observations": r.Observations, "specialists": r.Specialists, "categories": r.Categories,
		"lab_tests": r.LabTests, "drugs": r.Drugs,
	}
	ids := slices.AppendSeq(slices.Clone(r.Removed), maps.Keys(r.Reserved))
	ids = slices.AppendSeq(ids, maps.Keys(r.Aliases))
	for section, slugs := range sections {
		for slug := range slugs {
			a.known[section+" "+slug.Text] = true
		}
		ids = slices.AppendSeq(ids, maps.Values(slugs))
	}
	for _, id := range ids {
		prefix := id.Text[:strings.Index(id.Text, "_")+1]
		if number, ok := model.ParseID(prefix, id.Text); ok {
			a.highest[prefix] = max(a.highest[prefix], number)
		}
	}
	return a
}

func (a *assigner) assign(section, prefix, slug string) {
	if slug == "" || a.known[section+" "+slug] {
		return
	}
	a.known[section+" "+slug] = true
	a.highest[prefix]++
	a.entries = append(a.entries, Entry{Section: section, Slug: slug, ID: model.FormatID(prefix, a.highest[prefix])})
}

// Append adds the entries to the text of a registry, each at the end of its
// section, and leaves every other line as it is, comments included.
func Append(registry []byte, entries []Entry) ([]byte, error) {
	for _, section := range []string{"conditions", "observations", "categories", "lab_tests", "drugs"} {
		var added []string
		for _, e := range entries {
			if e.Section == section {
				added = append(added, e.Slug+": "+e.ID)
			}
		}
		if len(added) == 0 {
			continue
		}
		var err error
		if registry, err = appendTo(registry, section, added); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

func appendTo(registry []byte, section string, added []string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(registry, &document); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(registry), "\n"), "\n")
	if len(registry) == 0 {
		lines = nil
	}
	at, indent := len(lines), "  "
	switch key, value := find(&document, section); {
	case key == nil:
		lines = append(lines, section+":")
		at++
	case value.Tag == "!!null":
		at = key.Line
	case value.Kind != yaml.MappingNode || value.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("line %d: expected %s to be one slug a line, without braces", key.Line, section)
	default:
		last := value.Content[len(value.Content)-1]
		at, indent = last.Line, strings.Repeat(" ", value.Column-1)
	}
	for i, line := range added {
		added[i] = indent + line
	}
	lines = slices.Insert(lines, at, added...)
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// find is a key at the top of a document and its value.
func find(document *yaml.Node, name string) (key, value *yaml.Node) {
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, nil
	}
	mapping := document.Content[0].Content
	for i := 0; i+1 < len(mapping); i += 2 {
		if mapping[i].Value == name {
			return mapping[i], mapping[i+1]
		}
	}
	return nil, nil
}
