// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// See is what a patient is shown of a survey.
func (r *Register) See(ctx context.Context, by audit.Actor, id string) (survey.Sight, error) {
	p, err := r.load(ctx, by, id, r.record(by, audit.Read, audit.Survey, id))
	if err != nil {
		return survey.Sight{}, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return survey.Sight{}, err
	}
	defer w.done()
	return inTurn(ctx, r, survey.Findings(p, w.World), func() (survey.Sight, error) { return survey.See(p, w.World) })
}

// Why is why the current question of a survey is asked, and what a patient is shown of
// the survey. A question that needs no reason has none. The names of conditions are
// hidden from end users where the tenant wants it so.
func (r *Register) Why(ctx context.Context, by audit.Actor, id string) (survey.Explained, error) {
	p, err := r.load(ctx, by, id, r.record(by, audit.Read, audit.Survey, id))
	if err != nil {
		return survey.Explained{}, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return survey.Explained{}, err
	}
	defer w.done()
	explained, err := inTurn(ctx, r, survey.Findings(p, w.World), func() (survey.Explained, error) { return survey.Explain(p, w.World) })
	if by.UserID != "" && !w.Features.PatientResults {
		explained.Reason.Conditions = nil
	}
	return explained, err
}

// Understand is what somebody's own words say that a list of symptoms has, for one
// patient. The words may be section.LongestWords long.
func (r *Register) Understand(list guidance.SourceList, words string) ([]guidance.Item, error) {
	if length := utf8.RuneCountInString(words); length > section.LongestWords {
		problem := fmt.Sprintf("expected at most %d characters, got %d", section.LongestWords, length)
		return nil, &assessment.FieldError{Field: "words", Problem: problem}
	}
	modelID, _ := r.modelFor(list.Language)
	w, err := r.worldIn(modelID)
	if err != nil {
		return nil, err
	}
	defer w.done()
	return section.Understand(w.Release, w.Lists, list, strings.ToValidUTF8(words, "\ufffd")), nil
}

// Named are the entries of a list with ids, in their order, without those that it does
// not have for the patient.
func (r *Register) Named(list guidance.SourceList, ids []string) ([]guidance.Item, error) {
	modelID, _ := r.modelFor(list.Language)
	w, err := r.worldIn(modelID)
	if err != nil {
		return nil, err
	}
	defer w.done()
	items := make([]guidance.Item, 0, len(ids))
	for _, id := range ids {
		if found, ok := w.Lists.Find(list, id); ok {
			items = append(items, guidance.Item{ID: found.ID, Name: found.Name})
		}
	}
	return items, nil
}
