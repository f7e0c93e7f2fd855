// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// observation is an observation in the sources with its draft.
type observation struct {
	*model.DraftObservation
	source       *source.Observation
	localization *source.Localization
	group        *source.Group   // group that contains it, or nil
	labTest      *source.LabTest // test with this result, or nil
}

// reportAtObservation returns a reporter for the line of the slug.
func (c *compiler) reportAtObservation(o *observation) reporter {
	return c.reportAt(o.source.File, o.source.Slug.Line)
}

var slugPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkSlug rejects malformed and duplicate slugs.
func checkSlug(p reporter, kind, slug string, taken bool) bool {
	if !slugPattern.MatchString(slug) {
		p.errorf("invalid %s slug %q: expected lowercase letters, digits and underscores, such as headache_severe", kind, slug)
		return false
	}
	if taken {
		p.errorf("%s %s is defined twice", kind, slug)
	}
	return !taken
}

func (c *compiler) addObservations() {
	ids := bySlug(c.core.Registry.Observations)
	for _, s := range c.core.Observations {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "observation", s.Slug.Text, c.observations[s.Slug.Text] != nil) {
			continue
		}
		o := &observation{source: s, DraftObservation: &model.DraftObservation{
			Kind:              parseRequired(p, "kind", s.Kind, model.ParseObservationKind),
			Relation:          parseOptional(p, s.Relation, model.ParseRelation),
			Sex:               parseOptional(p, s.Sex, model.ParseSexFilter),
			Seriousness:       parseOptional(p, s.Seriousness, model.ParseSeriousness),
			Topic:             parseOptional(p, s.Topic, model.ParseTopic),
			CommonInOnlookers: s.Onlooker.Value,
		}}
		o.AgeFrom, o.AgeTo = parseAgeRange(p, s.Ages)
		o.DurationFrom, o.DurationTo = parseDurationRange(p, s)
		o.Number = c.registeredNumber(p, ids, "observation", s.Slug.Text, o.Kind.Prefix())
		if inOpenUnitInterval(s.Background.Value) {
			o.Leak = s.Background.Value
		} else {
			p.atLine(s.Background.Line).errorf("invalid background %v of %s: expected a probability strictly between 0 and 1", s.Background.Value, s.Slug.Text)
		}
		c.observations[s.Slug.Text] = o
		c.observationsByDraft[o.DraftObservation] = o
		c.draft.Observations = append(c.draft.Observations, o.DraftObservation)
	}
}

// linkParents links children to the parents in their own entries or in their groups,
// and rejects second parents and cycles.
func (c *compiler) linkParents() {
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s && s.Parent.Line != 0 {
			c.linkParent(c.reportAt(s.File, s.Parent.Line), o, s.Parent.Text)
		}
	}
	for _, g := range c.core.Groups {
		if c.observations[g.Parent.Text] == nil {
			continue // no parent, or already rejected with the group
		}
		for _, item := range g.Items {
			if o := c.observations[item.Text]; o != nil {
				c.linkParent(c.reportAt(g.File, item.Line), o, g.Parent.Text)
			}
		}
	}
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s {
			c.checkParent(o)
		}
	}
	c.breakCycles()
}

func (c *compiler) linkParent(p reporter, child *observation, slug string) {
	parent := c.observations[slug]
	switch {
	case parent == nil:
		p.errorf("unknown observation %s", slug)
	case child.Parent != nil && child.Parent != parent.DraftObservation:
		p.errorf("%s has a second parent %s: an observation must have at most one parent", child.source.Slug.Text, slug)
	default:
		child.Parent = parent.DraftObservation
	}
}

// checkParent checks a child against its parent.
func (c *compiler) checkParent(o *observation) {
	p, s := c.reportAtObservation(o), o.source
	if o.Parent == nil {
		if s.Relation.Line != 0 && s.Parent.Line == 0 {
			p.atLine(s.Relation.Line).errorf("%s has a relation but no parent", s.Slug.Text)
		}
		return
	}
	if s.Relation.Line == 0 || s.Relation.Text == model.NoRelation.String() {
		p.errorf("%s has a parent but no relation", s.Slug.Text)
	}
	if o.Kind != model.Symptom || o.Parent.Kind != model.Symptom {
		p.errorf("both %s and its parent must be symptoms", s.Slug.Text)
	}
	if !includesSex(o.Parent.Sex, o.Sex) {
		p.atLine(s.Sex.Line).errorf("%s applies to sex %v, but its parent only to %v: narrow the child or widen the parent", s.Slug.Text, o.Sex, o.Parent.Sex)
	}
	if o.AgeFrom < o.Parent.AgeFrom || o.AgeTo > o.Parent.AgeTo {
		p.atLine(s.Ages.From.Line).errorf("%s applies from %d to %d months of age, but its parent from %d to %d: narrow the child or widen the parent", s.Slug.Text, o.AgeFrom, o.AgeTo, o.Parent.AgeFrom, o.Parent.AgeTo)
	}
}

// breakCycles reports each cycle of parents once and breaks it, so that later steps can
// follow parents safely.
func (c *compiler) breakCycles() {
	visitedBy := map[*model.DraftObservation]*observation{}
	for _, s := range c.core.Observations {
		start := c.observations[s.Slug.Text]
		if start == nil {
			continue
		}
		current := start.DraftObservation
		for current != nil && visitedBy[current] == nil {
			visitedBy[current] = start
			current = current.Parent
		}
		if current != nil && visitedBy[current] == start && current.Parent != nil {
			o := c.observationsByDraft[current]
			c.reportAtObservation(o).errorf("%s is its own ancestor: its parents form a cycle", o.source.Slug.Text)
			current.Parent = nil
		}
	}
}
