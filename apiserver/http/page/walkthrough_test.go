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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// Answers of the survey bots, by language.
var (
	feverEn     = botAnswers{Symptoms: "I have a fever and a cough. My nose does not run.", Condition: "asthma", Text: "It began two days ago.", Choice: record.ChoiceAbsent}
	feverDe     = botAnswers{Symptoms: "Ich habe Fieber und Husten. Kein Schnupfen.", Condition: "Asthma", Text: "Es begann vor zwei Tagen.", Choice: record.ChoiceAbsent}
	stiffNeckEn = botAnswers{Symptoms: "I have had a bad headache and a stiff neck since yesterday.", Choice: record.ChoiceUnknown}
	stiffNeckDe = botAnswers{Symptoms: "Seit gestern habe ich starke Kopfschmerzen und einen steifen Nacken.", Choice: record.ChoiceUnknown}
)

var (
	phone   = browser.Options{Width: 390, Height: 844, Mobile: true}
	desktop = browser.Options{Width: 1280, Height: 900}
)

// A walk is a series of surveys that one patient completes on one device.
type walk struct {
	name      string
	device    browser.Options
	language  string
	types     []record.Type
	says      botAnswers
	emergency bool
}

// walks cover each type in two languages, and each language on each device.
var walks = []walk{
	{"triage and follow-up on a phone", phone, "en", []record.Type{record.TypeTriage, record.TypeFollowUp}, feverEn, false},
	{"intake on a desktop in US English", desktop, "en-US", []record.Type{record.TypeIntake}, feverEn, false},
	{"triage and follow-up on a desktop in German", desktop, "de", []record.Type{record.TypeTriage, record.TypeFollowUp}, feverDe, false},
	{"intake on a phone in German", phone, "de", []record.Type{record.TypeIntake}, feverDe, false},
	{"emergency on a phone in US English", phone, "en-US", []record.Type{record.TypeTriage}, stiffNeckEn, true},
	{"emergency on a desktop", desktop, "en", []record.Type{record.TypeTriage}, stiffNeckEn, true},
	{"emergency on a desktop in German", desktop, "de", []record.Type{record.TypeTriage}, stiffNeckDe, true},
}

func TestWalkthroughs(t *testing.T) {
	kinds := seenKinds{kinds: map[string]bool{}}
	t.Run("surveys", func(t *testing.T) {
		for _, walk := range walks {
			t.Run(walk.name, func(t *testing.T) {
				t.Parallel()
				walk.run(t, &kinds)
			})
		}
	})
	want := []string{
		"alarm", "choice", "group_multiple", "group_single", "link", "list", "multiple_choice", "number", "result", "single", "start", "text",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(kinds.kinds))); diff != "" {
		t.Errorf("visited kinds of pages (-want +got):\n%s", diff)
	}
}

// seenKinds are the kinds of pages that the bots have seen.
type seenKinds struct {
	sync.Mutex
	kinds map[string]bool
}

func (s *seenKinds) add(kind string) {
	s.Lock()
	defer s.Unlock()
	s.kinds[kind] = true
}

// run answers all surveys of a walk.
func (w walk) run(t *testing.T, kinds *seenKinds) {
	t.Helper()
	w.device.Language = w.language
	c := newFixture(t)
	bot := &surveyBot{t: t, clinic: c, tab: browser.Open(t, w.device), answers: w.says}
	for _, kind := range w.types {
		bot.spec = surveySpec{Type: string(kind), Language: w.language}
		if bot.survey.ID == "" {
			bot.survey = c.createSurvey(bot.spec)
		} else {
			bot.survey = c.createSurveyFor(record.Patient{ID: bot.survey.PatientID}, bot.spec)
		}
		w.answerSurvey(bot, kinds)
	}
	if alarmed := bot.emergencies > 0; alarmed != w.emergency {
		t.Errorf("%d pages reported an emergency, want emergency: %t", bot.emergencies, w.emergency)
	}
}

// maxSheets limits the printed length of a result: both sides of one sheet.
const maxSheets = 2

// answerSurvey answers one survey, and takes a screenshot of each kind of page once.
func (w walk) answerSurvey(bot *surveyBot, kinds *seenKinds) {
	bot.t.Helper()
	drawn := map[string]bool{}
	bot.onStep = func(seen botView) {
		bot.check(seen)
		kinds.add(seen.kind())
		if !drawn[seen.kind()] {
			drawn[seen.kind()] = true
			bot.tab.Screenshot(strings.Join([]string{w.name, bot.spec.Type, seen.kind()}, "-"))
		}
	}
	bot.tab.Go(bot.clinic.magicLink(bot.survey))
	bot.completeSurvey()
	if !drawn["result"] {
		bot.t.Errorf("survey ended at %s, want its result", bot.tab.URL())
	}
	if sheets := bot.tab.Print(w.name + "-" + bot.spec.Type); sheets > maxSheets {
		bot.t.Errorf("result takes %d sheets of paper, want at most %d", sheets, maxSheets)
	}
}
