// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// An Entry is a line of the registry.
type Entry struct {
	Section, Slug, ID string
}

// AssignMissingIDs returns an entry with a new ID for every slug of the content without
// an ID, in file order. It excludes specialists, because their IDs are fixed.
func AssignMissingIDs(core *source.Core) ([]Entry, error) {
	a := newIDAllocator(core.Registry)
	for _, o := range core.Observations {
		kind, err := model.ParseObservationKind(o.Kind.Text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", o.File, o.Slug.Line, o.Slug.Text, err)
		}
		a.allocate("observations", kind.Prefix(), o.Slug.Text)
	}
	for _, c := range core.Conditions {
		a.allocate("conditions", model.ConditionPrefix, c.Slug.Text)
		for _, category := range c.Categories {
			a.allocate("categories", model.CategoryPrefix, category.Text)
		}
	}
	for _, t := range core.LabTests {
		a.allocate("lab_tests", model.LabTestPrefix, t.Slug.Text)
	}
	for _, d := range core.Drugs {
		a.allocate("drugs", model.DrugPrefix, d.Slug.Text)
	}
	return a.entries, nil
}

// idAllocator allocates numbers that have never been used.
type idAllocator struct {
	known     map[string]bool   // section and slug
	maxNumber map[string]uint32 // by prefix
	entries   []Entry
}

func newIDAllocator(r source.Registry) *idAllocator {
	a := &idAllocator{known: map[string]bool{}, maxNumber: map[string]uint32{}}
	sections := map[string]map[source.Scalar]source.Scalar{
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
			a.maxNumber[prefix] = max(a.maxNumber[prefix], number)
		}
	}
	return a
}

func (a *idAllocator) allocate(section, prefix, slug string) {
	if slug == "" || a.known[section+" "+slug] {
		return
	}
	a.known[section+" "+slug] = true
	a.maxNumber[prefix]++
	a.entries = append(a.entries, Entry{Section: section, Slug: slug, ID: model.FormatID(prefix, a.maxNumber[prefix])})
}

// AppendEntries adds entries to the text of a registry, each at the end of its
// section. All other lines, including comments, are unchanged.
func AppendEntries(registry []byte, entries []Entry) ([]byte, error) {
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
		if registry, err = appendToSection(registry, section, added); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

func appendToSection(registry []byte, section string, added []string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(registry, &document); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(registry), "\n"), "\n")
	if len(registry) == 0 {
		lines = nil
	}
	at, indent := len(lines), "  "
	switch key, value := findKey(&document, section); {
	case key == nil:
		lines = append(lines, section+":")
		at++
	case value.Tag == "!!null":
		at = key.Line
	case value.Kind != yaml.MappingNode || value.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("line %d: expected %s to have one slug per line, without braces", key.Line, section)
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

// findKey returns a top-level key of a document and its value.
func findKey(document *yaml.Node, name string) (key, value *yaml.Node) {
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
