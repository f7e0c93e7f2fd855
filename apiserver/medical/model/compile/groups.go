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
		c.reportAt(s.File, s.Slug.Line).errorf("group %s has %d items: expected at least two", s.Slug.Text, len(s.Items))
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
			p.errorf("%s is professional and has no question for patients: remove it from the group", item.Text)
		case o.Parent != nil && g.Parent == nil:
			p.errorf("%s has a different parent than group %s: all items of a group must be children of the parent of the group", item.Text, s.Slug.Text)
		}
		o.group = s
		g.Items = append(g.Items, o.DraftObservation)
	}
}

// checkGroupOrder rejects ordered groups that cannot have an order: only single-choice
// groups of severity or duration run from least to most.
func (c *compiler) checkGroupOrder(p reporter, g *model.DraftGroup, s *source.Group) {
	if !g.Ordered {
		return
	}
	if g.Type != model.GroupSingle || s.Parent.Line == 0 {
		p.atLine(s.Ordered.Line).errorf("ordered group %s must be group_single and have a parent", s.Slug.Text)
	}
	for i, o := range g.Items {
		if o.Relation != model.SeverityRelation && o.Relation != model.DurationRelation {
			p.atLine(s.Items[i].Line).errorf("item of ordered group %s has the relation %v: expected severity or duration", s.Slug.Text, o.Relation)
		}
	}
}

// checkDurationOverlap rejects overlapping durations in a group with mutually exclusive
// items.
func (c *compiler) checkDurationOverlap(g *model.DraftGroup, s *source.Group) {
	if g.Type != model.GroupSingle {
		return
	}
	var previous *model.DraftObservation
	for _, o := range g.Items {
		if o.DurationTo == 0 {
			continue
		}
		if previous != nil && o.DurationFrom < previous.DurationTo {
			own, previousSource := c.observationsByDraft[o].source, c.observationsByDraft[previous].source
			c.reportAt(own.File, own.Duration.Line()).errorf("duration of %s overlaps with %s, the previous item of group %s: list shorter durations first, without overlap",
				own.Slug.Text, previousSource.Slug.Text, s.Slug.Text)
		}
		previous = o
	}
}

func (c *compiler) addTuples() {
	used := map[string]bool{}
	for _, s := range c.core.Tuples {
		p := c.reportAt(s.File, s.Slug.Line)
		if !checkSlug(p, "tuple", s.Slug.Text, used[s.Slug.Text]) {
			continue
		}
		used[s.Slug.Text] = true
		t := model.DraftTuple{
			Level:  parseRequired(p, "level", s.Level, model.ParseTriageLevel),
			Reason: c.requiredText(s.File, "reason of tuple "+s.Slug.Text, s.Reason),
		}
		if s.Level.Text == model.NoTriageLevel.String() {
			p.atLine(s.Level.Line).errorf("tuple %s has no triage level", s.Slug.Text)
		}
		if len(s.Observations) < 2 {
			p.errorf("tuple %s has %d observations: expected at least two", s.Slug.Text, len(s.Observations))
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
