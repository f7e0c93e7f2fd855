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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

const (
	// callsPerSecond is the fixed rate of diagnosis calls, independent of the response times.
	callsPerSecond = 100
	// callsPerRound is the number of calls per round. Rounds with and without patients alternate, so
	// that other load on the machine affects both.
	callsPerRound = 500
)

// BenchmarkDiagnosisWithPatients measures the latency of POST /v3/diagnosis over HTTP, from
// the scheduled time of a call to its response, first without load and then while a hundred
// patients answer surveys on the pages, and reports the ratio. The calls are the same as in
// BenchmarkDiagnosisOverHTTP.
func BenchmarkDiagnosisWithPatients(b *testing.B) {
	models, bodies := syntheticModel(b)
	for name, url := range storages {
		b.Run(name, func(b *testing.B) {
			c := newFixtureOver(b, url(b))
			c.serveWithAPI(models)
			load := newPatientLoad(b, c, 100)
			program := newAPIClient(b, c.address, bodies)
			b.ResetTimer()
			var alone, mixed []time.Duration
			for left := b.N; left > 0; left -= callsPerRound {
				calls := min(left, callsPerRound)
				alone = append(alone, program.diagnose(calls)...)
				mixed = append(mixed, load.runDuring(func() []time.Duration { return program.diagnose(calls) })...)
			}
			b.ReportMetric(percentileMillis(alone, 99), "alone-p99-ms")
			b.ReportMetric(percentileMillis(mixed, 99), "mixed-p99-ms")
			b.ReportMetric(percentileMillis(mixed, 99)/percentileMillis(alone, 99), "ratio")
			b.ReportMetric(percentileMillis(load.times, 99), "page-p99-ms")
		})
	}
}

// runDuring runs a function while patients answer surveys.
func (load *patientLoad) runDuring(do func() []time.Duration) []time.Duration {
	open, closeRoom := context.WithCancel(load.t.Context())
	var group sync.WaitGroup
	group.Go(func() { load.run(open, math.MaxInt) })
	defer group.Wait()
	defer closeRoom()
	return do()
}

// syntheticModel returns a model the size of a full catalog and patients for diagnosis calls: each
// reports eight observations, four of them present.
func syntheticModel(b *testing.B) (library *model.Store, bodies []string) {
	b.Helper()
	directory := b.TempDir()
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(b)
	if err := model.WriteFile(filepath.Join(directory, model.FileName("service-en", "2026-11-21T00:00:00Z")), file); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenStore(directory, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	lease, err := library.Acquire("")
	if err != nil {
		b.Fatal(err)
	}
	defer lease.Done()
	for _, patient := range modeltest.SamplePatients(lease.Release(), 200, 4) {
		bodies = append(bodies, diagnosisBody(b, patient))
	}
	return library, bodies
}

func diagnosisBody(b *testing.B, patient modeltest.Patient) string {
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

// serveWithAPI serves the pages and the assessment API on one address, with the shared limiter of a
// server with this many processors.
func (f *fixture) serveWithAPI(models *model.Store) {
	f.t.Helper()
	applications, err := identity.NewApplications(identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{identity.KnowledgeRead}})
	f.must(err)
	shared := limiter.New(limiter.LimitsForMemory(0, runtime.GOMAXPROCS(0)), func(limiter.Reason) {})
	f.surveys.LimiterFor = func(findings int) service.Limiter { return shared.Assessments(findings) }
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	listening := httptest.NewServer(router.New(router.Options{
		Guidance: chi.NewRouter(), Page: f.newHandler(shared, log), Models: models, Engine: inference.New(), Applications: applications,
		Operations: accesstest.Operations(f.t),
		Meter: quota.NewLedger(quota.Options{
			Recorder: usage.NewRecorder(time.Now), Now: time.Now, PlanFor: func(string) (string, quota.Limits) { return "", quota.Limits{} },
		}),
		Now: time.Now, AllowsOrigin: func(string) bool { return false }, Draining: func() bool { return false },
		OnAuthenticated: func(context.Context) {}, Limiter: shared, Observer: nopObserver{}, Log: log,
	}))
	f.t.Cleanup(listening.Close)
	f.address = listening.URL
}

// An apiClient requests diagnoses, one body after the other.
type apiClient struct {
	b       *testing.B
	address string
	bodies  []string
	client  *http.Client
}

func newAPIClient(b *testing.B, address string, bodies []string) *apiClient {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: callsPerSecond}
	b.Cleanup(transport.CloseIdleConnections)
	return &apiClient{b, address, bodies, &http.Client{Transport: transport}}
}

// diagnose makes the given number of calls at a fixed rate and returns the latency of each,
// measured from its scheduled time.
func (c *apiClient) diagnose(calls int) []time.Duration {
	took := make([]time.Duration, calls)
	var group sync.WaitGroup
	began := time.Now()
	for i := range took {
		due := began.Add(time.Duration(i) * time.Second / callsPerSecond)
		time.Sleep(time.Until(due))
		group.Go(func() {
			c.call(c.bodies[i%len(c.bodies)])
			took[i] = time.Since(due)
		})
	}
	group.Wait()
	return took
}

func (c *apiClient) call(body string) {
	request, err := http.NewRequestWithContext(c.b.Context(), http.MethodPost, c.address+"/v3/diagnosis", strings.NewReader(body))
	if err != nil {
		c.b.Error(err)
		return
	}
	for name, value := range map[string]string{"App-Id": "portal", "App-Key": "portal-key", "Content-Type": "application/json"} {
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		c.b.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		c.b.Errorf("got status %s, %v", response.Status, err)
	}
}
