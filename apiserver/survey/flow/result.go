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

// maxExplained is the maximum number of conditions to explain, most likely first. Readers
// rarely look at more.
const maxExplained = 5

// computeResult returns the result of a completed survey.
func computeResult(p Progress, env section.Env) (*record.Result, error) {
	result := &record.Result{ModelID: env.Release.Meta.ModelID, ModelVersion: env.Release.Meta.Version}
	if !slices.Contains(p.Survey.Sections, section.Symptoms) && !slices.Contains(p.Survey.Sections, section.Dynamic) {
		return result, nil
	}
	state := p.state(env)
	patient, evidence, err := state.Patient()
	if err != nil {
		return nil, err
	}
	builder := assessmentBuilder{env.Release, env.Engine.Conclude(env.Release, patient, inference.Options{}, explanationFilter(env.Release, evidence))}
	result.Assessment = builder.build()
	result.Assessment.Overview = newOverview(state)
	return result, nil
}

// explanationFilter returns a function that reports whether to explain a condition, given its
// rank. The most likely conditions are explained, unless their relevant evidence exceeds
// inference.MaxExplainedEvidence.
func explanationFilter(r *model.Release, evidence []inference.ReportedEvidence) func(int, model.ConditionIndex) bool {
	return func(rank int, state model.ConditionIndex) bool {
		return rank < maxExplained && inference.RelevantEvidenceCount(r, evidence, state) <= inference.MaxExplainedEvidence
	}
}

// An assessmentBuilder converts a conclusion of the inference engine to an assessment. It
// copies all texts, because the assessment outlives the lease of the release.
type assessmentBuilder struct {
	release *model.Release
	inference.Conclusion
}

func (builder *assessmentBuilder) build() *record.Assessment {
	result := &record.Assessment{Conditions: []record.RankedCondition{}, Triage: builder.buildTriage()}
	for _, ranked := range builder.Conditions {
		condition := builder.buildCondition(ranked)
		condition.Explain = builder.buildExplanation(ranked.Condition)
		result.Conditions = append(result.Conditions, condition)
	}
	if recommended := builder.Recommendation; recommended != nil {
		specialist, channel := assessment.SpecialistName(builder.release, recommended.Specialist), recommended.Channel.String()
		result.Specialist = &record.Item{ID: specialist.ID, Name: strings.Clone(specialist.Name)}
		result.Channel = &channel
	}
	return result
}

func (builder *assessmentBuilder) buildCondition(ranked inference.RankedCondition) record.RankedCondition {
	details := assessment.DescribeCondition(builder.release, ranked.Condition, false)
	condition := record.RankedCondition{
		Concept: newConcept(assessment.ConditionName(builder.release, ranked.Condition)), Probability: ranked.Probability, ICD10: []record.ICD10Code{},
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
func (builder *assessmentBuilder) buildExplanation(state model.ConditionIndex) *record.Explanation {
	explanation, ok := builder.Explanations[state]
	if !ok {
		return nil
	}
	return &record.Explanation{
		Supporting: builder.concepts(explanation.Supporting), Conflicting: builder.concepts(explanation.Conflicting), Unconfirmed: builder.concepts(explanation.Unconfirmed),
	}
}

func (builder *assessmentBuilder) concepts(observations []model.ObservationIndex) []record.Concept {
	names := make([]record.Concept, len(observations))
	for i, o := range observations {
		names[i] = newConcept(assessment.ObservationName(builder.release, o))
	}
	return names
}

func (builder *assessmentBuilder) buildTriage() record.TriageResult {
	described := assessment.DescribeTriage(builder.release, &builder.Triage)
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
