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

// maxEvidence is the maximum number of evidence items that a survey may be created with.
const maxEvidence = 50

// parseEvidence parses the evidence sent at creation, and replaces detailed symptoms with
// their root symptoms.
func parseEvidence(s *record.Survey, sent []assessment.Evidence, env section.Env) ([]record.Evidence, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	if problem := evidenceProblem(s, len(sent), env); problem != "" {
		return nil, &assessment.FieldError{Field: "evidence", Problem: problem}
	}
	choices := map[string]string{}
	parsed := make([]record.Evidence, 0, len(sent))
	for i, sentItem := range sent {
		item, err := parseEvidenceItem(i, sentItem, env)
		if err != nil {
			return nil, err
		}
		before, exists := choices[item.ID]
		if exists && before != item.ChoiceID {
			return nil, &assessment.FieldError{
				Field: fmt.Sprintf("evidence[%d].choice_id", i), Problem: "expected " + before + " as in the earlier entry for " + item.ID + ", got " + item.ChoiceID,
			}
		}
		choices[item.ID] = item.ChoiceID
		parsed = append(parsed, item)
	}
	return rollUpToRoots(env.Release, parsed), nil
}

// evidenceProblem returns why a survey does not accept the given number of evidence items, or
// "" if it accepts them.
func evidenceProblem(s *record.Survey, count int, env section.Env) string {
	switch {
	case !env.Features.Prefill:
		return "expected none: prefill is disabled for this instance"
	case s.Sex == "" || !s.Age.Known():
		return "expected none: evidence requires a patient with known sex and age"
	case count > maxEvidence:
		return fmt.Sprintf("expected at most %d items, got %d", maxEvidence, count)
	}
	return ""
}

// parseEvidenceItem parses the evidence item at position i. It must be a symptom or a risk
// factor of the release, with the source "initial". An alias is replaced with the ID of its
// target.
func parseEvidenceItem(i int, sent assessment.Evidence, env section.Env) (parsed record.Evidence, err error) {
	if _, err := assessment.ParseEvidence(i, sent); err != nil {
		return parsed, err
	}
	field := func(name string) string { return fmt.Sprintf("evidence[%d].%s", i, name) }
	if sent.Source != record.SourceInitial {
		return parsed, assessment.NotSupported(field("source"), sent.Source, record.SourceInitial)
	}
	o, ok := env.Release.ObservationByID(sent.ID)
	if !ok || env.Release.Observations[o].Kind == model.LabResult {
		return parsed, assessment.NotSupported(field("id"), sent.ID, "the id of a symptom or a risk factor of "+env.Release.Meta.ModelID+", such as s_21")
	}
	return record.Evidence{ID: env.Release.ObservationID(o), ChoiceID: sent.Choice, Source: sent.Source}, nil
}

// rollUpToRoots replaces details with their root symptoms. An absent or unknown detail
// implies nothing about its root and is dropped. If several items share a root, the root is
// present if any of them is.
func rollUpToRoots(r *model.Release, evidence []record.Evidence) []record.Evidence {
	var roots []record.Evidence
	for _, item := range evidence {
		o, ok := r.ObservationByID(item.ID)
		if ok && r.Observations[o].Parent != model.None {
			if item.ChoiceID != record.ChoicePresent {
				continue
			}
			item.ID = r.ObservationID(rootObservation(r, o))
		}
		i := slices.IndexFunc(roots, func(g record.Evidence) bool { return g.ID == item.ID })
		switch {
		case i < 0:
			roots = append(roots, item)
		case item.ChoiceID == record.ChoicePresent:
			roots[i].ChoiceID = record.ChoicePresent
		}
	}
	return roots
}

// rootObservation returns the topmost ancestor of an observation, or the observation
// itself if it has no parent.
func rootObservation(r *model.Release, o model.ObservationIndex) model.ObservationIndex {
	for r.Observations[o].Parent != model.None {
		o = r.Observations[o].Parent
	}
	return o
}

// FollowUpEvidence returns the evidence with which a follow-up to this survey starts: the
// present symptoms, with details replaced by their roots, and the risk factors. It omits
// evidence that the release of the Env does not contain.
func FollowUpEvidence(p Progress, env section.Env) []record.Evidence {
	var known []record.Evidence
	for _, fact := range p.state(env).Facts() {
		if fact.Observation == model.None || len(known) == maxEvidence {
			continue
		}
		isRisk := env.Release.Observations[fact.Observation].Kind == model.RiskFactor
		if fact.ChoiceID == record.ChoicePresent || isRisk && fact.ChoiceID == record.ChoiceAbsent {
			known = append(known, record.Evidence{ID: fact.ID, ChoiceID: fact.ChoiceID})
		}
	}
	return rollUpToRoots(env.Release, known)
}
