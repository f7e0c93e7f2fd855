// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// thinkTime is the time a patient takes before each answer.
const thinkTime = 5 * time.Second

// storages maps benchmark names to storage URLs.
var storages = map[string]func(testing.TB) string{
	"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
	"PostgreSQL": newPostgresDatabase,
}

// BenchmarkPage measures the waiting time of fifty concurrent patients over HTTP, from
// sending an answer to receiving the page with the next question: two requests, of which the
// first commits. Answers are sent at a fixed rate, independent of the response times.
func BenchmarkPage(b *testing.B) {
	for name, url := range storages {
		b.Run(name, func(b *testing.B) {
			load := newPatientLoad(b, newFixtureOver(b, url(b)), 50)
			b.ResetTimer()
			load.run(b.Context(), b.N)
			b.ReportMetric(percentileMillis(load.times, 50), "p50-ms")
			b.ReportMetric(percentileMillis(load.times, 99), "p99-ms")
		})
	}
}

// percentileMillis returns a percentile in milliseconds, or zero without times.
func percentileMillis(times []time.Duration, percent int) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[(len(times)-1)*percent/100].Seconds() * 1e3
}

// newPostgresDatabase returns the URL of an empty database on an external PostgreSQL server.
func newPostgresDatabase(t testing.TB) string {
	t.Helper()
	if os.Getenv(postgrestest.URLEnv) == "" {
		t.Fatalf("%s is not set: go run ./hack/setup postgres -- go test -bench Page ./apiserver/http/page", postgrestest.URLEnv)
	}
	return postgrestest.NewDatabase(t)
}

// A patientLoad simulates patients who think about their questions.
type patientLoad struct {
	*fixture
	patients chan *waitingPatient
	interval time.Duration // between the answers of different patients
	took     sync.Mutex
	times    []time.Duration // from an answer to the next page
}

// A waitingPatient is a patient with an open question.
type waitingPatient struct {
	*visitor
	answerPolicy
	page pageResponse
}

// complaints are the complaints of the patients in turn.
var complaints = []string{"a headache since yesterday", "a cough and a fever", "my back hurts", "pain in the belly and nausea", "a sore throat"}

func newPatientLoad(b *testing.B, c *fixture, patients int) *patientLoad {
	b.Helper()
	load := &patientLoad{fixture: c, patients: make(chan *waitingPatient, patients), interval: thinkTime / time.Duration(patients)}
	for i := range patients {
		load.patients <- load.patient(healthyPatient(complaints[i%len(complaints)]))
	}
	return load
}

// patient returns a patient at the first question of a survey.
func (load *patientLoad) patient(as answerPolicy) *waitingPatient {
	v := load.openMagicLink(load.createSurvey(surveySpec{}))
	return &waitingPatient{v, as, v.get(v.question(0))}
}

// run sends an answer at each tick, until this many are sent or the context ends.
func (load *patientLoad) run(open context.Context, wanted int) {
	var group sync.WaitGroup
	defer group.Wait()
	ticker := time.NewTicker(load.interval)
	defer ticker.Stop()
	for range wanted {
		select {
		case <-ticker.C:
			patient := <-load.patients
			group.Go(func() { load.step(patient) })
		case <-open.Done():
			return
		}
	}
}

// step submits an answer and reads the next page. A patient who has completed the survey is
// replaced with a new one.
func (load *patientLoad) step(p *waitingPatient) {
	path := strings.TrimSuffix(p.page.path, "?seen")
	began := time.Now()
	page := p.post(path, p.answer(p.page))
	if page.status == http.StatusSeeOther {
		page = p.get(page.location)
	}
	took := time.Since(began)
	load.took.Lock()
	load.times = append(load.times, took)
	load.took.Unlock()
	p.page = page
	if page.status != http.StatusOK && page.status != http.StatusUnprocessableEntity {
		p.t.Errorf("%s: got status %d", page.path, page.status)
	}
	if !strings.Contains(page.path, "/questions/") {
		p = load.patient(p.answerPolicy)
	}
	if strings.Contains(p.page.body, `class="page-alarm"`) {
		p.page = p.get(p.page.path + "?seen")
	}
	load.patients <- p
}
