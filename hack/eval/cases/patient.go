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
	k := knowledge{answers: map[model.ObservationIndex]engine.Choice{}}
	var now, absent []model.ObservationIndex
	hear := func(lines []string) (present []model.ObservationIndex) {
		for _, line := range lines {
			mentions := c.parse(v, line)
			if len(mentions) == 0 {
				k.unheard = append(k.unheard, line)
			}
			for _, m := range mentions {
				if m.Absent {
					absent = append(absent, m.Observation)
				} else {
					present = append(present, m.Observation)
				}
			}
		}
		return present
	}
	k.opening = hear([]string{v.Says})
	now = append(slices.Clone(k.opening), hear(v.Present)...)
	before := hear(slices.Concat(v.History, ofFamily(v.Family)))
	for _, line := range v.Denied {
		for _, m := range c.parse(v, denied(line)) {
			absent = append(absent, m.Observation)
		}
	}
	k.note(before, engine.Present)
	k.note(absent, engine.Absent)
	k.note(now, engine.Present)
	return k
}

func (k *knowledge) note(observations []model.ObservationIndex, choice engine.Choice) {
	for _, o := range observations {
		k.answers[o] = choice
	}
}

func (c *clinic) parse(v *vignette, line string) []language.Mention {
	return language.Parse(c.release, language.Query{
		Text: line, Sex: &v.Sex.Sex, AgeMonths: v.Age.months(), Symptoms: true, RiskFactors: true,
	}).Mentions
}

// denied puts a thing that a patient denies into words. One that is a denial
// itself is said as it is: whatever it mentions is not so.
func denied(line string) string {
	if denial.MatchString(line) {
		return line
	}
	return "no " + line
}

// ofFamily says of each line that it is not about the patient.
func ofFamily(lines []string) []string {
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = "Family history: " + line
	}
	return said
}
