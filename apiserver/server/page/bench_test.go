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

// thinking is what patients do before each answer.
const thinking = 5 * time.Second

// storages are where surveys are kept, by what the benchmarks call them.
var storages = map[string]func(testing.TB) string{
	"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
	"PostgreSQL": database,
}

// BenchmarkPage times what patients wait for who answer surveys over HTTP, fifty at the
// same time: from an answer that is sent to the page with the next question, two calls of
// which the first commits. They answer at their pace whether or not those before have
// their page.
func BenchmarkPage(b *testing.B) {
	for name, url := range storages {
		b.Run(name, func(b *testing.B) {
			room := newWaitingRoom(b, newClinicOver(b, url(b)), 50)
			b.ResetTimer()
			room.work(b.Context(), b.N)
			b.ReportMetric(milliseconds(room.times, 50), "p50-ms")
			b.ReportMetric(milliseconds(room.times, 99), "p99-ms")
		})
	}
}

// milliseconds is within what so many of a hundred were answered, nothing of none.
func milliseconds(times []time.Duration, percent int) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[(len(times)-1)*percent/100].Seconds() * 1e3
}

// database is an empty one of a PostgreSQL that somebody else ends.
func database(t testing.TB) string {
	t.Helper()
	if os.Getenv(postgrestest.Variable) == "" {
		t.Fatalf("%s is not set: go run ./hack/setup postgres -- go test -bench Page ./apiserver/server/page", postgrestest.Variable)
	}
	return postgrestest.Database(t)
}

// A waitingRoom has patients who think about their questions.
type waitingRoom struct {
	*clinic
	patients chan *pondering
	pace     time.Duration // from one's answer to another's
	took     sync.Mutex
	times    []time.Duration // from an answer to the next page
}

// A pondering patient has a question open.
type pondering struct {
	*visitor
	somebody
	page shownPage
}

// complaints are what patients come with, one after the other.
var complaints = []string{"a headache since yesterday", "a cough and a fever", "my back hurts", "pain in the belly and nausea", "a sore throat"}

func newWaitingRoom(b *testing.B, c *clinic, patients int) *waitingRoom {
	b.Helper()
	room := &waitingRoom{clinic: c, patients: make(chan *pondering, patients), pace: thinking / time.Duration(patients)}
	for i := range patients {
		room.patients <- room.patient(healthy(complaints[i%len(complaints)]))
	}
	return room
}

// patient is one who is at the first question of a survey.
func (room *waitingRoom) patient(as somebody) *pondering {
	v := room.opened(room.survey(wish{}))
	return &pondering{v, as, v.get(v.question(0))}
}

// work has an answer sent at each tick, as many as are wanted or until the room closes.
func (room *waitingRoom) work(open context.Context, wanted int) {
	var group sync.WaitGroup
	defer group.Wait()
	ticker := time.NewTicker(room.pace)
	defer ticker.Stop()
	for range wanted {
		select {
		case <-ticker.C:
			patient := <-room.patients
			group.Go(func() { room.step(patient) })
		case <-open.Done():
			return
		}
	}
}

// step has a patient answer and see what comes next. Who is through is followed by
// another one.
func (room *waitingRoom) step(p *pondering) {
	path := strings.TrimSuffix(p.page.path, "?seen")
	began := time.Now()
	page := p.post(path, p.answer(p.page))
	if page.status == http.StatusSeeOther {
		page = p.get(page.to)
	}
	took := time.Since(began)
	room.took.Lock()
	room.times = append(room.times, took)
	room.took.Unlock()
	p.page = page
	if page.status != http.StatusOK && page.status != http.StatusUnprocessableEntity {
		p.t.Errorf("%s: answered %d", page.path, page.status)
	}
	if !strings.Contains(page.path, "/questions/") {
		p = room.patient(p.somebody)
	}
	if strings.Contains(p.page.body, `class="page-alarm"`) {
		p.page = p.get(p.page.path + "?seen")
	}
	room.patients <- p
}
