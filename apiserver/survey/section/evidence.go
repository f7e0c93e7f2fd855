// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A Fact is the merged evidence on one observation, which several sections may have reported.
type Fact struct {
	record.Evidence
	// Observation is model.None if the release does not contain it.
	Observation model.ObservationIndex
}

// Facts returns the merged evidence, ordered by when each observation was first reported. An
// observation that was reported more than once is present if any report says so, because one
// section may ask about an observation that another assumed to be absent.
func (state *State) Facts() []Fact {
	var facts []Fact
	indexes := map[string]int{}
	for _, name := range state.Survey.Sections {
		sec, ok := ByName(name)
		if !ok {
			continue
		}
		for _, evidence := range sec.Evidence(state) {
			fact := state.resolveEvidence(evidence)
			i, exists := indexes[fact.ID]
			if !exists {
				indexes[fact.ID] = len(facts)
				facts = append(facts, fact)
				continue
			}
			facts[i] = mergeFacts(facts[i], fact)
		}
	}
	return facts
}

// resolveEvidence resolves evidence against the release. An alias resolves to the ID
// of its target.
func (state *State) resolveEvidence(evidence record.Evidence) Fact {
	o, ok := state.Release.ObservationByID(evidence.ID)
	if !ok {
		return Fact{evidence, model.None}
	}
	evidence.ID = state.Release.ObservationID(o)
	return Fact{evidence, o}
}

// choicePrecedence ranks choices: the higher one wins.
var choicePrecedence = map[string]int{record.ChoiceUnknown: 0, record.ChoiceAbsent: 1, record.ChoicePresent: 2}

// sourcePrecedence ranks sources in the same order as the inference engine: the higher
// one wins.
var sourcePrecedence = map[string]int{"": 0, record.SourcePredefined: 1, record.SourceInitial: 2}

// mergeFacts merges two facts about one observation.
func mergeFacts(a, b Fact) Fact {
	switch {
	case choicePrecedence[a.ChoiceID] > choicePrecedence[b.ChoiceID]:
		return a
	case choicePrecedence[a.ChoiceID] < choicePrecedence[b.ChoiceID] || sourcePrecedence[b.Source] > sourcePrecedence[a.Source]:
		return b
	default:
		return a
	}
}

// reportedEvidence returns the merged evidence as input for the engine. The result full
// reports whether the evidence exceeds the limits of the engine; the excess is ignored.
func (state *State) reportedEvidence() (list []inference.ReportedEvidence, full bool) {
	present := 0
	for _, fact := range state.Facts() {
		if fact.Observation == model.None {
			continue
		}
		reported, err := assessment.ParseEvidence(0, assessment.Evidence{ID: fact.ID, Choice: fact.ChoiceID, Source: fact.Source})
		if err != nil {
			continue // from a model version with more observations
		}
		if full = len(list) == inference.MaxEvidence || present == inference.MaxPresent && reported.Choice == inference.Present; full {
			return list, true
		}
		if reported.Choice == inference.Present {
			present++
		}
		list = append(list, reported)
	}
	return list, false
}

// impliedEvidence returns the risk factors implied by the items selected from a
// knowledge list.
func (state *State) impliedEvidence(question string) []record.Evidence {
	step := state.stepFor(question)
	if step == nil || step.Question.Meta.SourceList == nil {
		return nil
	}
	var evidence []record.Evidence
	for _, chosen := range step.Answer.Items {
		item, _ := state.Lists.Find(*step.Question.Meta.SourceList, chosen.ID)
		for _, id := range item.RiskFactors {
			evidence = append(evidence, record.Evidence{ID: id, ChoiceID: record.ChoicePresent, Source: record.SourcePredefined})
		}
	}
	return evidence
}
