// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// podMemoryLimit is the default memory limit of an Instance's pods, in bytes.
const podMemoryLimit = 256 << 20

// TestServerSurvivesOverload checks that a server under the memory limit of a pod,
// enforced by the kernel, survives all attacks at once and keeps serving other clients.
func TestServerSurvivesOverload(t *testing.T) {
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	writeFile(t, filepath.Join(directory, "credentials/kiosk.json"), `{"id": "kiosk", "key": "kiosk-key", "scopes": ["knowledge:read"]}`)
	light, heavy := syntheticBodies(t, command.Models)
	server := startLimitedProcess(t, command, podMemoryLimit)
	t.Logf("peak memory before the attacks: %d MiB", server.peakMemory(t)>>20)

	clients := make([]*http.Client, 4)
	for i := range clients {
		clients[i] = newClient(t, a, []string{"h2", "http/1.1"}[i%2])
		expectEventuallyServed(t, clients[i], server, light[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &overload{address: server.tenant, ca: a}
	s.start(ctx, 16, requestHeavyAssessments(heavy))
	s.start(ctx, 8, requestHeavyAssessments([]string{light[0], oversizedEvidence, oversizedEvidence, oversizedEvidence, oversizedEvidence}))
	eventually(t, "a call is rejected for too many assessments", func() bool { return server.hasRejected(t, limiter.TooManyAssessments) })
	s.start(ctx, 2, floodBodies(120, 1<<20))
	s.start(ctx, 300, holdConnection)
	s.start(ctx, 60, sendBodySlowly)
	s.start(ctx, 60, ignoreResponses(32, 7<<10))
	eventually(t, "a connection is rejected for too many connections", func() bool { return server.hasRejected(t, limiter.TooManyConnections) })

	var others sync.WaitGroup
	for i, c := range clients {
		others.Go(func() {
			for n := range 4 {
				expectEventuallyServed(t, c, server, light[(4*i+n)%len(light)])
			}
		})
	}
	others.Go(func() {
		for range 8 {
			if got, err := send(newPlainClient(t), "GET", "http://"+server.admin+"/livez", ""); err != nil || got.status != http.StatusOK {
				t.Errorf("GET /livez: got status %d, error %v", got.status, err)
			}
		}
	})
	others.Wait()
	cancel()
	s.attackers.Wait()

	peak := server.peakMemory(t)
	t.Logf("peak memory during the attacks: %d of %d MiB", peak>>20, podMemoryLimit>>20)
	if peak > podMemoryLimit {
		t.Errorf("peak memory is %d bytes, want at most the pod limit of %d", peak, podMemoryLimit)
	}
}

// hasRejected reports whether the server's metrics show rejections for a reason.
func (p *limitedProcess) hasRejected(t *testing.T, reason limiter.Reason) bool {
	t.Helper()
	metrics := mustSend(t, newPlainClient(t), "GET", "http://"+p.admin+"/metrics", "").body
	return strings.Contains(metrics, `anamnesis_http_requests_rejected_total{reason="`+string(reason)+`"}`)
}

// oversizedEvidence is as much evidence as fits into a body.
var oversizedEvidence = `{"sex": "female", "age": {"value": 30}, "evidence": [{}` + strings.Repeat(",{}", 349_000) + `]}`

// expectEventuallyServed retries as Retry-After demands until the call succeeds.
func expectEventuallyServed(t *testing.T, c *http.Client, server *limitedProcess, body string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); {
		got, err := send(c, "POST", "https://"+server.tenant+"/v3/diagnosis", body, appHeaders("kiosk")...)
		switch {
		case err != nil:
			t.Errorf("call of an ordinary client: %v\n%s", err, server.log)
			return
		case got.status == http.StatusOK:
			return
		case got.status != http.StatusServiceUnavailable:
			t.Errorf("call of an ordinary client: got status %d: %s", got.status, got.body)
			return
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil {
			t.Errorf("503 response without a valid Retry-After: %v", got.header)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	t.Error("calls of an ordinary client were rejected until the timeout")
}

// syntheticBodies replaces the releases with one the size of a full catalog, and returns calls
// about its patients: with few present symptoms, and with as many as are accepted.
func syntheticBodies(t *testing.T, models string) (light, heavy []string) {
	t.Helper()
	if err := os.RemoveAll(models); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(models, 0o700); err != nil {
		t.Fatal(err)
	}
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(t)
	if err := model.WriteFile(filepath.Join(models, model.FileName("service-en", versionNovember)), file); err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenStore(models, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	lease, err := library.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Done()
	for _, patient := range modeltest.SamplePatients(lease.Release(), 50, 4) {
		light = append(light, diagnosisBody(t, patient.Present))
	}
	var symptoms []string
	for i := range lease.Release().Observations {
		if o := model.ObservationIndex(i); lease.Release().Observations[i].Kind == model.Symptom {
			symptoms = append(symptoms, lease.Release().ObservationID(o))
		}
	}
	for from := 0; from+100 <= len(symptoms); from += 100 {
		heavy = append(heavy, diagnosisBody(t, symptoms[from:from+100]))
	}
	return light, heavy
}

// diagnosisBody returns the diagnosis request of an adult with these symptoms.
func diagnosisBody(t *testing.T, symptoms []string) string {
	t.Helper()
	type item struct {
		ID       string `json:"id"`
		ChoiceID string `json:"choice_id"`
		Source   string `json:"source"`
	}
	items := make([]item, len(symptoms))
	for i, id := range symptoms {
		items[i] = item{id, "present", "initial"}
	}
	list, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"sex": "female", "age": {"value": 30}, "evidence": %s}`, list)
}
