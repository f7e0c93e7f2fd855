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
	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	domain "github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// longListSize is the number of surveys in the list used to measure pagination.
const longListSize = 1_000_000

// surveyBenchmark is a survey service with storage and content that is called over HTTP.
type surveyBenchmark struct {
	usersClient
	store    storage.Store
	patient  string
	computed timingLimiter // inference time per answer
}

// A timingLimiter admits every caller and measures how long it holds its slot.
type timingLimiter struct {
	sync.Mutex
	times []time.Duration
}

// timedSlot is the slot of one caller.
type timedSlot struct {
	*timingLimiter
	start time.Time
}

func (s *timedSlot) Acquire(context.Context) error {
	s.start = time.Now()
	return nil
}

func (s *timedSlot) Release() {
	s.Lock()
	defer s.Unlock()
	s.times = append(s.times, time.Since(s.start))
}

// percentile returns a percentile of the times in milliseconds, and resets them.
func (l *timingLimiter) percentile(percent int) float64 {
	l.Lock()
	defer l.Unlock()
	slices.Sort(l.times)
	at := l.times[(len(l.times)-1)*percent/100]
	l.times = nil
	return float64(at.Microseconds()) / 1000
}

func newSurveyBenchmark(b *testing.B, url string) *surveyBenchmark {
	b.Helper()
	store, err := open.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	library, words := contentLibrary(b)
	p := &surveyBenchmark{store: store}
	p.usersClient = newUsersClient(b, func(o *guidance.Options) {
		o.Users.Storage, o.Usage, o.Feedback = storage.Scope[users.Reader, users.Tx]{Store: store}, store, store
		o.Surveys = &service.Service{
			Storage: storage.Scope[service.Reader, service.Tx]{Store: store}, Models: library, Engine: inference.New(), Texts: words, Now: o.Now,
			Features:   func() section.Features { return section.Features{Prefill: true} },
			LimiterFor: func(int) service.Limiter { return &timedSlot{timingLimiter: &p.computed} },
		}
	})
	p.client.Transport = http.DefaultTransport // do not time the contract checks
	go func() {
		for range p.endpoints { // drain the unused channel
		}
	}()
	user := p.create(usersPath, `{}`)
	p.patient = p.create(patientsPath, `{"user_id": "`+user+`", "sex": "female", "age": {"value": 34}}`)
	return p
}

func contentLibrary(b *testing.B) (*model.Store, *i18n.Catalog) {
	b.Helper()
	file, err := compiled.ForLanguage("en")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := model.WriteFile(filepath.Join(dir, file.Name), file.Data); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenStore(dir, []model.ReleaseRef{{ID: file.Meta.ModelID}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	words, err := section.LoadTexts()
	if err != nil {
		b.Fatal(err)
	}
	return library, words
}

// BenchmarkSurveys measures answers over HTTP, including the next interview question,
// compared to the smallest commit of the same storage, and pages of a long list.
func BenchmarkSurveys(b *testing.B) {
	for name, url := range map[string]string{
		"embedded": "sqlite:" + filepath.Join(b.TempDir(), "anamnesis.db"), "PostgreSQL": postgrestest.NewDatabase(b),
	} {
		p := newSurveyBenchmark(b, url)
		b.Run(name+" smallest commit", func(b *testing.B) {
			runPaced(b, func() error { return commitOneRow(b.Context(), p.store) })
		})
		b.Run(name+" answer", func(b *testing.B) { p.benchmarkAnswers(b) })
		p.insertSurveys(b)
		for page, query := range map[string]string{
			"first": "cursor=0", "last": fmt.Sprintf("cursor=%d", longListSize/50-1), "next": fmt.Sprintf("cursor=%d", longListSize/100), "of a status": fmt.Sprintf("status=pending&cursor=%d", longListSize/500),
		} {
			b.Run(name+" page "+page, func(b *testing.B) {
				runPaced(b, func() error { return p.timedSend("GET", surveysPath+"?limit=50&"+query, "") })
			})
		}
	}
}

// benchmarkAnswers measures answers to surveys. When a survey is completed, it continues with
// the next one. The creation of surveys is excluded from the measurement.
func (s *surveyBenchmark) benchmarkAnswers(b *testing.B) {
	b.Helper()
	type open struct {
		path string
		next questionJSON
	}
	var idle sync.Mutex
	var waiting []open
	for range max(20, b.N/10) { // none is completed
		path := surveysPath + "/" + s.create(surveysPath, `{"type": "triage", "patient_id": "`+s.patient+`", "sections": ["dynamic"], `+
			`"evidence": [{"id": "s_21", "choice_id": "present", "source": "initial"}]}`)
		waiting = append(waiting, open{path, decodeQuestion[questionJSON](b, s.send("GET", path+"/questions/current", "", http.StatusOK))})
	}
	take := func() (survey open) {
		idle.Lock()
		defer idle.Unlock()
		survey = waiting[0]
		waiting = waiting[1:]
		return survey
	}
	s.computed.percentile(99) // discard the times of the warm-up
	b.ResetTimer()
	runPaced(b, func() error {
		survey := take()
		response, text := s.call("POST", survey.path+"/questions/current", `{"answer": `+validAnswer(survey.next)+`}`, "Authorization", s.bearer, "Content-Type", "application/json")
		switch response.StatusCode {
		case http.StatusOK:
			survey.next = decodeQuestion[questionJSON](b, text)
		case http.StatusNoContent:
			return fmt.Errorf("survey ended: increase the number of surveys")
		default:
			return fmt.Errorf("got status %d %s", response.StatusCode, text)
		}
		idle.Lock()
		defer idle.Unlock()
		waiting = append(waiting, survey)
		return nil
	})
	b.ReportMetric(s.computed.percentile(99), "engine-p99-ms")
}

// insertSurveys inserts enough surveys for a long list; every fifth survey is pending.
func (s *surveyBenchmark) insertSurveys(b *testing.B) {
	b.Helper()
	const batchSize = 10_000
	for range longListSize / batchSize {
		err := s.store.Transact(b.Context(), func(tx storage.Tx) error { return s.insertBatch(b.Context(), tx, batchSize) })
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (s *surveyBenchmark) insertBatch(ctx context.Context, tx storage.Tx, count int) error {
	for i := range count {
		survey := domain.Survey{ID: uuid.NewString(), PatientID: s.patient, Type: domain.TypeTriage, Status: domain.StatusCompleted, Version: 1, CreatedAt: testNow}
		if i%5 == 0 {
			survey.Status = domain.StatusPending
		}
		if err := tx.InsertSurvey(ctx, survey); err != nil {
			return err
		}
	}
	return nil
}
