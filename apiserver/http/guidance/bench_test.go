// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// callsPerSecond is the fixed call rate of benchmarks, independent of the response times.
const callsPerSecond = 100

// runPaced makes a call on each tick and reports the 99th percentile of the latency.
func runPaced(b *testing.B, call func() error) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var group sync.WaitGroup
	ticker := time.NewTicker(time.Second / callsPerSecond)
	defer ticker.Stop()
	for i := range b.N {
		<-ticker.C
		group.Go(func() {
			began := time.Now()
			if err := call(); err != nil {
				b.Error(err)
			}
			took[i] = time.Since(began)
		})
	}
	group.Wait()
	slices.Sort(took)
	b.ReportMetric(took[(len(took)-1)*99/100].Seconds()*1e3, "p99-ms")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
}

// BenchmarkPeople measures calls for users and patients over HTTP, compared to the smallest
// commit of the same storage, which changes one row.
func BenchmarkPeople(b *testing.B) {
	for name, url := range map[string]string{
		"embedded": "sqlite:" + filepath.Join(b.TempDir(), "anamnesis.db"), "PostgreSQL": postgrestest.NewDatabase(b),
	} {
		store, err := open.Open(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		r := newUsersClient(b, func(o *guidance.Options) {
			o.Users.Storage, o.Usage, o.Feedback = storage.Scope[users.Reader, users.Tx]{Store: store}, store, store
		})
		r.client.Transport = http.DefaultTransport // exclude the contract checks from the measurement
		go func() {
			for range r.endpoints { // drain the unused channel
			}
		}()
		user := r.create(usersPath, `{"email": "ada@x.example"}`)
		patient := r.create(patientsPath, `{"user_id": "`+user+`"}`)
		var created sync.Mutex
		count := 0
		next := func() int {
			created.Lock()
			defer created.Unlock()
			count++
			return count
		}
		for _, bench := range []struct {
			name string
			call func() error
		}{
			{"smallest commit", func() error { return commitOneRow(b.Context(), store) }},
			{"create user", func() error {
				return r.timedSend("POST", usersPath, fmt.Sprintf(`{"email": "u%d@x.example", "phone": "+4930%07d"}`, next(), next()))
			}},
			{"change user", func() error { return r.timedSend("PATCH", usersPath+"/"+user, `{"phone": "+493012345678"}`) }},
			{"create patient", func() error { return r.timedSend("POST", patientsPath, `{"user_id": "`+user+`", "sex": "female"}`) }},
			{"change patient", func() error { return r.timedSend("PATCH", patientsPath+"/"+patient, `{"sex": "male"}`) }},
			{"read user", func() error { return r.timedSend("GET", usersPath+"/"+user, "") }},
			{"find user", func() error { return r.timedSend("GET", usersPath+"?email=ada@x.example", "") }},
			{"read patient", func() error { return r.timedSend("GET", patientsPath+"/"+patient, "") }},
			{"list patients", func() error { return r.timedSend("GET", patientsPath+"?user_id="+user, "") }},
		} {
			b.Run(name+" "+bench.name, func(b *testing.B) { runPaced(b, bench.call) })
		}
	}
}

func commitOneRow(ctx context.Context, store storage.Store) error {
	return store.Transact(ctx, func(tx storage.Tx) error {
		if _, err := tx.LockState(ctx, "bench", ""); err != nil {
			return err
		}
		return tx.PutState(ctx, "bench", "x")
	})
}

// timedSend sends a call that must succeed.
func (c usersClient) timedSend(method, path, body string) error {
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.baseURL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", c.bearer)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(response.Body)
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: got status %d %s", method, path, response.StatusCode, text)
	}
	_ = response.Body.Close()
	return err
}

// BenchmarkToken measures issuing and verifying access tokens.
func BenchmarkToken(b *testing.B) {
	r := newFixture(b)
	token := r.token("portal", "portal-key", "")
	b.Run("issue", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.tokenIssuer.IssueUserToken("ada"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.tokenIssuer.VerifyAccessToken(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify the first time", func(b *testing.B) {
		tokens := make([]string, 0, b.N)
		for range b.N {
			token, err := r.tokenIssuer.IssueUserToken("ada")
			if err != nil {
				b.Fatal(err)
			}
			tokens = append(tokens, token)
		}
		b.ResetTimer()
		for i := range b.N {
			if _, err := r.tokenIssuer.VerifyAccessToken(tokens[i]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
