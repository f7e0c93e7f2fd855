// SPDX-License-Identifier: Apache-2.0

package consultation

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

var sharedInterviewer = sync.OnceValues(NewInterviewer)

// testInterviewer returns an interviewer that all tests share, because compiling the
// content is slow.
func testInterviewer(t *testing.T) *Interviewer {
	t.Helper()
	r, err := sharedInterviewer()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestInterviewEndsWhenNothingIsLeftToAsk checks that the interview of a patient who
// denies everything ends, and asks about each observation at most once.
func TestInterviewEndsWhenNothingIsLeftToAsk(t *testing.T) {
	t.Parallel()
	interviewer := testInterviewer(t)
	symptom, _ := interviewer.Release.ObservationsOfKind(model.Symptom)
	asked := map[model.ObservationIndex]int{}
	transcript, err := interviewer.Interview(&Patient{
		Sex: model.Male, AgeMonths: 480, Opening: []model.ObservationIndex{symptom},
		Answer: func(o model.ObservationIndex) inference.Choice { asked[o]++; return inference.Absent },
	})
	if err != nil {
		t.Fatal(err)
	}
	for o, times := range asked {
		if times > 1 || o == symptom {
			t.Errorf("asked about %s %d times, want at most once", interviewer.Release.ObservationID(o), times)
		}
	}
	if transcript.Questions == 0 || transcript.Questions > MaxQuestions || len(transcript.Ranking) == 0 || transcript.Level == model.NoTriageLevel {
		t.Errorf("got %d questions, %d conditions, level %v", transcript.Questions, len(transcript.Ranking), transcript.Level)
	}
	if transcript.Evidence[0].Source != inference.SourceInitial || transcript.Evidence[1].Source != inference.SourceUnspecified {
		t.Errorf("got unexpected sources in %v", transcript.Evidence[:2])
	}
}

func TestRecordAnswer(t *testing.T) {
	t.Parallel()
	c := testInterviewer(t)
	symptom, _ := c.Release.ObservationsOfKind(model.Symptom)
	items := func(more ...model.ObservationIndex) []model.ObservationIndex { return more }
	for _, row := range []struct {
		title   string
		kind    inference.QuestionType
		items   []model.ObservationIndex
		present []model.ObservationIndex
		want    []inference.Choice
	}{
		{"present", inference.Single, items(symptom), items(symptom), []inference.Choice{inference.Present}},
		{"absent", inference.Single, items(symptom), nil, []inference.Choice{inference.Absent}},
		{"multiple choice", inference.GroupMultiple, items(symptom, symptom+1, symptom+2), items(symptom + 1), []inference.Choice{inference.Absent, inference.Present, inference.Absent}},
		{"single choice", inference.GroupSingle, items(symptom, symptom+1, symptom+2), items(symptom+1, symptom+2), []inference.Choice{inference.Present}},
		{"single choice without a present item", inference.GroupSingle, items(symptom, symptom+1), nil, []inference.Choice{inference.Unknown, inference.Unknown}},
		{"no items", inference.Duration, nil, nil, nil},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			var o Transcript
			p := &Patient{Answer: func(item model.ObservationIndex) inference.Choice {
				if slices.Contains(row.present, item) {
					return inference.Present
				}
				return inference.Absent
			}}
			question := &inference.Question{Type: row.kind, Items: row.items}
			if got := o.recordAnswer(c.Release, p, question); got != (len(row.want) > 0) {
				t.Errorf("recordAnswer returned %t", got)
			}
			var got []inference.Choice
			for _, e := range o.Evidence {
				got = append(got, e.Choice)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if row.kind != inference.GroupSingle && o.recordAnswer(c.Release, p, question) {
				t.Error("recorded the same answers twice")
			}
		})
	}
}

func TestEvidenceLimit(t *testing.T) {
	t.Parallel()
	c := testInterviewer(t)
	from, to := c.Release.ObservationsOfKind(model.Symptom)
	var o Transcript
	for observation := from; observation < to; observation++ {
		o.AddEvidence(c.Release, observation, inference.Absent, inference.SourceUnspecified)
	}
	if len(o.Evidence) != MaxEvidence {
		t.Errorf("got %d evidence items, want %d", len(o.Evidence), MaxEvidence)
	}
	if !o.HasEvidence(c.Release, from) || o.HasEvidence(c.Release, to-1) {
		t.Error("want evidence for the first observation and not for the last")
	}
}
