// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// checkFrequencies tells the lines of the backgrounds and shares by which a
// child would be more frequent than its parent, or the items of a group
// together than theirs.
func (c *compiler) checkFrequencies(release *model.Release) {
	for e := range release.Excesses() {
		part, whole := c.observationsAt(e.Part), c.observationsAt([]model.ObservationIndex{e.Whole})
		if hasNoLeak(part) || hasNoLeak(whole) {
			continue // refused already
		}
		if e.Condition == model.None {
			first := part[0].source
			c.at(first.File, first.Background.Line).add("background %s of %s is over the %s of %s: a part cannot be more frequent than the whole",
				showShare(e.Share), slugs(part), showShare(e.Limit), slugs(whole))
			continue
		}
		d := c.conditionOf[c.draft.Conditions[e.Condition]]
		line, _ := d.findingLine(part)
		p := c.at(d.source.File, line)
		if _, listed := d.findingLine(whole); !listed {
			if len(part) > 1 {
				continue // told of each child
			}
			p.add("%s lists %s but not %s, which then has its background as share: list it too", d.source.Slug.Text, slugs(part), slugs(whole))
			continue
		}
		p.add("share %s of %s in %s is too high beside %s: with these backgrounds it can be %s at most",
			showShare(e.Share), slugs(part), d.source.Slug.Text, slugs(whole), showLimit(e.Limit))
	}
}

// observationsAt relies on Layout: it sorts the draft as it does the release.
func (c *compiler) observationsAt(indexes []model.ObservationIndex) []*observation {
	list := make([]*observation, len(indexes))
	for i, index := range indexes {
		list[i] = c.observationOf[c.draft.Observations[index]]
	}
	return list
}

func hasNoLeak(list []*observation) bool {
	for _, o := range list {
		if o.Leak == 0 {
			return true
		}
	}
	return false
}

func slugs(list []*observation) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.source.Slug.Text
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names, " + ") + " together"
}

// findingLine is the first line on which the condition lists one of these as
// a finding.
func (d *condition) findingLine(list []*observation) (line int, listed bool) {
	for word := range d.source.Findings {
		for _, o := range list {
			if o.source.Slug.Text == word.Text && (!listed || word.Line < line) {
				line, listed = word.Line, true
			}
		}
	}
	return line, listed
}

// showShare shows a share as an author would write it.
func showShare(p float64) string { return strconv.FormatFloat(p, 'g', 4, 64) }

// showLimit is rounded down, so that a share as shown keeps the limit.
func showLimit(p float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(p))-3)
	return showShare(math.Floor(p/unit) * unit)
}
