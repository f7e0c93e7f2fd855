// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Fact is what is known about one observation, once, whoever said it how often.
type Fact struct {
	guidance.Evidence
	// Observation is model.None when the release does not have it any more.
	Observation model.ObservationIndex
}

// Facts are all that is known, in the order in which it was first said. What was
// said twice is present when it was once: a section may ask what another took for
// absent.
func (c *Case) Facts() []Fact {
	var facts []Fact
	at := map[string]int{}
	for _, name := range c.Survey.Sections {
		s, ok := ByName(name)
		if !ok {
			continue
		}
		for _, evidence := range s.Evidence(c) {
			fact := c.fact(evidence)
			i, known := at[fact.ID]
			if !known {
				at[fact.ID] = len(facts)
				facts = append(facts, fact)
				continue
			}
			facts[i] = believed(facts[i], fact)
		}
	}
	return facts
}

// fact resolves evidence. An alias goes by the id of what it stands for.
func (c *Case) fact(evidence guidance.Evidence) Fact {
	o, ok := c.Release.ObservationByID(evidence.ID)
	if !ok {
		return Fact{evidence, model.None}
	}
	evidence.ID = c.Release.ObservationID(o)
	return Fact{evidence, o}
}

// strength orders choices: of two the stronger is believed.
var strength = map[string]int{guidance.Unknown: 0, guidance.Absent: 1, guidance.Present: 2}

// weight orders sources, as the engine does of two.
var weight = map[string]int{"": 0, guidance.Predefined: 1, guidance.Initial: 2}

// believed is what is left of two facts about one observation.
func believed(a, b Fact) Fact {
	switch {
	case strength[a.ChoiceID] > strength[b.ChoiceID]:
		return a
	case strength[a.ChoiceID] < strength[b.ChoiceID] || weight[b.Source] > weight[a.Source]:
		return b
	default:
		return a
	}
}

// reported is all that is known as the engine takes it. Full says that there is
// more, which counts for nothing.
func (c *Case) reported() (list []engine.ReportedEvidence, full bool) {
	present := 0
	for _, fact := range c.Facts() {
		if fact.Observation == model.None {
			continue
		}
		read, err := assessment.ReadEvidence(0, assessment.Evidence{ID: fact.ID, Choice: fact.ChoiceID, Source: fact.Source})
		if err != nil {
			continue // of a version that had more words
		}
		if full = len(list) == engine.MostEvidence || present == engine.MostPresent && read.Choice == engine.Present; full {
			return list, true
		}
		if read.Choice == engine.Present {
			present++
		}
		list = append(list, read)
	}
	return list, false
}

// meant is the evidence of what was chosen of knowledge lists: the risk factors
// that it means.
func (c *Case) meant(question string) []guidance.Evidence {
	step := c.step(question)
	if step == nil || step.Question.Meta.SourceList == nil {
		return nil
	}
	var evidence []guidance.Evidence
	for _, chosen := range step.Answer.Items {
		item, _ := c.Lists.Find(*step.Question.Meta.SourceList, chosen.ID)
		for _, id := range item.RiskFactors {
			evidence = append(evidence, guidance.Evidence{ID: id, ChoiceID: guidance.Present, Source: guidance.Predefined})
		}
	}
	return evidence
}
