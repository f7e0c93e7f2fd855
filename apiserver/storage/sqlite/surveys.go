// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// InsertSurvey implements storage.SurveyStore.
func (t tx) InsertSurvey(ctx context.Context, survey record.Survey) error {
	document, err := storage.MarshalDocument("survey", survey)
	if err != nil {
		return err
	}
	err = t.Queries.InsertSurvey(ctx, queries.InsertSurveyParams{
		ID: survey.ID, PatientID: survey.PatientID, Status: string(survey.Status), Version: survey.Version, Document: document,
	})
	if err != nil {
		return wrapError("creating survey", err)
	}
	return nil
}

// GetSurvey implements storage.SurveyStore.
func (t tx) GetSurvey(ctx context.Context, id string) (record.Survey, error) {
	document, err := t.Survey(ctx, id)
	return toSurvey(document, err)
}

// GetSurveyWithSteps implements storage.SurveyStore. The transaction holds the write
// lock, so both reads are consistent.
func (t tx) GetSurveyWithSteps(ctx context.Context, id string) (record.Survey, []record.Step, error) {
	survey, err := t.GetSurvey(ctx, id)
	if err != nil {
		return record.Survey{}, nil, err
	}
	steps, err := t.ListSteps(ctx, id)
	return survey, steps, err
}

// GetLastCompletedSurvey implements storage.SurveyStore.
func (t tx) GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error) {
	document, err := t.LastCompletedSurvey(ctx, patientID)
	return toSurvey(document, err)
}

func toSurvey(document string, err error) (record.Survey, error) {
	if err != nil {
		return record.Survey{}, wrapNotFound("reading survey", err)
	}
	surveys, err := storage.UnmarshalDocuments[record.Survey]("survey", document)
	if err != nil {
		return record.Survey{}, err
	}
	return surveys[0], nil
}

// ListSurveys implements storage.SurveyStore.
func (t tx) ListSurveys(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) ([]record.Survey, int64, error) {
	var documents []string
	var total int64
	var err error
	switch {
	case filter.PatientID != "":
		documents, total, err = t.listPatientSurveys(ctx, filter, skipped, atMost)
	case filter.UserID != "":
		documents, total, err = t.listUserSurveys(ctx, filter, skipped, atMost)
	default:
		documents, total, err = t.listAllSurveys(ctx, string(filter.Status), skipped, atMost)
	}
	if err != nil {
		return nil, 0, wrapError("listing surveys", err)
	}
	page, err := storage.UnmarshalDocuments[record.Survey]("survey", documents...)
	return page, total, err
}

func (t tx) listPatientSurveys(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) (documents []string, total int64, err error) {
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

func (t tx) listUserSurveys(ctx context.Context, filter storage.SurveyFilter, skipped, atMost int64) (documents []string, total int64, err error) {
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

func (t tx) listAllSurveys(ctx context.Context, status string, skipped, atMost int64) (documents []string, total int64, err error) {
	rows, err := t.SurveyCounts(ctx, status)
	if err != nil {
		return nil, 0, err
	}
	counts := make([]storage.BlockCount, len(rows))
	for i, row := range rows {
		counts[i] = storage.BlockCount{Block: row.Block, Count: row.Total}
	}
	position, left, total := storage.LocatePage(counts, skipped)
	if status == "" {
		documents, err = t.SurveysFrom(ctx, queries.SurveysFromParams{Position: position, Skipped: left, AtMost: atMost})
	} else {
		documents, err = t.SurveysByStatusFrom(ctx, queries.SurveysByStatusFromParams{
			Status: status, Position: position, Skipped: left, AtMost: atMost,
		})
	}
	return documents, total, err
}

// UpdateSurvey implements storage.SurveyStore.
func (t tx) UpdateSurvey(ctx context.Context, survey record.Survey) error {
	document, err := storage.MarshalDocument("survey", survey)
	if err != nil {
		return err
	}
	updated, err := t.Queries.UpdateSurvey(ctx, queries.UpdateSurveyParams{
		ID: survey.ID, Status: string(survey.Status), Version: survey.Version, VersionBefore: survey.Version - 1, Document: document,
	})
	switch {
	case err != nil:
		return wrapError("updating survey", err)
	case updated == 0:
		return storage.ErrVersionMismatch
	}
	return nil
}

// DeleteSurvey implements storage.SurveyStore.
func (t tx) DeleteSurvey(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteSurvey(ctx, id)
	switch {
	case err != nil:
		return wrapError("deleting survey", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}

// ListSteps implements storage.SurveyStore.
func (t tx) ListSteps(ctx context.Context, surveyID string) ([]record.Step, error) {
	documents, err := t.Steps(ctx, surveyID)
	if err != nil {
		return nil, wrapError("reading survey steps", err)
	}
	return storage.UnmarshalDocuments[record.Step]("step", documents...)
}

// PutSteps implements storage.SurveyStore.
func (t tx) PutSteps(ctx context.Context, surveyID string, from int, steps []record.Step) error {
	for i, step := range steps {
		document, err := storage.MarshalDocument("step", step)
		if err != nil {
			return err
		}
		err = t.PutStep(ctx, queries.PutStepParams{SurveyID: surveyID, Number: int64(from + i), Step: document})
		if err != nil {
			return wrapError("storing survey step", err)
		}
	}
	return nil
}

// DeleteSteps implements storage.SurveyStore.
func (t tx) DeleteSteps(ctx context.Context, surveyID string, from int) error {
	err := t.Queries.DeleteSteps(ctx, queries.DeleteStepsParams{SurveyID: surveyID, Number: int64(from)})
	if err != nil {
		return wrapError("deleting survey steps", err)
	}
	return nil
}

// PutResult implements storage.SurveyStore.
func (t tx) PutResult(ctx context.Context, surveyID string, result record.Result) error {
	document, err := storage.MarshalDocument("result", result)
	if err != nil {
		return err
	}
	if err := t.Queries.PutResult(ctx, queries.PutResultParams{SurveyID: surveyID, Result: document}); err != nil {
		return wrapError("storing survey result", err)
	}
	return nil
}

// GetResult implements storage.SurveyStore.
func (t tx) GetResult(ctx context.Context, surveyID string) (record.Result, error) {
	document, err := t.Result(ctx, surveyID)
	if err != nil {
		return record.Result{}, wrapNotFound("reading survey result", err)
	}
	results, err := storage.UnmarshalDocuments[record.Result]("result", document)
	if err != nil {
		return record.Result{}, err
	}
	return results[0], nil
}
