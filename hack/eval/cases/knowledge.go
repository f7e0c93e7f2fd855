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

// knowledge holds the recognized information in a vignette.
type knowledge struct {
	// opening lists the observations that are present in the chief complaint, in order.
	opening []model.ObservationIndex
	answers map[model.ObservationIndex]inference.Choice
	// notUnderstood lists the lines about present findings without a recognized finding.
	notUnderstood []string
}

// parseVignette parses each line of a vignette as a separate text. Present findings
// take precedence over denied ones, and denied ones over the medical and family
// history.
func (s *simulator) parseVignette(v *vignette) knowledge {
	complaint, present := s.parseLines(v, v.ChiefComplaint), s.parseLines(v, v.Present...)
	history := s.parseLines(v, slices.Concat(v.History, familyHistory(v.Family))...)
	denied := s.parseLines(v, negate(v.Denied)...)
	k := knowledge{
		opening:       complaint.present,
		answers:       map[model.ObservationIndex]inference.Choice{},
		notUnderstood: slices.Concat(complaint.notUnderstood, present.notUnderstood, history.notUnderstood),
	}
	k.set(s.withAncestors(history.present), inference.Present)
	k.set(slices.Concat(complaint.absent, present.absent, history.absent, denied.absent, denied.present), inference.Absent)
	k.set(s.withAncestors(complaint.present, present.present), inference.Present)
	return k
}

// withAncestors returns the observations together with their ancestors. For example, a
// patient who is out of breath on the stairs also has breathlessness.
func (s *simulator) withAncestors(groups ...[]model.ObservationIndex) []model.ObservationIndex {
	all := slices.Concat(groups...)
	for i := 0; i < len(all); i++ {
		if parent := s.Release.Observations[all[i]].Parent; parent != model.None {
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

// parsedLines holds the findings recognized in lines, and the lines without a recognized
// finding.
type parsedLines struct {
	present, absent []model.ObservationIndex
	notUnderstood   []string
}

func (s *simulator) parseLines(v *vignette, lines ...string) (p parsedLines) {
	for _, line := range lines {
		result := nlp.Parse(s.Release, nlp.Query{
			Text: line, Sex: &v.Sex.Sex, AgeMonths: v.Age.Months(), Symptoms: true, RiskFactors: true,
		})
		if len(result.Mentions) == 0 {
			p.notUnderstood = append(p.notUnderstood, line)
		}
		for _, m := range result.Mentions {
			if m.Absent {
				p.absent = append(p.absent, m.Observation)
			} else {
				p.present = append(p.present, m.Observation)
			}
		}
	}
	return p
}

// negate phrases the findings that a patient denies. It keeps lines that already contain a
// negation, because everything that they mention is absent.
func negate(lines []string) []string {
	phrased := make([]string, len(lines))
	for i, line := range lines {
		phrased[i] = line
		if !negationPattern.MatchString(line) {
			phrased[i] = "no " + line
		}
	}
	return phrased
}

// familyHistory phrases lines as family history.
func familyHistory(lines []string) []string {
	phrased := make([]string, len(lines))
	for i, line := range lines {
		phrased[i] = "Family history: " + line
	}
	return phrased
}
