// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
)

// negationPattern matches lines that contain a negation, such as "cannot open the
// mouth".
var negationPattern = regexp.MustCompile(`(?i)\b(no|not|never|none|nor|neither|nothing|without|cannot|unable)\b|n['’]t\b`)

// knowledge is what a patient can report, as far as it was understood.
type knowledge struct {
	// opening are the observations that the chief complaint reports as present, in order.
	opening []model.ObservationIndex
	answers map[model.ObservationIndex]inference.Choice
	// notUnderstood are the lines about present findings in which nothing was recognized.
	notUnderstood []string
}

// parseVignette parses each line of a vignette as a separate text. Present findings
// take precedence over denied ones, and denied ones over the medical and family
// history.
func (c *simulator) parseVignette(v *vignette) knowledge {
	first, later := c.parseLines(v, v.ChiefComplaint), c.parseLines(v, v.Present...)
	before := c.parseLines(v, slices.Concat(v.History, familyHistory(v.Family))...)
	denied := c.parseLines(v, negate(v.Denied)...)
	k := knowledge{
		opening:       first.present,
		answers:       map[model.ObservationIndex]inference.Choice{},
		notUnderstood: slices.Concat(first.notUnderstood, later.notUnderstood, before.notUnderstood),
	}
	k.set(c.withAncestors(before.present), inference.Present)
	k.set(slices.Concat(first.absent, later.absent, before.absent, denied.absent, denied.present), inference.Absent)
	k.set(c.withAncestors(first.present, later.present), inference.Present)
	return k
}

// withAncestors adds observations implied by more specific ones: a patient who is out
// of breath on the stairs answers yes to a question about breathlessness.
func (c *simulator) withAncestors(heard ...[]model.ObservationIndex) []model.ObservationIndex {
	all := slices.Concat(heard...)
	for i := 0; i < len(all); i++ {
		if parent := c.Release.Observations[all[i]].Parent; parent != model.None {
			all = append(all, parent)
		}
	}
	return all
}

func (k *knowledge) set(observations []model.ObservationIndex, choice inference.Choice) {
	for _, o := range observations {
		k.answers[o] = choice
	}
}

// parsedLines holds what was recognized in some lines, and the lines in which nothing
// was.
type parsedLines struct {
	present, absent []model.ObservationIndex
	notUnderstood   []string
}

func (c *simulator) parseLines(v *vignette, lines ...string) (h parsedLines) {
	for _, line := range lines {
		result := nlp.Parse(c.Release, nlp.Query{
			Text: line, Sex: &v.Sex.Sex, AgeMonths: v.Age.Months(), Symptoms: true, RiskFactors: true,
		})
		if len(result.Mentions) == 0 {
			h.notUnderstood = append(h.notUnderstood, line)
		}
		for _, m := range result.Mentions {
			if m.Absent {
				h.absent = append(h.absent, m.Observation)
			} else {
				h.present = append(h.present, m.Observation)
			}
		}
	}
	return h
}

// negate phrases the findings that a patient denies. A line that already contains a
// negation is used as is: everything it mentions is absent.
func negate(lines []string) []string {
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = line
		if !negationPattern.MatchString(line) {
			said[i] = "no " + line
		}
	}
	return said
}

// familyHistory phrases each line as being about the patient's family.
func familyHistory(lines []string) []string {
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = "Family history: " + line
	}
	return said
}
