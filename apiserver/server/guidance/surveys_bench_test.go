// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	domain "github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// longList is how many surveys the list has whose pages are timed.
const longList = 1_000_000

// practice is a register over a storage and the content, called over HTTP.
type practice struct {
	registry
	store    storage.Store
	patient  string
	computed stopwatch // what the engine took of each answer
}

// A stopwatch is a lane that lets everybody through, and times them.
type stopwatch struct {
	sync.Mutex
	times []time.Duration
}

// lap is one who is in the lane.
type lap struct {
	*stopwatch
	begun time.Time
}

func (l *lap) Enter(context.Context) error {
	l.begun = time.Now()
	return nil
}

func (l *lap) Leave() {
	l.Lock()
	defer l.Unlock()
	l.times = append(l.times, time.Since(l.begun))
}

// take is the time within which so many of a hundred were through, in milliseconds, and
// forgets all.
func (s *stopwatch) take(percent int) float64 {
	s.Lock()
	defer s.Unlock()
	slices.Sort(s.times)
	at := s.times[(len(s.times)-1)*percent/100]
	s.times = nil
	return float64(at.Microseconds()) / 1000
}

func newPractice(b *testing.B, url string) *practice {
	b.Helper()
	store, err := open.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	library, words := contentLibrary(b)
	p := &practice{store: store}
	p.registry = newRegistry(b, func(o *guidance.Options) {
		o.People.Storage, o.Usage, o.Feedback = store, store, store
		o.Surveys = &surveys.Register{
			Storage: store, Models: library, Engine: engine.New(), Words: words, Now: o.Now,
			Features: func() section.Features { return section.Features{Prefill: true} },
			Lane:     func(int) surveys.Lane { return &lap{stopwatch: &p.computed} },
		}
	})
	p.client.Transport = http.DefaultTransport // the contract is not what is timed
	go func() {
		for range p.endpoints { // nobody asks for them here
		}
	}()
	user := p.made(usersPath, `{}`)
	p.patient = p.made(patientsPath, `{"user_id": "`+user+`", "sex": "female", "age": {"value": 34}}`)
	return p
}

func contentLibrary(b *testing.B) (*model.Library, section.Vocabulary) {
	b.Helper()
	file, err := compiled.In("en")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := model.WriteFile(filepath.Join(dir, file.Name), file.Data); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenLibrary(dir, []model.Wanted{{ID: file.Meta.ModelID}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	words, err := section.ReadVocabulary()
	if err != nil {
		b.Fatal(err)
	}
	return library, words
}

// BenchmarkSurveys times answers over HTTP, each with the next question of the
// interview, beside the smallest commit of the same storage; and pages of a long list.
func BenchmarkSurveys(b *testing.B) {
	for name, url := range map[string]string{
		"embedded": "sqlite:" + filepath.Join(b.TempDir(), "anamnesis.db"), "PostgreSQL": postgrestest.Database(b),
	} {
		p := newPractice(b, url)
		b.Run(name+" smallest commit", func(b *testing.B) {
			paced(b, func() error { return smallestCommit(b.Context(), p.store) })
		})
		b.Run(name+" answer", func(b *testing.B) { p.answers(b) })
		p.fill(b)
		for place, query := range map[string]string{
			"first": "cursor=0", "last": fmt.Sprintf("cursor=%d", longList/50-1), "next": fmt.Sprintf("cursor=%d", longList/100), "of a status": fmt.Sprintf("status=pending&cursor=%d", longList/500),
		} {
			b.Run(name+" page "+place, func(b *testing.B) {
				paced(b, func() error { return p.time("GET", surveysPath+"?limit=50&"+query, "") })
			})
		}
	}
}

// answers times answers to surveys, each of which is left when it is completed. Making
// them is not timed.
func (p *practice) answers(b *testing.B) {
	b.Helper()
	type open struct {
		path string
		next asked
	}
	var free sync.Mutex
	var waiting []open
	for range max(20, b.N/10) { // none comes to its end
		path := surveysPath + "/" + p.made(surveysPath, `{"type": "triage", "patient_id": "`+p.patient+`", "sections": ["dynamic"], `+
			`"evidence": [{"id": "s_21", "choice_id": "present", "source": "initial"}]}`)
		waiting = append(waiting, open{path, read[asked](b, p.send("GET", path+"/questions/current", "", http.StatusOK))})
	}
	take := func() (one open) {
		free.Lock()
		defer free.Unlock()
		one = waiting[0]
		waiting = waiting[1:]
		return one
	}
	p.computed.take(99) // of what was asked first
	b.ResetTimer()
	paced(b, func() error {
		one := take()
		response, text := p.call("POST", one.path+"/questions/current", `{"answer": `+anAnswer(one.next)+`}`, "Authorization", p.bearer, "Content-Type", "application/json")
		switch response.StatusCode {
		case http.StatusOK:
			one.next = read[asked](b, text)
		case http.StatusNoContent:
			return fmt.Errorf("a survey had an end: more of them are needed")
		default:
			return fmt.Errorf("answered %d %s", response.StatusCode, text)
		}
		free.Lock()
		defer free.Unlock()
		waiting = append(waiting, one)
		return nil
	})
	b.ReportMetric(p.computed.take(99), "engine-p99-ms")
}

// fill makes the list long, every fifth of its surveys pending.
func (p *practice) fill(b *testing.B) {
	b.Helper()
	const atOnce = 10_000
	for range longList / atOnce {
		err := p.store.Transact(b.Context(), func(tx storage.Tx) error { return p.insert(b.Context(), tx, atOnce) })
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (p *practice) insert(ctx context.Context, tx storage.Tx, count int) error {
	for i := range count {
		survey := domain.Survey{ID: uuid.NewString(), PatientID: p.patient, Type: domain.Triage, Status: domain.Completed, Version: 1, CreatedAt: now}
		if i%5 == 0 {
			survey.Status = domain.Pending
		}
		if err := tx.InsertSurvey(ctx, survey); err != nil {
			return err
		}
	}
	return nil
}
