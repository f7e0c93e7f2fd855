// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// InsertSurvey implements storage.Surveys.
func (t tx) InsertSurvey(ctx context.Context, survey guidance.Survey) error {
	document, err := storage.ToJSON("survey", survey)
	if err != nil {
		return err
	}
	err = t.Queries.InsertSurvey(ctx, queries.InsertSurveyParams{
		ID: survey.ID, PatientID: survey.PatientID, Status: string(survey.Status), Version: survey.Version, Document: document,
	})
	if err != nil {
		return failure(ctx, "keep a survey", err)
	}
	return nil
}

// Survey implements storage.Surveys.
func (t tx) Survey(ctx context.Context, id string) (guidance.Survey, error) {
	document, err := t.Queries.Survey(ctx, id)
	return surveyOf(ctx, document, err)
}

// SurveyWithSteps implements storage.Surveys.
func (t tx) SurveyWithSteps(ctx context.Context, id string) (guidance.Survey, []guidance.Step, error) {
	row, err := t.Queries.SurveyWithSteps(ctx, id)
	survey, err := surveyOf(ctx, row.Document, err)
	if err != nil {
		return guidance.Survey{}, nil, err
	}
	steps, err := storage.FromJSON[guidance.Step]("step", row.Steps...)
	return survey, steps, err
}

// LastCompletedSurvey implements storage.Surveys.
func (t tx) LastCompletedSurvey(ctx context.Context, patientID string) (guidance.Survey, error) {
	document, err := t.Queries.LastCompletedSurvey(ctx, patientID)
	return surveyOf(ctx, document, err)
}

func surveyOf(ctx context.Context, document string, err error) (guidance.Survey, error) {
	if err != nil {
		return guidance.Survey{}, found(ctx, "read a survey", err)
	}
	surveys, err := storage.FromJSON[guidance.Survey]("survey", document)
	if err != nil {
		return guidance.Survey{}, err
	}
	return surveys[0], nil
}

// Surveys implements storage.Surveys.
func (t tx) Surveys(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) ([]guidance.Survey, int64, error) {
	var documents []string
	var total int64
	var err error
	switch {
	case filter.PatientID != "":
		documents, total, err = t.surveysOfPatient(ctx, filter, skipped, atMost)
	case filter.UserID != "":
		documents, total, err = t.surveysOfUser(ctx, filter, skipped, atMost)
	default:
		documents, total, err = t.allSurveys(ctx, string(filter.Status), skipped, atMost)
	}
	if err != nil {
		return nil, 0, failure(ctx, "read surveys", err)
	}
	page, err := storage.FromJSON[guidance.Survey]("survey", documents...)
	return page, total, err
}

func (t tx) surveysOfPatient(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) (documents []string, total int64, err error) {
	status := string(filter.Status)
	total, err = t.CountSurveysOfPatient(ctx, queries.CountSurveysOfPatientParams{PatientID: filter.PatientID, Status: status})
	if err != nil {
		return nil, 0, err
	}
	documents, err = t.SurveysOfPatient(ctx, queries.SurveysOfPatientParams{
		PatientID: filter.PatientID, Status: status, Skipped: skipped, AtMost: atMost,
	})
	return documents, total, err
}

func (t tx) surveysOfUser(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) (documents []string, total int64, err error) {
	status := string(filter.Status)
	total, err = t.CountSurveysOfUser(ctx, queries.CountSurveysOfUserParams{UserID: filter.UserID, Status: status})
	if err != nil {
		return nil, 0, err
	}
	documents, err = t.SurveysOfUser(ctx, queries.SurveysOfUserParams{
		UserID: filter.UserID, Status: status, Skipped: skipped, AtMost: atMost,
	})
	return documents, total, err
}

func (t tx) allSurveys(ctx context.Context, status string, skipped, atMost int64) (documents []string, total int64, err error) {
	rows, err := t.SurveyCounts(ctx, status)
	if err != nil {
		return nil, 0, err
	}
	counts := make([]storage.BlockCount, len(rows))
	for i, row := range rows {
		counts[i] = storage.BlockCount{Block: row.Block, Count: row.Total}
	}
	position, left, total := storage.Locate(counts, skipped)
	if status == "" {
		documents, err = t.SurveysFrom(ctx, queries.SurveysFromParams{Position: position, Skipped: left, AtMost: atMost})
	} else {
		documents, err = t.SurveysByStatusFrom(ctx, queries.SurveysByStatusFromParams{
			Status: status, Position: position, Skipped: left, AtMost: atMost,
		})
	}
	return documents, total, err
}

// UpdateSurvey implements storage.Surveys.
func (t tx) UpdateSurvey(ctx context.Context, survey guidance.Survey) error {
	document, err := storage.ToJSON("survey", survey)
	if err != nil {
		return err
	}
	updated, err := t.Queries.UpdateSurvey(ctx, queries.UpdateSurveyParams{
		ID: survey.ID, Status: string(survey.Status), Version: survey.Version, VersionBefore: survey.Version - 1, Document: document,
	})
	switch {
	case err != nil:
		return failure(ctx, "change a survey", err)
	case updated == 0:
		return storage.ErrChanged
	}
	return nil
}

// DeleteSurvey implements storage.Surveys.
func (t tx) DeleteSurvey(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteSurvey(ctx, id)
	switch {
	case err != nil:
		return failure(ctx, "erase a survey", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}

// Steps implements storage.Surveys.
func (t tx) Steps(ctx context.Context, surveyID string) ([]guidance.Step, error) {
	documents, err := t.Queries.Steps(ctx, surveyID)
	if err != nil {
		return nil, failure(ctx, "read the steps of a survey", err)
	}
	return storage.FromJSON[guidance.Step]("step", documents...)
}

// PutSteps implements storage.Surveys.
func (t tx) PutSteps(ctx context.Context, surveyID string, from int, steps []guidance.Step) error {
	for i, step := range steps {
		document, err := storage.ToJSON("step", step)
		if err != nil {
			return err
		}
		err = t.PutStep(ctx, queries.PutStepParams{SurveyID: surveyID, Number: int64(from + i), Step: document})
		if err != nil {
			return failure(ctx, "keep a step of a survey", err)
		}
	}
	return nil
}

// DeleteSteps implements storage.Surveys.
func (t tx) DeleteSteps(ctx context.Context, surveyID string, from int) error {
	err := t.Queries.DeleteSteps(ctx, queries.DeleteStepsParams{SurveyID: surveyID, Number: int64(from)})
	if err != nil {
		return failure(ctx, "erase steps of a survey", err)
	}
	return nil
}

// PutResult implements storage.Surveys.
func (t tx) PutResult(ctx context.Context, surveyID string, result guidance.Result) error {
	document, err := storage.ToJSON("result", result)
	if err != nil {
		return err
	}
	if err := t.Queries.PutResult(ctx, queries.PutResultParams{SurveyID: surveyID, Result: document}); err != nil {
		return failure(ctx, "keep the result of a survey", err)
	}
	return nil
}

// Result implements storage.Surveys.
func (t tx) Result(ctx context.Context, surveyID string) (guidance.Result, error) {
	document, err := t.Queries.Result(ctx, surveyID)
	if err != nil {
		return guidance.Result{}, found(ctx, "read the result of a survey", err)
	}
	results, err := storage.FromJSON[guidance.Result]("result", document)
	if err != nil {
		return guidance.Result{}, err
	}
	return results[0], nil
}
