// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// observation is one of the sources and what becomes of it.
type observation struct {
	*model.DraftObservation
	source  *source.Observation
	words   *source.Words
	group   *source.Group   // that it is an item of, or nil
	labTest *source.LabTest // that it is a result of, or nil
}

// at is the line of the slug.
func (c *compiler) atObservation(o *observation) place {
	return c.at(o.source.File, o.source.Slug.Line)
}

var slugForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkSlug refuses slugs of another form and those taken already.
func checkSlug(p place, what, slug string, taken bool) bool {
	if !slugForm.MatchString(slug) {
		p.add("%s slug %q: expected small letters, digits and underscores, as in headache_severe", what, slug)
		return false
	}
	if taken {
		p.add("%s %s is defined twice", what, slug)
	}
	return !taken
}

func (c *compiler) addObservations() {
	ids := bySlug(c.core.Registry.Observations)
	for _, s := range c.core.Observations {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "observation", s.Slug.Text, c.observations[s.Slug.Text] != nil) {
			continue
		}
		o := &observation{source: s, DraftObservation: &model.DraftObservation{
			Kind:        required(p, "kind", s.Kind, model.ParseObservationKind),
			Relation:    vocabulary(p, s.Relation, model.ParseRelation),
			Sex:         vocabulary(p, s.Sex, model.ParseSexFilter),
			Seriousness: vocabulary(p, s.Seriousness, model.ParseSeriousness),
			Topic:       vocabulary(p, s.Topic, model.ParseTopic),
			Onlooker:    s.Onlooker.Value,
		}}
		o.AgeFrom, o.AgeTo = ages(p, s.Ages)
		o.LastsFrom, o.LastsTo = lasts(p, s)
		o.Number = c.number(p, ids, "observation", s.Slug.Text, o.Kind.Prefix())
		if inside(s.Background.Value) {
			o.Leak = s.Background.Value
		} else {
			p.line(s.Background.Line).add("background %v of %s: expected a probability strictly between 0 and 1", s.Background.Value, s.Slug.Text)
		}
		c.observations[s.Slug.Text] = o
		c.observationOf[o.DraftObservation] = o
		c.draft.Observations = append(c.draft.Observations, o.DraftObservation)
	}
}

// linkParents connects children to the parents that their own entries or
// their groups name, and refuses a second parent and a cycle.
func (c *compiler) linkParents() {
	for _, s := range c.core.Observations {
		if o := c.observations[s.Slug.Text]; o != nil && o.source == s && s.Parent.Line != 0 {
			c.linkParent(c.at(s.File, s.Parent.Line), o, s.Parent.Text)
		}
	}
	for _, g := range c.core.Groups {
		if c.observations[g.Parent.Text] == nil {
			continue // none, or refused with the group
		}
		for _, item := range g.Items {
			if o := c.observations[item.Text]; o != nil {
				c.linkParent(c.at(g.File, item.Line), o, g.Parent.Text)
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

func (c *compiler) linkParent(p place, child *observation, slug string) {
	parent := c.observations[slug]
	switch {
	case parent == nil:
		p.add("unknown observation %s", slug)
	case child.Parent != nil && child.Parent != parent.DraftObservation:
		p.add("%s has a second parent %s: an observation has one at most", child.source.Slug.Text, slug)
	default:
		child.Parent = parent.DraftObservation
	}
}

// checkParent holds a child against its parent, of which it is a kind.
func (c *compiler) checkParent(o *observation) {
	p, s := c.atObservation(o), o.source
	if o.Parent == nil {
		if s.Relation.Line != 0 && s.Parent.Line == 0 {
			p.line(s.Relation.Line).add("%s has a relation but no parent", s.Slug.Text)
		}
		return
	}
	if s.Relation.Line == 0 || s.Relation.Text == model.NoRelation.String() {
		p.add("%s has a parent but no relation to it", s.Slug.Text)
	}
	if o.Kind != model.Symptom || o.Parent.Kind != model.Symptom {
		p.add("%s has a parent, and one of the two is no symptom: only symptoms refine symptoms", s.Slug.Text)
	}
	if !covers(o.Parent.Sex, o.Sex) {
		p.line(s.Sex.Line).add("%s applies to sex %v, its parent only to %v: a child applies to nobody to whom its parent does not", s.Slug.Text, o.Sex, o.Parent.Sex)
	}
	if o.AgeFrom < o.Parent.AgeFrom || o.AgeTo > o.Parent.AgeTo {
		p.line(s.Ages.From.Line).add("%s applies from %d to %d months of age, its parent from %d to %d: a child applies to nobody to whom its parent does not", s.Slug.Text, o.AgeFrom, o.AgeTo, o.Parent.AgeFrom, o.Parent.AgeTo)
	}
}

// breakCycles refuses each cycle of parents once, and cuts it, so that later
// steps may follow parents.
func (c *compiler) breakCycles() {
	walkedBy := map[*model.DraftObservation]*observation{}
	for _, s := range c.core.Observations {
		start := c.observations[s.Slug.Text]
		if start == nil {
			continue
		}
		at := start.DraftObservation
		for at != nil && walkedBy[at] == nil {
			walkedBy[at] = start
			at = at.Parent
		}
		if at != nil && walkedBy[at] == start && at.Parent != nil {
			o := c.observationOf[at]
			c.atObservation(o).add("%s is its own ancestor: its parents go round in a cycle", o.source.Slug.Text)
			at.Parent = nil
		}
	}
}
