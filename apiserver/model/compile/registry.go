// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// number is the number of the id that the registry gives to a slug.
func (c *compiler) number(p place, ids map[string]source.Word, what, slug, prefix string) uint32 {
	id, ok := ids[slug]
	if !ok {
		p.add("%s %s has no id in %s: `go run ./hack/registry` gives it one", what, slug, source.RegistryFile)
		return 0
	}
	number, ok := model.ParseID(prefix, id.Text)
	if !ok {
		c.at(source.RegistryFile, id.Line).add("%s %s has the id %q, expected one such as %s1", what, slug, id.Text, prefix)
	}
	return number
}

// lines are the keys of a mapping in the order they stand in the file.
func lines[V any](mapping map[source.Word]V) []source.Word {
	return source.ByLine(maps.Keys(mapping))
}

// bySlug leaves the lines of the keys out.
func bySlug[V any](mapping map[source.Word]V) map[string]V {
	slugs := make(map[string]V, len(mapping))
	for word, value := range mapping {
		slugs[word.Text] = value
	}
	return slugs
}

// checkRegistry refuses an id given twice, one that was taken back, and one
// of a concept that is not there.
func (c *compiler) checkRegistry() {
	registry := c.core.Registry
	given := c.checkTakenIDs()
	for _, mapping := range []map[source.Word]source.Word{registry.Conditions, registry.Observations, registry.Specialists, registry.Categories, registry.LabTests, registry.Drugs} {
		for _, slug := range lines(mapping) {
			id := mapping[slug]
			if before, ok := given[id.Text]; ok {
				c.at(source.RegistryFile, id.Line).add("id %s of %s is given or removed on line %d already, and an id is never used again", id.Text, slug.Text, before)
			}
			given[id.Text] = id.Line
		}
	}
	for _, slug := range lines(registry.Conditions) {
		if c.conditions[slug.Text] == nil {
			c.at(source.RegistryFile, slug.Line).add("no condition is called %s: if it was removed, move its id to removed", slug.Text)
		}
	}
	for _, slug := range lines(registry.Observations) {
		if c.observations[slug.Text] == nil {
			c.at(source.RegistryFile, slug.Line).add("no observation is called %s: if it was removed, move its id to removed", slug.Text)
		}
	}
	for _, slug := range lines(registry.LabTests) {
		if c.labTests[slug.Text] == nil {
			c.at(source.RegistryFile, slug.Line).add("no laboratory test is called %s: if it was removed, move its id to removed", slug.Text)
		}
	}
	for _, slug := range lines(registry.Drugs) {
		if c.drugs[slug.Text] == nil {
			c.at(source.RegistryFile, slug.Line).add("no drug is called %s: if it was removed, move its id to removed", slug.Text)
		}
	}
}

// checkTakenIDs are the lines of the ids that no concept may have: removed,
// reserved, or further ids of another.
func (c *compiler) checkTakenIDs() map[string]int {
	registry := c.core.Registry
	taken := map[string]int{}
	for _, id := range registry.Removed {
		taken[id.Text] = id.Line
	}
	for _, ids := range []map[source.Word]source.Word{registry.Reserved, registry.Aliases} {
		for _, id := range lines(ids) {
			if before, ok := taken[id.Text]; ok {
				c.at(source.RegistryFile, id.Line).add("id %s is removed, reserved or an alias on line %d already", id.Text, before)
			}
			taken[id.Text] = id.Line
		}
	}
	for _, id := range lines(registry.Reserved) {
		if registry.Reserved[id].Text == "" {
			c.at(source.RegistryFile, id.Line).add("id %s is reserved without a reason", id.Text)
		}
	}
	return taken
}

// addAliases gives observations their further ids.
func (c *compiler) addAliases() {
	aliases := c.core.Registry.Aliases
	for _, id := range lines(aliases) {
		p, slug := c.at(source.RegistryFile, id.Line), aliases[id].Text
		o := c.observations[slug]
		if o == nil {
			p.add("alias %s is of the unknown observation %s", id.Text, slug)
			continue
		}
		number, ok := model.ParseID(o.Kind.Prefix(), id.Text)
		if !ok {
			p.add("alias %s of %s: expected an id such as %s1, as it is a %v", id.Text, slug, o.Kind.Prefix(), o.Kind)
			continue
		}
		c.draft.Aliases = append(c.draft.Aliases, model.DraftAlias{Number: number, Observation: o.DraftObservation})
	}
}

// addNamed adds the specialists and categories of the registry, named by the
// language.
func (c *compiler) addNamed() {
	c.specialists = c.named("specialist", model.SpecialistPrefix, c.core.Registry.Specialists, c.words.Specialists)
	c.categories = c.named("category", model.CategoryPrefix, c.core.Registry.Categories, c.words.Categories)
	for _, slug := range lines(c.core.Registry.Specialists) {
		c.draft.Specialists = append(c.draft.Specialists, c.specialists[slug.Text])
	}
	for _, slug := range lines(c.core.Registry.Categories) {
		c.draft.Categories = append(c.draft.Categories, c.categories[slug.Text])
	}
}

func (c *compiler) named(what, prefix string, registry, names map[source.Word]source.Word) map[string]*model.DraftNamed {
	named, ids := map[string]*model.DraftNamed{}, bySlug(registry)
	for _, slug := range lines(registry) {
		p := c.at(source.RegistryFile, slug.Line)
		named[slug.Text] = &model.DraftNamed{Number: c.number(p, ids, what, slug.Text, prefix)}
	}
	for _, slug := range lines(names) {
		p := c.at(c.words.File, slug.Line)
		n, ok := named[slug.Text]
		switch {
		case !ok:
			p.add("unknown %s %s: it is not in %s", what, slug.Text, source.RegistryFile)
		case names[slug].Text == "":
			p.add("%s %s has an empty name", what, slug.Text)
		default:
			n.Name = names[slug].Text
		}
	}
	for _, slug := range lines(registry) {
		if named[slug.Text].Name == "" {
			c.at(c.words.File, 0).add("%s %s has no name", what, slug.Text)
		}
	}
	return named
}
