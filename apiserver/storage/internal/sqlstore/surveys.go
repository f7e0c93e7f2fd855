// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

// InsertSurvey implements storage.SurveyStore.
func (t *Tx) InsertSurvey(ctx context.Context, survey record.Survey) error {
	document, err := marshalDocument("survey", survey)
	if err != nil {
		return err
	}
	err = t.Queries.InsertSurvey(ctx, queries.InsertSurveyParams{
		ID: survey.ID, PatientID: survey.PatientID, Status: string(survey.Status), Version: survey.Version, Document: document,
	})
	return t.wrap(ctx, "creating survey", err)
}

// GetSurvey implements storage.SurveyStore.
func (t *Tx) GetSurvey(ctx context.Context, id string) (record.Survey, error) {
	document, err := t.Survey(ctx, id)
	return readDocument[record.Survey](ctx, t, "survey", document, err)
}

// GetSurveyWithSteps implements storage.SurveyStore.
func (t *Tx) GetSurveyWithSteps(ctx context.Context, id string) (survey record.Survey, steps []record.Step, err error) {
	rows, err := t.SurveyWithSteps(ctx, id)
	if err != nil || len(rows) == 0 {
		return record.Survey{}, nil, t.wrapChanged(ctx, "reading survey", int64(len(rows)), err, record.ErrNotFound)
	}
	if survey, err = unmarshalDocument[record.Survey]("survey", rows[0].Document); err != nil {
		return record.Survey{}, nil, err
	}
	steps, err = unmarshalDocuments[record.Step]("step", convert(rows[1:], func(row queries.SurveyWithStepsRow) string { return row.Document }))
	return survey, steps, err
}

// GetLastCompletedSurvey implements storage.SurveyStore.
func (t *Tx) GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error) {
	document, err := t.LastCompletedSurvey(ctx, patientID)
	return readDocument[record.Survey](ctx, t, "survey", document, err)
}

// ListSurveys implements storage.SurveyStore.
func (t *Tx) ListSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) ([]record.Survey, int64, error) {
	var documents []string
	var total int64
	var err error
	switch {
	case filter.PatientID != "":
		documents, total, err = t.listPatientSurveys(ctx, filter, offset, limit)
	case filter.UserID != "":
		documents, total, err = t.listUserSurveys(ctx, filter, offset, limit)
	default:
		documents, total, err = t.listAllSurveys(ctx, string(filter.Status), offset, limit)
	}
	if err != nil {
		return nil, 0, t.wrap(ctx, "listing surveys", err)
	}
	page, err := unmarshalDocuments[record.Survey]("survey", documents)
	return page, total, err
}

func (t *Tx) listPatientSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) (documents []string, total int64, err error) {
	status := string(filter.Status)
	total, err = t.CountPatientSurveys(ctx, queries.CountPatientSurveysParams{PatientID: filter.PatientID, Status: status})
	if err != nil {
		return nil, 0, err
	}
	documents, err = t.PatientSurveys(ctx, queries.PatientSurveysParams{
		PatientID: filter.PatientID, Status: status, Offset: offset, Limit: limit,
	})
	return documents, total, err
}

func (t *Tx) listUserSurveys(ctx context.Context, filter record.SurveyFilter, offset, limit int64) (documents []string, total int64, err error) {
	status := string(filter.Status)
	total, err = t.CountUserSurveys(ctx, queries.CountUserSurveysParams{UserID: filter.UserID, Status: status})
	if err != nil {
		return nil, 0, err
	}
	documents, err = t.UserSurveys(ctx, queries.UserSurveysParams{
		UserID: filter.UserID, Status: status, Offset: offset, Limit: limit,
	})
	return documents, total, err
}

func (t *Tx) listAllSurveys(ctx context.Context, status string, offset, limit int64) (documents []string, total int64, err error) {
	counts, err := t.SurveyCounts(ctx, status)
	if err != nil {
		return nil, 0, err
	}
	position, remaining, total := locatePage(counts, offset)
	if status == "" {
		documents, err = t.SurveysFrom(ctx, queries.SurveysFromParams{Position: position, Offset: remaining, Limit: limit})
	} else {
		documents, err = t.SurveysByStatusFrom(ctx, queries.SurveysByStatusFromParams{
			Status: status, Position: position, Offset: remaining, Limit: limit,
		})
	}
	return documents, total, err
}

// blockBits is the number of low-order position bits that a block of surveys shares.
// Migration 8 uses the same number.
const blockBits = 10

// locatePage converts an offset into a start position and the remaining offset from
// there, and also returns the total. counts must be ordered by block.
func locatePage(counts []queries.SurveyCountsRow, offset int64) (position, remaining, total int64) {
	remaining = offset
	for _, block := range counts {
		if total+block.Total <= offset {
			position, remaining = (block.Block+1)<<blockBits, offset-total-block.Total
		}
		total += block.Total
	}
	return position, remaining, total
}

// UpdateSurvey implements storage.SurveyStore.
func (t *Tx) UpdateSurvey(ctx context.Context, survey record.Survey) error {
	document, err := marshalDocument("survey", survey)
	if err != nil {
		return err
	}
	updated, err := t.Queries.UpdateSurvey(ctx, queries.UpdateSurveyParams{
		ID: survey.ID, Status: string(survey.Status), Version: survey.Version, VersionBefore: survey.Version - 1, Document: document,
	})
	return t.wrapChanged(ctx, "updating survey", updated, err, record.ErrVersionMismatch)
}

// DeleteSurvey implements storage.SurveyStore.
func (t *Tx) DeleteSurvey(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteSurvey(ctx, id)
	return t.wrapChanged(ctx, "deleting survey", deleted, err, record.ErrNotFound)
}

// ListSteps implements storage.SurveyStore.
func (t *Tx) ListSteps(ctx context.Context, surveyID string) ([]record.Step, error) {
	documents, err := t.Steps(ctx, surveyID)
	if err != nil {
		return nil, t.wrap(ctx, "reading survey steps", err)
	}
	return unmarshalDocuments[record.Step]("step", documents)
}

// PutSteps implements storage.SurveyStore.
func (t *Tx) PutSteps(ctx context.Context, surveyID string, from int, steps []record.Step) error {
	for i, step := range steps {
		document, err := marshalDocument("step", step)
		if err != nil {
			return err
		}
		err = t.PutStep(ctx, queries.PutStepParams{SurveyID: surveyID, Number: int64(from + i), Step: document})
		if err != nil {
			return t.wrap(ctx, "storing survey step", err)
		}
	}
	return nil
}

// DeleteSteps implements storage.SurveyStore.
func (t *Tx) DeleteSteps(ctx context.Context, surveyID string, from int) error {
	err := t.Queries.DeleteSteps(ctx, queries.DeleteStepsParams{SurveyID: surveyID, Number: int64(from)})
	return t.wrap(ctx, "deleting survey steps", err)
}

// PutResult implements storage.SurveyStore.
func (t *Tx) PutResult(ctx context.Context, surveyID string, result record.Result) error {
	document, err := marshalDocument("result", result)
	if err != nil {
		return err
	}
	err = t.Queries.PutResult(ctx, queries.PutResultParams{SurveyID: surveyID, Result: document})
	return t.wrap(ctx, "storing survey result", err)
}

// GetResult implements storage.SurveyStore.
func (t *Tx) GetResult(ctx context.Context, surveyID string) (record.Result, error) {
	document, err := t.Result(ctx, surveyID)
	return readDocument[record.Result](ctx, t, "survey result", document, err)
}
