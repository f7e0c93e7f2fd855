// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

func (c *compiler) addGroups() {
	for _, s := range c.core.Groups {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "group", s.Slug.Text, c.groups[s.Slug.Text] != nil) {
			continue
		}
		g := &model.DraftGroup{
			Type:    required(p, "type", s.Type, model.ParseGroupType),
			Ordered: s.Ordered.Value,
		}
		if parent := c.observations[s.Parent.Text]; parent != nil {
			g.Parent = parent.DraftObservation
		} else if s.Parent.Line != 0 {
			p.line(s.Parent.Line).add("unknown observation %s", s.Parent.Text)
		}
		c.addItems(g, s)
		c.checkOrder(p, g, s)
		c.checkTimes(g, s)
		c.groups[s.Slug.Text] = g
		c.draft.Groups = append(c.draft.Groups, g)
	}
}

func (c *compiler) addItems(g *model.DraftGroup, s *source.Group) {
	if len(s.Items) < 2 {
		c.at(s.File, s.Slug.Line).add("group %s has %d items, expected two or more: a single one needs no group", s.Slug.Text, len(s.Items))
	}
	for _, item := range s.Items {
		p := c.at(s.File, item.Line)
		o := c.observations[item.Text]
		switch {
		case o == nil:
			p.add("unknown observation %s", item.Text)
			continue
		case o.group != nil:
			p.add("%s is an item of group %s already: an observation is asked in one group at most", item.Text, o.group.Slug.Text)
			continue
		case o.source.Professional.Value:
			p.add("%s is professional: it is never asked of patients, in a group neither", item.Text)
		case o.Parent != nil && g.Parent == nil:
			p.add("%s has a parent that group %s does not name: the items of a group are all children of the group's parent", item.Text, s.Slug.Text)
		}
		o.group = s
		g.Items = append(g.Items, o.DraftObservation)
	}
}

// checkOrder refuses an order in groups that have none: only how bad and how
// long something is runs from less to more, one of them at a time.
func (c *compiler) checkOrder(p place, g *model.DraftGroup, s *source.Group) {
	if !g.Ordered {
		return
	}
	if g.Type != model.GroupSingle || s.Parent.Line == 0 {
		p.line(s.Ordered.Line).add("group %s is ordered: it must be group_single and have a parent", s.Slug.Text)
	}
	for i, o := range g.Items {
		if o.Relation != model.SeverityRelation && o.Relation != model.Duration {
			p.line(s.Items[i].Line).add("group %s is ordered, and an item has the relation %v: expected severity or duration", s.Slug.Text, o.Relation)
		}
	}
}

// checkTimes refuses times that overlap in a group of which one item holds.
func (c *compiler) checkTimes(g *model.DraftGroup, s *source.Group) {
	if g.Type != model.GroupSingle {
		return
	}
	var before *model.DraftObservation
	for _, o := range g.Items {
		if o.LastsTo == 0 {
			continue
		}
		if before != nil && o.LastsFrom < before.LastsTo {
			own, earlier := c.observationOf[o].source, c.observationOf[before].source
			c.at(own.File, own.Lasts.Line()).add("%s begins before %s ends, and group %s names it first: of its items one holds, the shorter before the longer",
				own.Slug.Text, earlier.Slug.Text, s.Slug.Text)
		}
		before = o
	}
}

func (c *compiler) addTuples() {
	taken := map[string]bool{}
	for _, s := range c.core.Tuples {
		p := c.at(s.File, s.Slug.Line)
		if !checkSlug(p, "tuple", s.Slug.Text, taken[s.Slug.Text]) {
			continue
		}
		taken[s.Slug.Text] = true
		t := model.DraftTuple{
			Level:  required(p, "level", s.Level, model.ParseTriageLevel),
			Reason: c.text(s.File, "reason of tuple "+s.Slug.Text, s.Reason),
		}
		if s.Level.Text == model.NoTriageLevel.String() {
			p.line(s.Level.Line).add("tuple %s has no triage level", s.Slug.Text)
		}
		if len(s.Observations) < 2 {
			p.add("tuple %s has %d observations, expected two or more", s.Slug.Text, len(s.Observations))
		}
		seen := map[string]bool{}
		for _, w := range s.Observations {
			o := c.observations[w.Text]
			switch {
			case o == nil:
				p.line(w.Line).add("unknown observation %s", w.Text)
				continue
			case seen[w.Text]:
				p.line(w.Line).add("tuple %s names %s twice", s.Slug.Text, w.Text)
			}
			seen[w.Text] = true
			t.Observations = append(t.Observations, o.DraftObservation)
		}
		c.draft.Tuples = append(c.draft.Tuples, t)
	}
}
