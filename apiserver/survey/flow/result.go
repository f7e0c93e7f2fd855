// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// maxExplained is the maximum number of conditions to explain, the likeliest first.
// Readers rarely look at more.
const maxExplained = 5

// computeResult returns the result of a completed survey.
func computeResult(p Progress, w section.Env) (*record.Result, error) {
	result := &record.Result{ModelID: w.Release.Meta.ModelID, ModelVersion: w.Release.Meta.Version}
	if !slices.Contains(p.Survey.Sections, section.Symptoms) && !slices.Contains(p.Survey.Sections, section.Dynamic) {
		return result, nil
	}
	c := p.state(w)
	patient, evidence, err := c.Patient()
	if err != nil {
		return nil, err
	}
	a := assessmentBuilder{w.Release, w.Engine.Conclude(w.Release, patient, inference.Options{}, explanationFilter(w.Release, evidence))}
	result.Assessment = a.build()
	result.Assessment.Overview = overview(c)
	return result, nil
}

// explanationFilter returns a function that reports whether to explain the condition
// at a rank: the likeliest are explained, unless the relevant evidence exceeds
// inference.MaxExplainedEvidence.
func explanationFilter(r *model.Release, evidence []inference.ReportedEvidence) func(int, model.ConditionIndex) bool {
	return func(place int, c model.ConditionIndex) bool {
		return place < maxExplained && inference.RelevantEvidenceCount(r, evidence, c) <= inference.MaxExplainedEvidence
	}
}

// An assessmentBuilder converts the conclusion of the inference engine to texts. It
// copies all texts, because the result outlives the lease of the release.
type assessmentBuilder struct {
	release *model.Release
	inference.Conclusion
}

func (a *assessmentBuilder) build() *record.Assessment {
	result := &record.Assessment{Conditions: []record.RankedCondition{}, Triage: a.buildTriage()}
	for _, ranked := range a.Conditions {
		condition := a.buildCondition(ranked)
		condition.Explain = a.buildExplanation(ranked.Condition)
		result.Conditions = append(result.Conditions, condition)
	}
	if recommended := a.Recommendation; recommended != nil {
		specialist, channel := assessment.SpecialistName(a.release, recommended.Specialist), recommended.Channel.String()
		result.Specialist = &record.Item{ID: specialist.ID, Name: strings.Clone(specialist.Name)}
		result.Channel = &channel
	}
	return result
}

func (a *assessmentBuilder) buildCondition(ranked inference.RankedCondition) record.RankedCondition {
	details := assessment.DescribeCondition(a.release, ranked.Condition, false)
	condition := record.RankedCondition{
		Concept: newConcept(assessment.ConditionName(a.release, ranked.Condition)), Probability: ranked.Probability, ICD10: []record.ICD10Code{},
		Details: &record.Details{
			ICD10Code: cloneString(details.ICD10), Hint: cloneString(details.Hint), Prevalence: details.Prevalence, Severity: details.Severity,
			Acuteness: details.Acuteness, TriageLevel: details.TriageLevel, HasPatientEducation: details.HasPatientEducation,
		},
	}
	if details.Category != nil {
		condition.Details.Category = &record.Item{ID: details.Category.ID, Name: strings.Clone(details.Category.Name)}
	}
	if codes := condition.Details.ICD10Code; codes != nil {
		for _, code := range strings.Split(*codes, ", ") { // as joined by the compiler
			condition.ICD10 = append(condition.ICD10, record.ICD10Code{Code: code})
		}
	}
	return condition
}

// buildExplanation returns the evidence for and against a condition, or nil if the
// condition is not explained.
func (a *assessmentBuilder) buildExplanation(c model.ConditionIndex) *record.Explanation {
	explanation, ok := a.Explanations[c]
	if !ok {
		return nil
	}
	return &record.Explanation{
		Supporting: a.concepts(explanation.Supporting), Conflicting: a.concepts(explanation.Conflicting), Unconfirmed: a.concepts(explanation.Unconfirmed),
	}
}

func (a *assessmentBuilder) concepts(observations []model.ObservationIndex) []record.Concept {
	names := make([]record.Concept, len(observations))
	for i, o := range observations {
		names[i] = newConcept(assessment.ObservationName(a.release, o))
	}
	return names
}

func (a *assessmentBuilder) buildTriage() record.TriageResult {
	described := assessment.DescribeTriage(a.release, &a.Triage)
	result := record.TriageResult{Level: described.Level, RootCause: described.RootCause, Serious: []record.SeriousObservation{}}
	for _, serious := range described.Serious {
		result.Serious = append(result.Serious, record.SeriousObservation{
			Concept: newConcept(serious.Name), Seriousness: serious.Seriousness, IsEmergency: serious.IsEmergency,
		})
	}
	return result
}

func newConcept(name assessment.Name) record.Concept {
	return record.Concept{ID: name.ID, Name: strings.Clone(name.Name), CommonName: strings.Clone(name.CommonName)}
}

func cloneString(text *string) *string {
	if text == nil {
		return nil
	}
	copied := strings.Clone(*text)
	return &copied
}
