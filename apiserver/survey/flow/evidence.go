// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// maxEvidence is the maximum number of pieces of evidence a survey may be created
// with.
const maxEvidence = 50

// parseEvidence parses the evidence sent at creation, and replaces children with their
// most general ancestors.
func parseEvidence(s *record.Survey, sent []assessment.Evidence, w section.Env) ([]record.Evidence, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	if problem := evidenceProblem(s, len(sent), w); problem != "" {
		return nil, &assessment.FieldError{Field: "evidence", Problem: problem}
	}
	choices := map[string]string{}
	read := make([]record.Evidence, 0, len(sent))
	for i, item := range sent {
		one, err := parseEvidenceItem(i, item, w)
		if err != nil {
			return nil, err
		}
		before, again := choices[one.ID]
		if again && before != one.ChoiceID {
			return nil, &assessment.FieldError{
				Field: fmt.Sprintf("evidence[%d].choice_id", i), Problem: "expected " + before + " as in the earlier entry for " + one.ID + ", got " + one.ChoiceID,
			}
		}
		choices[one.ID] = one.ChoiceID
		read = append(read, one)
	}
	return rollUpToRoots(w.Release, read), nil
}

// evidenceProblem returns why a survey does not accept count pieces of evidence, or ""
// if it does.
func evidenceProblem(s *record.Survey, count int, w section.Env) string {
	switch {
	case !w.Features.Prefill:
		return "expected none: prefill is disabled for this instance"
	case s.Sex == "" || !s.Age.Known():
		return "expected none: evidence requires a patient with known sex and age"
	case count > maxEvidence:
		return fmt.Sprintf("expected at most %d items, got %d", maxEvidence, count)
	}
	return ""
}

// parseEvidenceItem parses the piece of evidence at position i: a symptom or a risk
// factor of the release, with source "initial". It replaces an alias with the ID it
// stands for.
func parseEvidenceItem(i int, sent assessment.Evidence, w section.Env) (read record.Evidence, err error) {
	if _, err := assessment.ParseEvidence(i, sent); err != nil {
		return read, err
	}
	field := func(name string) string { return fmt.Sprintf("evidence[%d].%s", i, name) }
	if sent.Source != record.SourceInitial {
		return read, assessment.NotSupported(field("source"), sent.Source, record.SourceInitial)
	}
	o, ok := w.Release.ObservationByID(sent.ID)
	if !ok || w.Release.Observations[o].Kind == model.LabResult {
		return read, assessment.NotSupported(field("id"), sent.ID, "the id of a symptom or a risk factor of "+w.Release.Meta.ModelID+", such as s_21")
	}
	return record.Evidence{ID: w.Release.ObservationID(o), ChoiceID: sent.Choice, Source: sent.Source}, nil
}

// rollUpToRoots replaces details with their root symptoms. An absent or unknown detail
// implies nothing about its root and is dropped. If several pieces of evidence share a
// root, the root is present if any of them is.
func rollUpToRoots(r *model.Release, evidence []record.Evidence) []record.Evidence {
	var general []record.Evidence
	for _, one := range evidence {
		o, ok := r.ObservationByID(one.ID)
		if ok && r.Observations[o].Parent != model.None {
			if one.ChoiceID != record.ChoicePresent {
				continue
			}
			one.ID = r.ObservationID(rootObservation(r, o))
		}
		i := slices.IndexFunc(general, func(g record.Evidence) bool { return g.ID == one.ID })
		switch {
		case i < 0:
			general = append(general, one)
		case one.ChoiceID == record.ChoicePresent:
			general[i].ChoiceID = record.ChoicePresent
		}
	}
	return general
}

// rootObservation returns the topmost ancestor of an observation, or the observation
// itself if it has no parent.
func rootObservation(r *model.Release, o model.ObservationIndex) model.ObservationIndex {
	for r.Observations[o].Parent != model.None {
		o = r.Observations[o].Parent
	}
	return o
}

// FollowUpEvidence returns the evidence with which a follow-up to this survey starts:
// the present symptoms, with details replaced by their roots, and the risk factors, as
// far as the release of the Env has them.
func FollowUpEvidence(p Progress, w section.Env) []record.Evidence {
	var known []record.Evidence
	for _, fact := range p.state(w).Facts() {
		if fact.Observation == model.None || len(known) == maxEvidence {
			continue
		}
		isRisk := w.Release.Observations[fact.Observation].Kind == model.RiskFactor
		if fact.ChoiceID == record.ChoicePresent || isRisk && fact.ChoiceID == record.ChoiceAbsent {
			known = append(known, record.Evidence{ID: fact.ID, ChoiceID: fact.ChoiceID})
		}
	}
	return rollUpToRoots(w.Release, known)
}
