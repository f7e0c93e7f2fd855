// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Diagnose implements enginev3.StrictServerInterface.
func (a *API) Diagnose(ctx context.Context, request enginev3.DiagnoseRequestObject) (enginev3.DiagnoseResponseObject, error) {
	release, body := releaseFrom(ctx), request.Body
	interview, end, err := a.acquireInterview(ctx, body)
	if err != nil {
		return nil, err
	}
	defer end()
	found := a.engine.Assess(release, interview.patient, interview.options)
	diagnosis := encodeDiagnosis(release, &found)
	if isTrue(body.IncludeConditionDetails) || body.Extras != nil && isTrue(body.Extras.IncludeConditionDetails) {
		if err := a.addDetails(release, &found, &diagnosis, interview.options.ThreeLevels); err != nil {
			return nil, err
		}
	}
	return enginev3.Diagnose200JSONResponse(diagnosis), nil
}

// addDetails adds the details requested by include_condition_details.
func (a *API) addDetails(r *model.Release, found *inference.Assessment, diagnosis *enginev3.Diagnosis, threeLevels bool) error {
	token, err := a.tokens.IssueInterviewToken(r.Meta.ModelID, r.Meta.Version)
	if err != nil {
		return fmt.Errorf("creating the interview token: %w", err)
	}
	diagnosis.InterviewToken = &token
	for i, ranked := range found.Conditions {
		diagnosis.Conditions[i].ConditionDetails = encodeDetails(r, ranked.Condition, threeLevels)
	}
	return nil
}

func encodeDiagnosis(r *model.Release, found *inference.Assessment) enginev3.Diagnosis {
	diagnosis := enginev3.Diagnosis{
		Question:             encodeQuestion(r, found.Question),
		Conditions:           make([]enginev3.RankedCondition, len(found.Conditions)),
		HasEmergencyEvidence: found.HasEmergencyEvidence,
	}
	if found.ShouldStopKnown {
		diagnosis.ShouldStop = &found.ShouldStop
	}
	for i, ranked := range found.Conditions {
		name := assessment.ConditionName(r, ranked.Condition)
		diagnosis.Conditions[i] = enginev3.RankedCondition{
			ID: name.ID, Name: name.Name, CommonName: name.CommonName, Probability: ranked.Probability,
		}
	}
	return diagnosis
}

func encodeQuestion(r *model.Release, question *inference.Question) *enginev3.Question {
	if question == nil {
		return nil
	}
	offered := assessment.Choices(r)
	choices := make([]enginev3.QuestionChoice, len(offered))
	for i, choice := range offered {
		choices[i] = enginev3.QuestionChoice{ID: enginev3.Choice(choice.ID), Label: choice.Label}
	}
	items := make([]enginev3.QuestionItem, len(question.Items))
	for i, observation := range question.Items {
		items[i] = enginev3.QuestionItem{
			ID: r.ObservationID(observation), Name: assessment.ItemName(r, observation), Choices: choices,
		}
	}
	encoded := &enginev3.Question{Type: enginev3.QuestionType(assessment.QuestionTypeFor(question)), Text: question.Text, Items: items}
	if question.Type == inference.Duration {
		id := r.ObservationID(question.Symptom)
		encoded.EvidenceID = &id
	}
	return encoded
}
