// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

func (c *compiler) addGroups() {
	for _, s := range c.core.Groups {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "group", s.Slug.Text, c.groups[s.Slug.Text] != nil) {
			continue
		}
		g := &model.DraftGroup{
			Type:    parseRequired(p, "type", s.Type, model.ParseGroupType),
			Ordered: s.Ordered.Value,
		}
		if parent := c.observations[s.Parent.Text]; parent != nil {
			g.Parent = parent.DraftObservation
		} else if s.Parent.Line != 0 {
			p.atLine(s.Parent.Line).errorf("unknown observation %s", s.Parent.Text)
		}
		c.addGroupItems(g, s)
		c.checkGroupOrder(p, g, s)
		c.checkDurationOverlap(g, s)
		c.groups[s.Slug.Text] = g
		c.draft.Groups = append(c.draft.Groups, g)
	}
}

func (c *compiler) addGroupItems(g *model.DraftGroup, s *source.Group) {
	if len(s.Items) < 2 {
		c.reportAt(s.File, s.Slug.Line).errorf("group %s has %d items, expected two or more: a single one needs no group", s.Slug.Text, len(s.Items))
	}
	for _, item := range s.Items {
		p := c.reportAt(s.File, item.Line)
		o := c.observations[item.Text]
		switch {
		case o == nil:
			p.errorf("unknown observation %s", item.Text)
			continue
		case o.group != nil:
			p.errorf("%s is already an item of group %s: an observation belongs to at most one group", item.Text, o.group.Slug.Text)
			continue
		case o.source.Professional.Value:
			p.errorf("%s is professional: patients are never asked about it, so remove it from the group", item.Text)
		case o.Parent != nil && g.Parent == nil:
			p.errorf("%s has a different parent from group %s: all items of a group must be children of the group's parent", item.Text, s.Slug.Text)
		}
		o.group = s
		g.Items = append(g.Items, o.DraftObservation)
	}
}

// checkGroupOrder rejects an order for groups that cannot have one: only single-choice
// groups of severity or duration run from less to more.
func (c *compiler) checkGroupOrder(p reporter, g *model.DraftGroup, s *source.Group) {
	if !g.Ordered {
		return
	}
	if g.Type != model.GroupSingle || s.Parent.Line == 0 {
		p.atLine(s.Ordered.Line).errorf("group %s is ordered: it must be group_single and have a parent", s.Slug.Text)
	}
	for i, o := range g.Items {
		if o.Relation != model.SeverityRelation && o.Relation != model.DurationRelation {
			p.atLine(s.Items[i].Line).errorf("group %s is ordered, but an item has the relation %v: expected severity or duration", s.Slug.Text, o.Relation)
		}
	}
}

// checkDurationOverlap rejects overlapping durations in a group with mutually exclusive
// items.
func (c *compiler) checkDurationOverlap(g *model.DraftGroup, s *source.Group) {
	if g.Type != model.GroupSingle {
		return
	}
	var before *model.DraftObservation
	for _, o := range g.Items {
		if o.DurationTo == 0 {
			continue
		}
		if before != nil && o.DurationFrom < before.DurationTo {
			own, earlier := c.observationsByDraft[o].source, c.observationsByDraft[before].source
			c.reportAt(own.File, own.Duration.Line()).errorf("%s begins before %s ends, but comes after it in group %s: items must not overlap, shorter durations first",
				own.Slug.Text, earlier.Slug.Text, s.Slug.Text)
		}
		before = o
	}
}

func (c *compiler) addTuples() {
	taken := map[string]bool{}
	for _, s := range c.core.Tuples {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "tuple", s.Slug.Text, taken[s.Slug.Text]) {
			continue
		}
		taken[s.Slug.Text] = true
		t := model.DraftTuple{
			Level:  parseRequired(p, "level", s.Level, model.ParseTriageLevel),
			Reason: c.requiredText(s.File, "reason of tuple "+s.Slug.Text, s.Reason),
		}
		if s.Level.Text == model.NoTriageLevel.String() {
			p.atLine(s.Level.Line).errorf("tuple %s has no triage level", s.Slug.Text)
		}
		if len(s.Observations) < 2 {
			p.errorf("tuple %s has %d observations, expected two or more", s.Slug.Text, len(s.Observations))
		}
		seen := map[string]bool{}
		for _, w := range s.Observations {
			o := c.observations[w.Text]
			switch {
			case o == nil:
				p.atLine(w.Line).errorf("unknown observation %s", w.Text)
				continue
			case seen[w.Text]:
				p.atLine(w.Line).errorf("tuple %s lists %s twice", s.Slug.Text, w.Text)
			}
			seen[w.Text] = true
			t.Observations = append(t.Observations, o.DraftObservation)
		}
		c.draft.Tuples = append(c.draft.Tuples, t)
	}
}
