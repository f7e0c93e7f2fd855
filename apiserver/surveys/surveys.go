// SPDX-License-Identifier: Apache-2.0

// Package surveys is the register of surveys: it loads one with its steps, has
// package guidance/survey compute what comes next outside of any transaction, and
// writes that in one, where the survey still is what it was computed from. It lets
// an end user reach no more than what is that user's, and records who did what in
// the transaction that did it. What a survey asks is decided in package guidance; no
// SQL and no HTTP lives here.
package surveys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Register keeps the surveys of an instance. All its fields are required but the
// last two. Where there is none with an id, or none that an end user may see, its methods
// return storage.ErrNotFound. The errors of package survey are handed on as they are.
type Register struct {
	Storage  storage.Transactor
	Models   Models
	Engine   *engine.Engine
	Words    section.Vocabulary
	Features func() section.Features
	Now      func() time.Time
	// Lane is where answers of patients with so many findings wait for their turn to
	// be computed; nil: nobody waits.
	Lane func(findings int) Lane
	// Observer is told how surveys go; nil for nobody.
	Observer Observer
}

// A Lane lets so many through at a time. *guard.Gate is one.
type Lane interface {
	// Enter lets somebody in, who must Leave, or has an error for one who has to come
	// back later.
	Enter(ctx context.Context) error
	Leave()
}

// An Observer is told how surveys go, and never whose.
type Observer interface {
	// SurveyBegun is told of each survey that is made.
	SurveyBegun(kind guidance.Type)
	// QuestionAsked is told of each question that is put to a patient, and in which
	// section.
	QuestionAsked(section string)
	// QuestionAnswered is told of each answer that is kept, in which section, and how
	// long after the question; zero for a changed answer, and where that is not known.
	QuestionAnswered(section string, after time.Duration)
	// SurveyCompleted is told of each survey that has no more to ask.
	SurveyCompleted(kind guidance.Type)
}

// Page is a part of a list.
type Page struct{ Skipped, AtMost int64 }

// record is what is recorded of an act.
func (r *Register) record(by audit.Actor, action audit.Action, resource audit.Resource, id string) audit.Record {
	return audit.Record{At: r.Now(), Actor: by, Action: action, Resource: resource, ResourceID: id}
}

// isID says whether a survey or a patient may have an id.
func isID(id string) bool { return uuid.Validate(id) == nil }

// Survey is the survey with an id.
func (r *Register) Survey(ctx context.Context, by audit.Actor, id string) (guidance.Survey, error) {
	var found guidance.Survey
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if found, err = visible(ctx, tx, by, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Read, audit.Survey, id))
	})
	return found, err
}

// visible is a survey that somebody may see: an application all, an end user those
// of the own patients.
func visible(ctx context.Context, tx storage.Tx, by audit.Actor, id string) (guidance.Survey, error) {
	if !isID(id) {
		return guidance.Survey{}, storage.ErrNotFound
	}
	found, err := tx.Survey(ctx, id)
	if err != nil {
		return guidance.Survey{}, err
	}
	return found, reach(ctx, tx, by, found)
}

// reach is storage.ErrNotFound where somebody may not see a survey.
func reach(ctx context.Context, tx storage.Tx, by audit.Actor, found guidance.Survey) error {
	if by.UserID == "" {
		return nil
	}
	patient, err := tx.Patient(ctx, found.PatientID)
	if err != nil {
		return err
	}
	if patient.UserID != by.UserID {
		return storage.ErrNotFound
	}
	return nil
}

// Surveys is a part of the surveys, and how many there are: of all, or of those of a
// patient, and of a status. An end user has no others than the own.
func (r *Register) Surveys(ctx context.Context, by audit.Actor, patientID string, status guidance.Status, page Page) (surveys []guidance.Survey, total int64, err error) {
	filter := storage.SurveyFilter{PatientID: patientID, Status: status}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		var nobody bool
		if filter, nobody, err = within(ctx, tx, by, filter); err != nil {
			return err
		}
		if !nobody {
			if surveys, total, err = tx.Surveys(ctx, filter, page.Skipped, page.AtMost); err != nil {
				return err
			}
		}
		return tx.InsertAudit(ctx, r.record(by, audit.List, audit.Survey, ""))
	})
	return surveys, total, err
}

// within narrows a filter to what somebody may see, or says that it picks nothing.
func within(ctx context.Context, tx storage.Tx, by audit.Actor, filter storage.SurveyFilter) (narrowed storage.SurveyFilter, nobody bool, err error) {
	switch {
	case filter.PatientID == "":
		filter.UserID = by.UserID
		return filter, false, nil
	case !isID(filter.PatientID):
		return filter, true, nil
	case by.UserID == "":
		return filter, false, nil
	}
	patient, err := tx.Patient(ctx, filter.PatientID)
	if errors.Is(err, storage.ErrNotFound) {
		return filter, true, nil
	}
	return filter, patient.UserID != by.UserID, err
}

// Delete erases a survey with all that is kept of it.
func (r *Register) Delete(ctx context.Context, by audit.Actor, id string) error {
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if _, err := visible(ctx, tx, by, id); err != nil {
			return err
		}
		if err := tx.DeleteSurvey(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Delete, audit.Survey, id))
	})
}

// load reads a survey with its steps, and records what is done with it where that is
// all that is done.
func (r *Register) load(ctx context.Context, by audit.Actor, id string, acts ...audit.Record) (p survey.Progress, err error) {
	if !isID(id) {
		return p, storage.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if p.Survey, p.Steps, err = tx.SurveyWithSteps(ctx, id); err != nil {
			return err
		}
		if err := reach(ctx, tx, by, p.Survey); err != nil {
			return err
		}
		for _, act := range acts {
			if err := tx.InsertAudit(ctx, act); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// ErrComputed is wrapped by errors of what a survey asks: of the client, as package
// survey has them, or of the content and the code.
var ErrComputed = errors.New("a survey cannot go on")

func computed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrComputed, err)
}

// mostTries is how often something is computed anew because somebody else wrote
// meanwhile.
const mostTries = 4

// again does something until nobody else was faster, and gives up after some tries.
func again[T any](do func() (T, error)) (done T, err error) {
	for range mostTries {
		if done, err = do(); !errors.Is(err, storage.ErrChanged) {
			return done, err
		}
	}
	return done, storage.ErrContended
}
