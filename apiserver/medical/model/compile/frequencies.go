// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// checkFrequencies reports the lines of leaks and shares that make a child more frequent
// than its parent, or the items of a group together more frequent than their parent.
func (c *compiler) checkFrequencies(release *model.Release) {
	for v := range release.FrequencyViolations() {
		part, whole := c.observationsAt(v.Children), c.observationsAt([]model.ObservationIndex{v.Parent})
		if hasNoLeak(part) || hasNoLeak(whole) {
			continue // already rejected
		}
		if v.Condition == model.None {
			first := part[0].source
			c.reportAt(first.File, first.Background.Line).errorf("background %s of %s exceeds the background %s of %s: a part cannot be more frequent than the whole",
				formatProbability(v.Probability), joinSlugs(part), formatProbability(v.Limit), joinSlugs(whole))
			continue
		}
		d := c.conditionsByDraft[c.draft.Conditions[v.Condition]]
		line, _ := d.findingLine(part)
		p := c.reportAt(d.source.File, line)
		if _, listed := d.findingLine(whole); !listed {
			if len(part) > 1 {
				continue // already reported for each child
			}
			p.errorf("%s lists %s but not %s, whose share defaults to its background: list both", d.source.Slug.Text, joinSlugs(part), joinSlugs(whole))
			continue
		}
		p.errorf("share %s of %s in %s is too high given %s: with these backgrounds, the maximum is %s",
			formatProbability(v.Probability), joinSlugs(part), d.source.Slug.Text, joinSlugs(whole), formatLimit(v.Limit))
	}
}

// observationsAt returns the observations at the given indexes. It relies on
// Draft.Build, which sorts the draft in release order.
func (c *compiler) observationsAt(indexes []model.ObservationIndex) []*observation {
	list := make([]*observation, len(indexes))
	for i, index := range indexes {
		list[i] = c.observationsByDraft[c.draft.Observations[index]]
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

func joinSlugs(list []*observation) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.source.Slug.Text
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names, " + ") + " together"
}

// findingLine returns the first line on which the condition lists one of the observations
// as a finding.
func (c *condition) findingLine(list []*observation) (line int, listed bool) {
	for word := range c.source.Findings {
		for _, o := range list {
			if o.source.Slug.Text == word.Text && (!listed || word.Line < line) {
				line, listed = word.Line, true
			}
		}
	}
	return line, listed
}

// formatProbability formats a share the way an author would write it.
func formatProbability(p float64) string { return strconv.FormatFloat(p, 'g', 4, 64) }

// formatLimit formats a limit rounded down, so that the printed share satisfies it.
func formatLimit(p float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(p))-3)
	return formatProbability(math.Floor(p/unit) * unit)
}
