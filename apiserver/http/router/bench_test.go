// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/metrics"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
)

// BenchmarkDiagnosisOverHTTP measures the throughput of POST /v3/diagnosis in requests per
// second, on a model of the size of a full catalog with patients who report eight
// observations, four of them present. For comparison, it measures a bare handler that only
// decodes the same bodies and encodes the same responses, and reports the ratio.
func BenchmarkDiagnosisOverHTTP(b *testing.B) {
	library := syntheticLibrary(b)
	bodies := syntheticBodies(b, library, 200)
	full := httptest.NewServer(fullHandler(b, library))
	defer full.Close()
	bare := httptest.NewServer(bareHandler(b, full.URL, bodies))
	defer bare.Close()
	var times [2]time.Duration
	rounds := 0
	for b.Loop() {
		for i, address := range []string{full.URL, bare.URL} {
			times[i] += postAll(b, address, bodies)
		}
		rounds++
	}
	requests := float64(rounds * len(bodies))
	rates := [2]float64{requests / times[0].Seconds(), requests / times[1].Seconds()}
	b.ReportMetric(rates[0], "requests/s")
	b.ReportMetric(rates[1], "bare-requests/s")
	b.ReportMetric(rates[0]/rates[1], "ratio")
}

// BenchmarkDiagnosisHandler measures the same handler without network and client, to count
// allocations.
func BenchmarkDiagnosisHandler(b *testing.B) {
	library := syntheticLibrary(b)
	bodies := syntheticBodies(b, library, 200)
	handler := fullHandler(b, library)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		request := httptest.NewRequest(http.MethodPost, "/v3/diagnosis", strings.NewReader(bodies[i%len(bodies)]))
		benchHeaders(request)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			b.Fatalf("got status %d: %s", recorder.Code, recorder.Body)
		}
	}
}

func syntheticLibrary(b testing.TB) *model.Store {
	b.Helper()
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(b)
	directory := b.TempDir()
	if err := model.WriteFile(filepath.Join(directory, model.FileName("service-en", "2026-11-21T00:00:00Z")), file); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenStore(directory, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	return library
}

// syntheticBodies returns requests of patients with four present observations.
func syntheticBodies(b testing.TB, library *model.Store, count int) []string {
	b.Helper()
	lease, err := library.Acquire("")
	if err != nil {
		b.Fatal(err)
	}
	defer lease.Done()
	bodies := make([]string, count)
	for i, patient := range modeltest.SamplePatients(lease.Release(), count, 4) {
		years := float64(patient.AgeMonths / 12)
		interview := enginev3.Interview{
			Sex: enginev3.Sex(patient.Sex.String()), Age: enginev3.Age{Value: &years}, Evidence: &[]enginev3.Evidence{},
		}
		for _, id := range patient.Present {
			*interview.Evidence = append(*interview.Evidence, enginev3.Evidence{ID: id, ChoiceID: enginev3.ChoicePresent})
		}
		for _, id := range patient.Absent {
			*interview.Evidence = append(*interview.Evidence, enginev3.Evidence{ID: id, ChoiceID: enginev3.ChoiceAbsent})
		}
		initial := enginev3.SourceInitial
		(*interview.Evidence)[0].Source = &initial
		body, err := json.Marshal(interview)
		if err != nil {
			b.Fatal(err)
		}
		bodies[i] = string(body)
	}
	return bodies
}

// fullHandler returns the tenant handler of a real server, with a discarded log.
func fullHandler(b testing.TB, library *model.Store) http.Handler {
	b.Helper()
	applications, err := identity.NewApplications(identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{identity.KnowledgeRead}})
	if err != nil {
		b.Fatal(err)
	}
	recorder := usage.NewRecorder(time.Now)
	ledger := quota.NewLedger(quota.Options{
		Recorder: recorder, Now: time.Now, PlanFor: func(string) (string, quota.Limits) { return "", quota.Limits{} },
	})
	return router.New(router.Options{
		Guidance: stubGuidance(), Page: stubPage(),
		Models: library, Engine: inference.New(), Applications: applications, Operations: accesstest.Operations(b), Meter: ledger,
		AllowsOrigin: func(string) bool { return false }, Draining: func() bool { return false },
		OnAuthenticated: func(context.Context) {}, Limiter: limiter.New(limiter.LimitsForMemory(0, runtime.GOMAXPROCS(0)), func(limiter.Reason) {}),
		Observer: metrics.New(metrics.Sources{Releases: library.Releases, BufferedUsage: recorder.Buffered}),
		Log:      slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
}

// bareHandler returns a handler that decodes a request and encodes a response that the full
// handler returned for one of the same bodies.
func bareHandler(b *testing.B, full string, bodies []string) http.Handler {
	b.Helper()
	answers := make([]enginev3.Diagnosis, len(bodies))
	for i, body := range bodies {
		response := benchPost(b, full, body)
		if err := json.NewDecoder(response.Body).Decode(&answers[i]); err != nil {
			b.Fatal(err)
		}
		_ = response.Body.Close()
	}
	var next atomic.Int64
	router := chi.NewRouter()
	router.Post("/v3/diagnosis", func(w http.ResponseWriter, r *http.Request) {
		var interview enginev3.Interview
		if err := json.NewDecoder(r.Body).Decode(&interview); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[int(next.Add(1))%len(answers)])
	})
	return router
}

// postAll posts each body once from four concurrent clients, and returns the duration.
func postAll(b *testing.B, address string, bodies []string) time.Duration {
	b.Helper()
	var next atomic.Int64
	var clients sync.WaitGroup
	start := time.Now()
	for range 4 {
		clients.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(bodies); i = next.Add(1) - 1 {
				response := benchPost(b, address, bodies[i])
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
					b.Errorf("got status %d, %v", response.StatusCode, err)
				}
				_ = response.Body.Close()
			}
		})
	}
	clients.Wait()
	return time.Since(start)
}

// benchClient keeps one connection per client.
var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}

func benchPost(b *testing.B, address, body string) *http.Response {
	request, err := http.NewRequest(http.MethodPost, address+"/v3/diagnosis", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	benchHeaders(request)
	response, err := benchClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	return response
}

func benchHeaders(request *http.Request) {
	request.Header.Set("App-Id", "portal")
	request.Header.Set("App-Key", "portal-key")
	request.Header.Set("Content-Type", "application/json")
}
