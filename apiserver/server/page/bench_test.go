// SPDX-License-Identifier: Apache-2.0

package page_test

import (
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

// Patients think for five seconds before each answer, fifty at the same time.
const (
	patientsAtWork = 50
	thinking       = 5 * time.Second
)

// BenchmarkPage times what patients wait for who answer surveys over HTTP: from an answer
// that is sent to the page with the next question, two calls of which the first commits.
// They answer at their pace whether or not those before have their page.
func BenchmarkPage(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": database,
	} {
		b.Run(name, func(b *testing.B) {
			room := newWaitingRoom(b, newClinicOver(b, url(b)))
			b.ResetTimer()
			room.work(b)
		})
	}
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

func newWaitingRoom(b *testing.B, c *clinic) *waitingRoom {
	b.Helper()
	room := &waitingRoom{clinic: c, patients: make(chan *pondering, 2*patientsAtWork)}
	for i := range patientsAtWork {
		room.patients <- room.patient(healthy(complaints[i%len(complaints)]))
	}
	return room
}

// patient is one who is at the first question of a survey.
func (room *waitingRoom) patient(as somebody) *pondering {
	v := room.opened(room.survey(wish{}))
	return &pondering{v, as, v.get(v.question(0))}
}

// work has an answer sent at each tick.
func (room *waitingRoom) work(b *testing.B) {
	b.Helper()
	var group sync.WaitGroup
	ticker := time.NewTicker(thinking / patientsAtWork)
	defer ticker.Stop()
	for range b.N {
		<-ticker.C
		patient := <-room.patients
		group.Go(func() { room.step(patient) })
	}
	group.Wait()
	slices.Sort(room.times)
	b.ReportMetric(room.times[len(room.times)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(room.times[(len(room.times)-1)*99/100].Seconds()*1e3, "p99-ms")
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
