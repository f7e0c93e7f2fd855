// SPDX-License-Identifier: Apache-2.0

package consultation

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

var opened = sync.OnceValues(Open)

// open compiles the content once for all tests.
func open(t *testing.T) *Room {
	t.Helper()
	r, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Whoever denies all that is asked is asked to the end of what there is to
// know, once each, and no longer.
func TestAsk(t *testing.T) {
	t.Parallel()
	room := open(t)
	symptom, _ := room.Release.ObservationsOfKind(model.Symptom)
	asked := map[model.ObservationIndex]int{}
	record, err := room.Ask(&Patient{
		Sex: model.Male, AgeMonths: 480, Opening: []model.ObservationIndex{symptom},
		Choice: func(o model.ObservationIndex) engine.Choice { asked[o]++; return engine.Absent },
	})
	if err != nil {
		t.Fatal(err)
	}
	for o, times := range asked {
		if times > 1 || o == symptom {
			t.Errorf("%s was asked for %d times", room.Release.ObservationID(o), times)
		}
	}
	if record.Questions == 0 || record.Questions > MostQuestions || len(record.Ranking) == 0 || record.Level == model.NoTriageLevel {
		t.Errorf("%d questions, %d conditions, %v", record.Questions, len(record.Ranking), record.Level)
	}
	if record.Evidence[0].Source != engine.SourceInitial || record.Evidence[1].Source != engine.SourceNone {
		t.Errorf("the evidence begins with %v", record.Evidence[:2])
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	c := open(t)
	symptom, _ := c.Release.ObservationsOfKind(model.Symptom)
	items := func(more ...model.ObservationIndex) []model.ObservationIndex { return more }
	for _, row := range []struct {
		title string
		kind  engine.QuestionType
		items []model.ObservationIndex
		there []model.ObservationIndex
		want  []engine.Choice
	}{
		{"one that is there", engine.Single, items(symptom), items(symptom), []engine.Choice{engine.Present}},
		{"one that is not", engine.Single, items(symptom), nil, []engine.Choice{engine.Absent}},
		{"each of a group", engine.GroupMultiple, items(symptom, symptom+1, symptom+2), items(symptom + 1), []engine.Choice{engine.Absent, engine.Present, engine.Absent}},
		{"one of a group", engine.GroupSingle, items(symptom, symptom+1, symptom+2), items(symptom+1, symptom+2), []engine.Choice{engine.Present}},
		{"none of a group", engine.GroupSingle, items(symptom, symptom+1), nil, []engine.Choice{engine.Unknown, engine.Unknown}},
		{"no items", engine.AskDuration, nil, nil, nil},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			var o Record
			p := &Patient{Choice: func(item model.ObservationIndex) engine.Choice {
				if slices.Contains(row.there, item) {
					return engine.Present
				}
				return engine.Absent
			}}
			question := &engine.Question{Type: row.kind, Items: row.items}
			if got := o.answer(c.Release, p, question); got != (len(row.want) > 0) {
				t.Errorf("answered: %t", got)
			}
			var got []engine.Choice
			for _, e := range o.Evidence {
				got = append(got, e.Choice)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if row.kind != engine.GroupSingle && o.answer(c.Release, p, question) {
				t.Error("answered twice")
			}
		})
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	c := open(t)
	from, to := c.Release.ObservationsOfKind(model.Symptom)
	var o Record
	for observation := from; observation < to; observation++ {
		o.Tell(c.Release, observation, engine.Absent, engine.SourceNone)
	}
	if len(o.Evidence) != MostEvidence {
		t.Errorf("%d pieces of evidence", len(o.Evidence))
	}
	if !o.Has(c.Release, from) || o.Has(c.Release, to-1) {
		t.Error("the first must be told, and the last not")
	}
}
