// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/language"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// denial finds lines that hold a denial of their own, as "cannot open the
// mouth".
var denial = regexp.MustCompile(`(?i)\b(no|not|never|none|nor|neither|nothing|without|cannot|unable)\b|n['’]t\b`)

// knowledge is what a patient can tell, as far as it was understood.
type knowledge struct {
	// opening is what the first words say is there, in their order.
	opening []model.ObservationIndex
	answers map[model.ObservationIndex]engine.Choice
	// unheard are the lines in which nothing was understood, of what is there.
	unheard []string
}

// listen reads the lines of a vignette, each as a text of its own. What the
// patient says is there now outweighs what is denied, and that what was there
// before and in the family.
func (c *clinic) listen(v *vignette) knowledge {
	first, later := c.hear(v, v.Says), c.hear(v, v.Present...)
	before := c.hear(v, slices.Concat(v.History, ofFamily(v.Family))...)
	denied := c.hear(v, denials(v.Denied)...)
	k := knowledge{
		opening: first.present,
		answers: map[model.ObservationIndex]engine.Choice{},
		unheard: slices.Concat(first.unheard, later.unheard, before.unheard),
	}
	k.note(c.implied(before.present), engine.Present)
	k.note(slices.Concat(first.absent, later.absent, before.absent, denied.absent, denied.present), engine.Absent)
	k.note(c.implied(first.present, later.present), engine.Present)
	return k
}

// implied adds what is there because something more precise is: who is out of
// breath on the stairs says yes when asked for breathlessness.
func (c *clinic) implied(heard ...[]model.ObservationIndex) []model.ObservationIndex {
	all := slices.Concat(heard...)
	for i := 0; i < len(all); i++ {
		if parent := c.Release.Observations[all[i]].Parent; parent != model.None {
			all = append(all, parent)
		}
	}
	return all
}

func (k *knowledge) note(observations []model.ObservationIndex, choice engine.Choice) {
	for _, o := range observations {
		k.answers[o] = choice
	}
}

// heard is what was found in some lines, and those in which nothing was.
type heard struct {
	present, absent []model.ObservationIndex
	unheard         []string
}

func (c *clinic) hear(v *vignette, lines ...string) (h heard) {
	for _, line := range lines {
		result := language.Parse(c.Release, language.Query{
			Text: line, Sex: &v.Sex.Sex, AgeMonths: v.Age.months(), Symptoms: true, RiskFactors: true,
		})
		if len(result.Mentions) == 0 {
			h.unheard = append(h.unheard, line)
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

// denials puts what a patient denies into words. What is a denial itself is said
// as it is: whatever it mentions is not so.
func denials(lines []string) []string {
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = line
		if !denial.MatchString(line) {
			said[i] = "no " + line
		}
	}
	return said
}

// ofFamily says of each line that it is not about the patient.
func ofFamily(lines []string) []string {
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = "Family history: " + line
	}
	return said
}
