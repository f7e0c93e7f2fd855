// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// mostEvidence is how much evidence a survey may be created with.
const mostEvidence = 50

// readEvidence reads the evidence that was given at creation, and puts parents in
// place of their children.
func readEvidence(s *guidance.Survey, sent []assessment.Evidence, w section.World) ([]guidance.Evidence, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	if problem := refusal(s, len(sent), w); problem != "" {
		return nil, &assessment.FieldError{Field: "evidence", Problem: problem}
	}
	choices := map[string]string{}
	read := make([]guidance.Evidence, 0, len(sent))
	for i, item := range sent {
		one, err := readPiece(i, item, w)
		if err != nil {
			return nil, err
		}
		before, again := choices[one.ID]
		if again && before != one.ChoiceID {
			return nil, &assessment.FieldError{
				Field: fmt.Sprintf("evidence[%d].choice_id", i), Problem: "expected " + before + ", as " + one.ID + " was given before, got " + one.ChoiceID,
			}
		}
		choices[one.ID] = one.ChoiceID
		read = append(read, one)
	}
	return toParents(w.Release, read), nil
}

// refusal is why a survey takes no evidence, or not so much; empty when it does.
func refusal(s *guidance.Survey, count int, w section.World) string {
	switch {
	case !w.Features.Prefill:
		return "expected none: prefilling is off for this instance"
	case s.Sex == "" || !s.Age.Known():
		return "expected none: it needs a patient whose sex and age are known"
	case count > mostEvidence:
		return fmt.Sprintf("expected at most %d items, got %d", mostEvidence, count)
	}
	return ""
}

// readPiece reads the piece at a position: a symptom or a risk factor of the release
// with the source initial. An alias goes by the id of what it stands for.
func readPiece(i int, sent assessment.Evidence, w section.World) (read guidance.Evidence, err error) {
	if _, err := assessment.ReadEvidence(i, sent); err != nil {
		return read, err
	}
	field := func(name string) string { return fmt.Sprintf("evidence[%d].%s", i, name) }
	if sent.Source != guidance.Initial {
		return read, assessment.WrongWord(field("source"), sent.Source, guidance.Initial)
	}
	o, ok := w.Release.ObservationByID(sent.ID)
	if !ok || w.Release.Observations[o].Kind == model.LabResult {
		return read, assessment.WrongWord(field("id"), sent.ID, "the id of a symptom or a risk factor of "+w.Release.Meta.ModelID+", such as s_21")
	}
	return guidance.Evidence{ID: w.Release.ObservationID(o), ChoiceID: sent.Choice, Source: sent.Source}, nil
}

// toParents puts the general symptom in place of its details. What is denied or not
// known of a detail says nothing about the whole and is left out. What meets at one
// parent is present when some of it is.
func toParents(r *model.Release, evidence []guidance.Evidence) []guidance.Evidence {
	var general []guidance.Evidence
	for _, one := range evidence {
		o, ok := r.ObservationByID(one.ID)
		if ok && r.Observations[o].Parent != model.None {
			if one.ChoiceID != guidance.Present {
				continue
			}
			one.ID = r.ObservationID(root(r, o))
		}
		i := slices.IndexFunc(general, func(g guidance.Evidence) bool { return g.ID == one.ID })
		switch {
		case i < 0:
			general = append(general, one)
		case one.ChoiceID == guidance.Present:
			general[i].ChoiceID = guidance.Present
		}
	}
	return general
}

// root is the most general observation that an observation is a detail of.
func root(r *model.Release, o model.ObservationIndex) model.ObservationIndex {
	for r.Observations[o].Parent != model.None {
		o = r.Observations[o].Parent
	}
	return o
}

// Reported is what a survey came to know that a follow-up begins with: its present
// symptoms, the general ones in place of their details, and its risk factors, as
// far as the release of the world has them.
func Reported(p Progress, w section.World) []guidance.Evidence {
	var known []guidance.Evidence
	for _, fact := range p.answered(w).Facts() {
		if fact.Observation == model.None || len(known) == mostEvidence {
			continue
		}
		isRisk := w.Release.Observations[fact.Observation].Kind == model.RiskFactor
		if fact.ChoiceID == guidance.Present || isRisk && fact.ChoiceID == guidance.Absent {
			known = append(known, guidance.Evidence{ID: fact.ID, ChoiceID: fact.ChoiceID})
		}
	}
	return toParents(w.Release, known)
}
