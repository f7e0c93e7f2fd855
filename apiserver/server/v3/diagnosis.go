// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Diagnose implements enginev3.StrictServerInterface.
func (a *API) Diagnose(ctx context.Context, request enginev3.DiagnoseRequestObject) (enginev3.DiagnoseResponseObject, error) {
	release, body := releaseOf(ctx), request.Body
	asked, end, err := a.begin(ctx, body)
	if err != nil {
		return nil, err
	}
	defer end()
	assessment := a.engine.Assess(release, asked.patient, asked.options)
	diagnosis := writeDiagnosis(release, &assessment)
	if isTrue(body.IncludeConditionDetails) || body.Extras != nil && isTrue(body.Extras.IncludeConditionDetails) {
		if err := a.addDetails(release, &assessment, &diagnosis, asked.options.ThreeLevels); err != nil {
			return nil, err
		}
	}
	return enginev3.Diagnose200JSONResponse(diagnosis), nil
}

// addDetails adds what include_condition_details asks for.
func (a *API) addDetails(r *model.Release, assessment *engine.Assessment, diagnosis *enginev3.Diagnosis, threeLevels bool) error {
	token, err := a.tokens.IssueInterviewToken(r.Meta.ModelID, r.Meta.Version)
	if err != nil {
		return fmt.Errorf("making a token for an interview: %w", err)
	}
	diagnosis.InterviewToken = &token
	for i, ranked := range assessment.Conditions {
		diagnosis.Conditions[i].ConditionDetails = writeDetails(r, ranked.Condition, threeLevels)
	}
	return nil
}

func writeDiagnosis(r *model.Release, assessment *engine.Assessment) enginev3.Diagnosis {
	diagnosis := enginev3.Diagnosis{
		Question:             writeQuestion(r, assessment.Question),
		Conditions:           make([]enginev3.RankedCondition, len(assessment.Conditions)),
		HasEmergencyEvidence: assessment.HasEmergencyEvidence,
	}
	if assessment.ShouldStopKnown {
		diagnosis.ShouldStop = &assessment.ShouldStop
	}
	for i, ranked := range assessment.Conditions {
		condition := &r.Conditions[ranked.Condition]
		diagnosis.Conditions[i] = enginev3.RankedCondition{
			ID:          r.ConditionID(ranked.Condition),
			Name:        r.Text(condition.Name),
			CommonName:  r.Text(condition.CommonName),
			Probability: ranked.Probability,
		}
	}
	return diagnosis
}

var questionTypes = [...]enginev3.QuestionType{
	engine.Single:        enginev3.QuestionTypeSingle,
	engine.GroupSingle:   enginev3.QuestionTypeGroupSingle,
	engine.GroupMultiple: enginev3.QuestionTypeGroupMultiple,
	engine.AskDuration:   enginev3.QuestionTypeDuration,
}

func writeQuestion(r *model.Release, question *engine.Question) *enginev3.Question {
	if question == nil {
		return nil
	}
	choices := []enginev3.QuestionChoice{
		{ID: enginev3.ChoicePresent, Label: r.Meta.ChoicePresent},
		{ID: enginev3.ChoiceAbsent, Label: r.Meta.ChoiceAbsent},
		{ID: enginev3.ChoiceUnknown, Label: r.Meta.ChoiceUnknown},
	}
	items := make([]enginev3.QuestionItem, len(question.Items))
	for i, observation := range question.Items {
		items[i] = enginev3.QuestionItem{
			ID: r.ObservationID(observation),
			// Patients read this: the plain name, not the professional one.
			Name:    r.Text(r.Observations[observation].CommonName),
			Choices: choices,
		}
	}
	written := &enginev3.Question{Type: questionTypes[question.Type], Text: question.Text, Items: items}
	if question.Type == engine.AskDuration {
		id := r.ObservationID(question.Evidence)
		written.EvidenceID = &id
	}
	return written
}
