// SPDX-License-Identifier: Apache-2.0

package serve

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

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
)

// podMemory is the limit of a pod's memory where an Instance asks for nothing
// else, in bytes.
const podMemory = 256 << 20

// A server with the memory of a pod, which the kernel sees to, lives through
// all attacks at the same time, and others are served meanwhile.
func TestSiege(t *testing.T) {
	a, directory := newAuthority(t), t.TempDir()
	command := tenantFiles(t, a, directory)
	write(t, filepath.Join(directory, "credentials/kiosk.json"), `{"id": "kiosk", "key": "kiosk-key", "scopes": ["knowledge:read"]}`)
	light, heavy := syntheticBodies(t, command.Models)
	server := startLimited(t, command, podMemory)
	t.Logf("before: at most %d MiB resident", server.resident(t)>>20)

	clients := make([]*http.Client, 4)
	for i := range clients {
		clients[i] = client(t, a, []string{"h2", "http/1.1"}[i%2])
		served(t, clients[i], server, light[0])
	}
	ctx, end := context.WithCancel(t.Context())
	s := &siege{address: server.tenant, trust: a}
	s.begin(ctx, 16, strain(heavy))
	s.begin(ctx, 8, strain([]string{light[0], overlong, overlong, overlong, overlong}))
	eventually(t, "somebody is turned away for too many assessments", func() bool { return server.turnedAway(t, guard.TooManyAssessments) })
	s.begin(ctx, 2, flood(120, 1<<20))
	s.begin(ctx, 300, occupy)
	s.begin(ctx, 60, trickle)
	s.begin(ctx, 60, ignore(32, 7<<10))
	eventually(t, "somebody is turned away for too many connections", func() bool { return server.turnedAway(t, guard.TooManyConnections) })

	var others sync.WaitGroup
	for i, c := range clients {
		others.Go(func() {
			for n := range 10 {
				served(t, c, server, light[(10*i+n)%len(light)])
			}
		})
	}
	others.Go(func() {
		for range 20 {
			if got, err := send(plain(t), "GET", "http://"+server.admin+"/livez", ""); err != nil || got.status != http.StatusOK {
				t.Errorf("/livez answered %d, %v", got.status, err)
			}
		}
	})
	others.Wait()
	end()
	s.all.Wait()

	peak := server.resident(t)
	t.Logf("besieged: at most %d MiB resident of %d", peak>>20, podMemory>>20)
	if peak > podMemory {
		t.Errorf("the server had %d bytes of memory, more than a pod's %d", peak, podMemory)
	}
}

// turnedAway reports whether the server says that it turned somebody away.
func (p *limitedProcess) turnedAway(t *testing.T, reason guard.Reason) bool {
	t.Helper()
	metrics := mustSend(t, plain(t), "GET", "http://"+p.admin+"/metrics", "").body
	return strings.Contains(metrics, `anamnesis_turned_away_total{reason="`+string(reason)+`"}`)
}

// overlong is as much evidence as a body has room for.
var overlong = `{"sex": "female", "age": {"value": 30}, "evidence": [{}` + strings.Repeat(",{}", 349_000) + `]}`

// served asks until it is answered, as often and as late as it is told to.
func served(t *testing.T, c *http.Client, server *limitedProcess, body string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		got, err := send(c, "POST", "https://"+server.tenant+"/v3/diagnosis", body, as("kiosk")...)
		switch {
		case err != nil:
			t.Errorf("somebody else's call: %v\n%s", err, server.log)
			return
		case got.status == http.StatusOK:
			return
		case got.status != http.StatusServiceUnavailable:
			t.Errorf("somebody else's call answered %d: %s", got.status, got.body)
			return
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil {
			t.Errorf("a 503 without when to come back: %v", got.header)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	t.Error("somebody else's call was turned away again and again")
}

// syntheticBodies puts a release of a full catalogue's size in the place of the
// others, and returns calls about patients of it: with few present symptoms,
// and with as many as are taken.
func syntheticBodies(t *testing.T, models string) (light, heavy []string) {
	t.Helper()
	if err := os.RemoveAll(models); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(models, 0o700); err != nil {
		t.Fatal(err)
	}
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(t)
	if err := model.WriteFile(filepath.Join(models, model.FileName("service-en", november)), file); err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenLibrary(models, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	lease, err := library.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Done()
	for _, patient := range modeltest.Patients(lease.Release(), 50, 4) {
		light = append(light, bodyOf(t, patient.Present))
	}
	var symptoms []string
	for i := range lease.Release().Observations {
		if o := model.ObservationIndex(i); lease.Release().Observations[i].Kind == model.Symptom {
			symptoms = append(symptoms, lease.Release().ObservationID(o))
		}
	}
	for from := 0; from+100 <= len(symptoms); from += 100 {
		heavy = append(heavy, bodyOf(t, symptoms[from:from+100]))
	}
	return light, heavy
}

// bodyOf is that of a diagnosis of an adult with these symptoms.
func bodyOf(t *testing.T, symptoms []string) string {
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
