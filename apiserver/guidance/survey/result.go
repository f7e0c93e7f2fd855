// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// mostExplained is how many of the likeliest conditions are explained: more are not
// read.
const mostExplained = 5

// conclude computes what a completed survey comes to.
func conclude(p Progress, w section.World) (*guidance.Result, error) {
	result := &guidance.Result{ModelID: w.Release.Meta.ModelID, ModelVersion: w.Release.Meta.Version}
	if !slices.Contains(p.Survey.Sections, section.Symptoms) && !slices.Contains(p.Survey.Sections, section.Dynamic) {
		return result, nil
	}
	c := p.answered(w)
	patient, evidence, err := c.Patient()
	if err != nil {
		return nil, err
	}
	a := assessing{w.Release, w.Engine.Conclude(w.Release, patient, engine.Options{}, explains(w.Release, evidence))}
	result.Assessment = a.assessment()
	result.Assessment.Overview = overview(c)
	return result, nil
}

// explains tells which conditions are explained: the likeliest, unless there is too
// much to weigh.
func explains(r *model.Release, evidence []engine.ReportedEvidence) func(int, model.ConditionIndex) bool {
	return func(place int, c model.ConditionIndex) bool {
		return place < mostExplained && engine.Bearing(r, evidence, c) <= engine.MostExplained
	}
}

// assessing is what the engine concludes, to be put into words. Every text is a copy,
// as the result outlives the lease of the release.
type assessing struct {
	r *model.Release
	engine.Conclusion
}

func (a *assessing) assessment() *guidance.Assessment {
	result := &guidance.Assessment{Conditions: []guidance.RankedCondition{}, Triage: a.triage()}
	for _, ranked := range a.Conditions {
		condition := a.condition(ranked)
		condition.Explain = a.explain(ranked.Condition)
		result.Conditions = append(result.Conditions, condition)
	}
	if recommended := a.Recommendation; recommended != nil {
		specialist, channel := assessment.SpecialistName(a.r, recommended.Specialist), recommended.Channel.String()
		result.Specialist = &guidance.Item{ID: specialist.ID, Name: strings.Clone(specialist.Name)}
		result.Channel = &channel
	}
	return result
}

func (a *assessing) condition(ranked engine.Ranked) guidance.RankedCondition {
	details := assessment.DescribeDetails(a.r, ranked.Condition, false)
	condition := guidance.RankedCondition{
		Naming: naming(assessment.ConditionName(a.r, ranked.Condition)), Probability: ranked.Probability, ICD10: []guidance.Code{},
		Details: &guidance.Details{
			ICD10Code: cloned(details.ICD10), Hint: cloned(details.Hint), Prevalence: details.Prevalence, Severity: details.Severity,
			Acuteness: details.Acuteness, TriageLevel: details.TriageLevel, HasPatientEducation: details.HasPatientEducation,
		},
	}
	if details.Category != nil {
		condition.Details.Category = &guidance.Item{ID: details.Category.ID, Name: strings.Clone(details.Category.Name)}
	}
	if codes := condition.Details.ICD10Code; codes != nil {
		for _, code := range strings.Split(*codes, ", ") { // as the compiler joins them
			condition.ICD10 = append(condition.ICD10, guidance.Code{Code: code})
		}
	}
	return condition
}

// explain says what speaks for and against a condition, nil of one that is not
// explained.
func (a *assessing) explain(c model.ConditionIndex) *guidance.Explanations {
	explanation, ok := a.Explanations[c]
	if !ok {
		return nil
	}
	return &guidance.Explanations{
		Supporting: a.names(explanation.Supporting), Conflicting: a.names(explanation.Conflicting), Unconfirmed: a.names(explanation.Unconfirmed),
	}
}

func (a *assessing) names(observations []model.ObservationIndex) []guidance.Naming {
	names := make([]guidance.Naming, len(observations))
	for i, o := range observations {
		names[i] = naming(assessment.ObservationName(a.r, o))
	}
	return names
}

func (a *assessing) triage() guidance.TriageResult {
	described := assessment.DescribeTriage(a.r, &a.Triage)
	result := guidance.TriageResult{Level: described.Level, RootCause: described.RootCause, Serious: []guidance.Serious{}}
	for _, serious := range described.Serious {
		result.Serious = append(result.Serious, guidance.Serious{
			Naming: naming(serious.Name), Seriousness: serious.Seriousness, IsEmergency: serious.IsEmergency,
		})
	}
	return result
}

func naming(name assessment.Name) guidance.Naming {
	return guidance.Naming{ID: name.ID, Name: strings.Clone(name.Name), CommonName: strings.Clone(name.CommonName)}
}

func cloned(text *string) *string {
	if text == nil {
		return nil
	}
	copied := strings.Clone(*text)
	return &copied
}
