// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// TestRedFlagsThatExplainAnEmergencyAway adds red flags to patients of every
// condition of the content whose level rests on conditions. Where that falls,
// because the red flag speaks for something less urgent, the patient is still
// seen within a day. The cases are counted and listed in testdata; -update
// writes the list anew, so that a change of the content shows which cases it
// brings and which it ends.
func TestRedFlagsThatExplainAnEmergencyAway(t *testing.T) {
	t.Parallel()
	const variants = 2
	r, e := real(t), New()
	added, lowered := 0, 0
	var lines []string
	for c := range someConditions(r, 6) {
		for variant := range uint64(variants) {
			p, ok := drawTypical(r, &r.Conditions[c], variant)
			if !ok {
				continue
			}
			before := p.patient(t, r)
			level := e.Triage(r, before, Options{}).Level
			if level <= max(model.Consultation24, levelOfEvidence(e, r, before)) {
				continue // red flags ask for as much, or the evidence does already
			}
			flags := redFlagsBeside(e, r, before)
			fallen := p.lowered(t, e, r, flags, level)
			added += len(flags)
			for after := model.EmergencyAmbulance; after > model.NoTriageLevel; after-- {
				if names := fallen[after]; len(names) > 0 {
					lowered += len(names)
					lines = append(lines, fmt.Sprintf("%s %s, %v: from %v to %v\n\t%s", r.ConditionID(c),
						r.Text(r.Conditions[c].CommonName), &p, level, after, strings.Join(names, "\n\t")))
				}
			}
		}
	}
	list := fmt.Sprintf("%d of %d red flags lower the level when they are added\n\n%s\n", lowered, added, strings.Join(lines, "\n"))
	t.Log(list)
	checkGolden(t, "explained_away.txt", list)
}
