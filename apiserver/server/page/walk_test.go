// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// What walkers say, in the languages.
var (
	feverEn     = says{Symptoms: "I have a fever and a cough. My nose does not run.", Illness: "asthma", Text: "It began two days ago.", Choice: guidance.Absent}
	feverDe     = says{Symptoms: "Ich habe Fieber und Husten. Kein Schnupfen.", Illness: "Asthma", Text: "Es begann vor zwei Tagen.", Choice: guidance.Absent}
	stiffNeckEn = says{Symptoms: "I have had a bad headache and a stiff neck since yesterday.", Choice: guidance.Unknown}
	stiffNeckDe = says{Symptoms: "Seit gestern habe ich starke Kopfschmerzen und einen steifen Nacken.", Choice: guidance.Unknown}
)

var (
	phone   = browser.Options{Width: 390, Height: 844, Mobile: true}
	desktop = browser.Options{Width: 1280, Height: 900}
)

// A walk is what one patient answers on one device: surveys from their links to their
// results, one after the other.
type walk struct {
	name      string
	device    browser.Options
	language  string
	types     []guidance.Type
	says      says
	emergency bool
}

// walks go through each type in two languages, and through each language on each device.
var walks = []walk{
	{"triage and follow-up on a phone", phone, "en", []guidance.Type{guidance.Triage, guidance.FollowUp}, feverEn, false},
	{"intake on a desktop in American", desktop, "en-US", []guidance.Type{guidance.Intake}, feverEn, false},
	{"triage and follow-up on a desktop in German", desktop, "de", []guidance.Type{guidance.Triage, guidance.FollowUp}, feverDe, false},
	{"intake on a phone in German", phone, "de", []guidance.Type{guidance.Intake}, feverDe, false},
	{"emergency on a phone in American", phone, "en-US", []guidance.Type{guidance.Triage}, stiffNeckEn, true},
	{"emergency on a desktop", desktop, "en", []guidance.Type{guidance.Triage}, stiffNeckEn, true},
	{"emergency on a desktop in German", desktop, "de", []guidance.Type{guidance.Triage}, stiffNeckDe, true},
}

func TestWalk(t *testing.T) {
	met := met{kinds: map[string]bool{}}
	t.Run("surveys", func(t *testing.T) {
		for _, walk := range walks {
			t.Run(walk.name, func(t *testing.T) {
				t.Parallel()
				walk.take(t, &met)
			})
		}
	})
	want := []string{
		"alarm", "choice", "group_multiple", "group_single", "link", "list", "multiple_choice", "number", "result", "single", "start", "text",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(met.kinds))); diff != "" {
		t.Errorf("kinds of pages that walkers came to (-want +got):\n%s", diff)
	}
}

// met are the kinds of pages that walkers came to.
type met struct {
	sync.Mutex
	kinds map[string]bool
}

func (m *met) add(kind string) {
	m.Lock()
	defer m.Unlock()
	m.kinds[kind] = true
}

// take answers all surveys of a walk.
func (k walk) take(t *testing.T, met *met) {
	t.Helper()
	k.device.Language = k.language
	c := newClinic(t)
	w := &walker{t: t, clinic: c, tab: browser.Open(t, k.device), says: k.says}
	for _, kind := range k.types {
		w.wish = wish{Type: string(kind), Language: k.language}
		if w.survey.ID == "" {
			w.survey = c.survey(w.wish)
		} else {
			w.survey = c.surveyOf(guidance.Patient{ID: w.survey.PatientID}, w.wish)
		}
		k.answer(w, met)
	}
	if alarmed := w.alarms > 0; alarmed != k.emergency {
		t.Errorf("%d pages said that it is an emergency, which is %t", w.alarms, k.emergency)
	}
}

// mostSheets is how much paper a result may take: both sides of one sheet.
const mostSheets = 2

// answer answers one survey, and draws each kind of page once.
func (k walk) answer(w *walker, met *met) {
	w.t.Helper()
	drawn := map[string]bool{}
	w.step = func(seen view) {
		w.check(seen)
		met.add(seen.kind())
		if !drawn[seen.kind()] {
			drawn[seen.kind()] = true
			w.tab.Screenshot(strings.Join([]string{k.name, w.wish.Type, seen.kind()}, "-"))
		}
	}
	w.tab.Go(w.clinic.link(w.survey))
	w.walk()
	if !drawn["result"] {
		w.t.Errorf("the survey ends at %s, not at its result", w.tab.URL())
	}
	if sheets := w.tab.Print(k.name + "-" + w.wish.Type); sheets > mostSheets {
		w.t.Errorf("the result takes %d sheets of paper, want %d at most", sheets, mostSheets)
	}
}
