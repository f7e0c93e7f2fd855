// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestRedFlagsExplainingAwayEmergency adds red flags to patients of every condition of
// the content whose level depends on conditions. If the level falls because the red
// flag supports something less urgent, the patient is still seen within a day. The
// cases are counted and listed in testdata. -update rewrites the list, so that a
// content change shows which cases it adds and removes.
func TestRedFlagsExplainingAwayEmergency(t *testing.T) {
	t.Parallel()
	const variants = 2
	r, e := contentRelease(t), New()
	added, lowered := 0, 0
	var lines []string
	for c := range someConditions(r, 6) {
		for variant := range uint64(variants) {
			p, ok := drawTypicalPatient(r, &r.Conditions[c], variant)
			if !ok {
				continue
			}
			before := p.patient(t, r)
			level := e.Triage(r, before, Options{}).Level
			if level <= max(model.Consultation24, evidenceLevel(e, r, before)) {
				continue // red flags require the same level, or the evidence already does
			}
			flags := reportableRedFlags(e, r, before)
			fallen := p.levelDrops(t, e, r, flags, level)
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
