// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
	"github.com/anamnesis-dev/anamnesis/apiserver/usage"
)

const (
	// callsPerSecond is how often a program asks for a diagnosis, whether or not it was
	// answered before.
	callsPerSecond = 100
	// callsInTurn are asked with and without patients at work, in turn, so that what else
	// the machine does bears on both.
	callsInTurn = 500
)

// BenchmarkDiagnosisBesidePatients times POST /v3/diagnosis over HTTP, from when a call is
// due to its answer, while nobody is on the page and while a hundred patients answer
// surveys there; and says how many times longer the second takes. What is asked is what
// BenchmarkDiagnosisOverHTTP asks.
func BenchmarkDiagnosisBesidePatients(b *testing.B) {
	models, bodies := syntheticModel(b)
	for name, url := range storages {
		b.Run(name, func(b *testing.B) {
			c := newClinicOver(b, url(b))
			c.serveAll(models)
			room := newWaitingRoom(b, c, 100)
			program := newProgram(b, c.address, bodies)
			b.ResetTimer()
			var alone, beside []time.Duration
			for left := b.N; left > 0; left -= callsInTurn {
				calls := min(left, callsInTurn)
				alone = append(alone, program.diagnose(calls)...)
				beside = append(beside, room.whileOpen(func() []time.Duration { return program.diagnose(calls) })...)
			}
			b.ReportMetric(milliseconds(alone, 99), "alone-p99-ms")
			b.ReportMetric(milliseconds(beside, 99), "beside-p99-ms")
			b.ReportMetric(milliseconds(beside, 99)/milliseconds(alone, 99), "ratio")
			b.ReportMetric(milliseconds(room.times, 99), "page-p99-ms")
		})
	}
}

// whileOpen does something while patients are at work.
func (room *waitingRoom) whileOpen(do func() []time.Duration) []time.Duration {
	open, closeRoom := context.WithCancel(room.t.Context())
	var group sync.WaitGroup
	group.Go(func() { room.work(open, math.MaxInt) })
	defer group.Wait()
	defer closeRoom()
	return do()
}

// syntheticModel is a model of a full catalogue's size and patients whom a program asks
// about: each reports eight observations, four of them present.
func syntheticModel(b *testing.B) (library *model.Library, bodies []string) {
	b.Helper()
	directory := b.TempDir()
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(b)
	if err := model.WriteFile(filepath.Join(directory, model.FileName("service-en", "2026-11-21T00:00:00Z")), file); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenLibrary(directory, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	lease, err := library.Acquire("")
	if err != nil {
		b.Fatal(err)
	}
	defer lease.Done()
	for _, patient := range modeltest.Patients(lease.Release(), 200, 4) {
		bodies = append(bodies, diagnosisOf(b, patient))
	}
	return library, bodies
}

func diagnosisOf(b *testing.B, patient modeltest.Patient) string {
	b.Helper()
	var evidence []enginev3.Evidence
	for _, id := range patient.Present {
		evidence = append(evidence, enginev3.Evidence{ID: id, ChoiceID: enginev3.ChoicePresent})
	}
	for _, id := range patient.Absent {
		evidence = append(evidence, enginev3.Evidence{ID: id, ChoiceID: enginev3.ChoiceAbsent})
	}
	evidence[0].Source = new(enginev3.SourceInitial)
	body, err := json.Marshal(enginev3.Interview{
		Sex: enginev3.Sex(patient.Sex.String()), Age: enginev3.Age{Value: new(float64(patient.AgeMonths / 12))}, Evidence: &evidence,
	})
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}

// serveAll serves the pages and the assessment of a model's patients at one address, with
// the guard that they share in a server of so many processors.
func (c *clinic) serveAll(models *model.Library) {
	c.t.Helper()
	applications, err := identity.NewApplications(identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{identity.KnowledgeRead}})
	c.must(err)
	shared := guard.New(guard.LimitsFor(0, runtime.GOMAXPROCS(0)), func(guard.Reason) {})
	c.surveys.Lane = func(findings int) surveys.Lane { return shared.Lane(findings) }
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	listening := httptest.NewServer(server.New(server.Options{
		Guidance: chi.NewRouter(), Page: c.pages(shared, log), Models: models, Engine: engine.New(), Applications: applications,
		Usage: quota.NewLedger(quota.Options{
			Recorder: usage.NewRecorder(time.Now), Now: time.Now, Plan: func(string) (string, quota.Limits) { return "", quota.Limits{} },
		}),
		Now: time.Now, AllowsOrigin: func(string) bool { return false }, Leaving: func() bool { return false },
		Known: func(context.Context) {}, Guard: shared, Observer: nobody{}, Log: log,
	}))
	c.t.Cleanup(listening.Close)
	c.address = listening.URL
}

// A program asks for diagnoses, one body after the other.
type program struct {
	b       *testing.B
	address string
	bodies  []string
	client  *http.Client
}

func newProgram(b *testing.B, address string, bodies []string) *program {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: callsPerSecond}
	b.Cleanup(transport.CloseIdleConnections)
	return &program{b, address, bodies, &http.Client{Transport: transport}}
}

// diagnose asks so many times at its pace and says how long each answer took from when its
// call was due.
func (p *program) diagnose(calls int) []time.Duration {
	took := make([]time.Duration, calls)
	var group sync.WaitGroup
	began := time.Now()
	for i := range took {
		due := began.Add(time.Duration(i) * time.Second / callsPerSecond)
		time.Sleep(time.Until(due))
		group.Go(func() {
			p.call(p.bodies[i%len(p.bodies)])
			took[i] = time.Since(due)
		})
	}
	group.Wait()
	return took
}

func (p *program) call(body string) {
	request, err := http.NewRequestWithContext(p.b.Context(), http.MethodPost, p.address+"/v3/diagnosis", strings.NewReader(body))
	if err != nil {
		p.b.Error(err)
		return
	}
	for name, value := range map[string]string{"App-Id": "portal", "App-Key": "portal-key", "Content-Type": "application/json"} {
		request.Header.Set(name, value)
	}
	response, err := p.client.Do(request)
	if err != nil {
		p.b.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		p.b.Errorf("a diagnosis is answered %s, %v", response.Status, err)
	}
}
