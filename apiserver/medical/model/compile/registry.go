// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// registeredNumber returns the number of the ID that the registry assigns to a slug.
func (c *compiler) registeredNumber(p reporter, ids map[string]source.Scalar, kind, slug, prefix string) uint32 {
	id, ok := ids[slug]
	if !ok {
		p.errorf("%s %s has no ID in %s: assign one with `go run ./hack/registry`", kind, slug, source.RegistryFile)
		return 0
	}
	number, ok := model.ParseID(prefix, id.Text)
	if !ok {
		c.reportAt(source.RegistryFile, id.Line).errorf("invalid ID of %s %s: expected an ID such as %s1, got %q", kind, slug, prefix, id.Text)
	}
	return number
}

// keysByLine returns the keys of a mapping in file order.
func keysByLine[V any](mapping map[source.Scalar]V) []source.Scalar {
	return source.SortByLine(maps.Keys(mapping))
}

// bySlug returns the mapping keyed by text only, without lines.
func bySlug[V any](mapping map[source.Scalar]V) map[string]V {
	slugs := make(map[string]V, len(mapping))
	for word, value := range mapping {
		slugs[word.Text] = value
	}
	return slugs
}

// checkRegistry rejects IDs that are assigned twice, removed, or assigned to an unknown
// concept.
func (c *compiler) checkRegistry() {
	registry := c.core.Registry
	assigned := c.collectReservedIDs()
	for _, mapping := range []map[source.Scalar]source.Scalar{registry.Conditions, registry.Observations, registry.Specialists, registry.Categories, registry.LabTests, registry.Drugs} {
		for _, slug := range keysByLine(mapping) {
			id := mapping[slug]
			if previous, ok := assigned[id.Text]; ok {
				c.reportAt(source.RegistryFile, id.Line).errorf("ID %s of %s is already assigned or removed on line %d: IDs must not be reused", id.Text, slug.Text, previous)
			}
			assigned[id.Text] = id.Line
		}
	}
	for _, slug := range keysByLine(registry.Conditions) {
		if c.conditions[slug.Text] == nil {
			c.reportAt(source.RegistryFile, slug.Line).errorf("unknown condition %s: if it was removed, move its ID to removed", slug.Text)
		}
	}
	for _, slug := range keysByLine(registry.Observations) {
		if c.observations[slug.Text] == nil {
			c.reportAt(source.RegistryFile, slug.Line).errorf("unknown observation %s: if it was removed, move its ID to removed", slug.Text)
		}
	}
	for _, slug := range keysByLine(registry.LabTests) {
		if c.labTests[slug.Text] == nil {
			c.reportAt(source.RegistryFile, slug.Line).errorf("unknown laboratory test %s: if it was removed, move its ID to removed", slug.Text)
		}
	}
	for _, slug := range keysByLine(registry.Drugs) {
		if c.drugs[slug.Text] == nil {
			c.reportAt(source.RegistryFile, slug.Line).errorf("unknown drug %s: if it was removed, move its ID to removed", slug.Text)
		}
	}
}

// collectReservedIDs returns the lines of IDs that concepts must not use: IDs that are
// removed, reserved, or aliases.
func (c *compiler) collectReservedIDs() map[string]int {
	registry := c.core.Registry
	lines := map[string]int{}
	for _, id := range registry.Removed {
		lines[id.Text] = id.Line
	}
	for _, ids := range []map[source.Scalar]source.Scalar{registry.Reserved, registry.Aliases} {
		for _, id := range keysByLine(ids) {
			if previous, ok := lines[id.Text]; ok {
				c.reportAt(source.RegistryFile, id.Line).errorf("ID %s is already removed, reserved or an alias on line %d", id.Text, previous)
			}
			lines[id.Text] = id.Line
		}
	}
	for _, id := range keysByLine(registry.Reserved) {
		if registry.Reserved[id].Text == "" {
			c.reportAt(source.RegistryFile, id.Line).errorf("reserved ID %s has no reason", id.Text)
		}
	}
	return lines
}

// addAliases adds the aliases of observations.
func (c *compiler) addAliases() {
	aliases := c.core.Registry.Aliases
	for _, id := range keysByLine(aliases) {
		p, slug := c.reportAt(source.RegistryFile, id.Line), aliases[id].Text
		o := c.observations[slug]
		if o == nil {
			p.errorf("alias %s refers to unknown observation %s", id.Text, slug)
			continue
		}
		number, ok := model.ParseID(o.Kind.Prefix(), id.Text)
		if !ok {
			p.errorf("invalid alias %s of %s: expected an ID such as %s1 for a %v", id.Text, slug, o.Kind.Prefix(), o.Kind)
			continue
		}
		c.draft.Aliases = append(c.draft.Aliases, model.DraftAlias{Number: number, Observation: o.DraftObservation})
	}
}

// addNamedItems adds the specialists and categories of the registry with their names in
// the language.
func (c *compiler) addNamedItems() {
	c.specialists = c.namedItems("specialist", model.SpecialistPrefix, c.core.Registry.Specialists, c.language.Specialists)
	c.categories = c.namedItems("category", model.CategoryPrefix, c.core.Registry.Categories, c.language.Categories)
	for _, slug := range keysByLine(c.core.Registry.Specialists) {
		c.draft.Specialists = append(c.draft.Specialists, c.specialists[slug.Text])
	}
	for _, slug := range keysByLine(c.core.Registry.Categories) {
		c.draft.Categories = append(c.draft.Categories, c.categories[slug.Text])
	}
}

func (c *compiler) namedItems(kind, prefix string, registry, names map[source.Scalar]source.Scalar) map[string]*model.DraftNamedItem {
	named, ids := map[string]*model.DraftNamedItem{}, bySlug(registry)
	for _, slug := range keysByLine(registry) {
		p := c.reportAt(source.RegistryFile, slug.Line)
		named[slug.Text] = &model.DraftNamedItem{Number: c.registeredNumber(p, ids, kind, slug.Text, prefix)}
	}
	for _, slug := range keysByLine(names) {
		p := c.reportAt(c.language.File, slug.Line)
		n, ok := named[slug.Text]
		switch {
		case !ok:
			p.errorf("unknown %s %s: add it to %s or use one listed there", kind, slug.Text, source.RegistryFile)
		case names[slug].Text == "":
			p.errorf("%s %s has an empty name", kind, slug.Text)
		default:
			n.Name = names[slug].Text
		}
	}
	for _, slug := range keysByLine(registry) {
		if named[slug.Text].Name == "" {
			c.reportAt(c.language.File, 0).errorf("%s %s has no name", kind, slug.Text)
		}
	}
	return named
}
