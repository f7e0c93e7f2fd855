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

	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// rate is how many calls a second benchmarks make, whether or not those before are
// answered.
const rate = 100

// paced makes a call at each tick and reports how long the slowest hundredth took.
func paced(b *testing.B, call func() error) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var group sync.WaitGroup
	ticker := time.NewTicker(time.Second / rate)
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

// BenchmarkPeople times calls about users and patients over HTTP, beside the
// smallest commit of the same storage: one row that changes.
func BenchmarkPeople(b *testing.B) {
	for name, url := range map[string]string{
		"embedded": "sqlite:" + filepath.Join(b.TempDir(), "anamnesis.db"), "PostgreSQL": postgrestest.Database(b),
	} {
		store, err := open.Open(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		r := newRegistry(b, func(o *guidance.Options) { o.People.Storage, o.Usage, o.Feedback = store, store, store })
		r.client.Transport = http.DefaultTransport // the contract is not what is timed
		go func() {
			for range r.endpoints { // nobody asks for them here
			}
		}()
		user := r.made(usersPath, `{"email": "ada@x.example"}`)
		patient := r.made(patientsPath, `{"user_id": "`+user+`"}`)
		var made sync.Mutex
		count := 0
		next := func() int {
			made.Lock()
			defer made.Unlock()
			count++
			return count
		}
		for _, bench := range []struct {
			name string
			call func() error
		}{
			{"smallest commit", func() error { return smallestCommit(b.Context(), store) }},
			{"create user", func() error {
				return r.time("POST", usersPath, fmt.Sprintf(`{"email": "u%d@x.example", "phone": "+4930%07d"}`, next(), next()))
			}},
			{"change user", func() error { return r.time("PATCH", usersPath+"/"+user, `{"phone": "+493012345678"}`) }},
			{"create patient", func() error { return r.time("POST", patientsPath, `{"user_id": "`+user+`", "sex": "female"}`) }},
			{"change patient", func() error { return r.time("PATCH", patientsPath+"/"+patient, `{"sex": "male"}`) }},
			{"read user", func() error { return r.time("GET", usersPath+"/"+user, "") }},
			{"find user", func() error { return r.time("GET", usersPath+"?email=ada@x.example", "") }},
			{"read patient", func() error { return r.time("GET", patientsPath+"/"+patient, "") }},
			{"list patients", func() error { return r.time("GET", patientsPath+"?user_id="+user, "") }},
		} {
			b.Run(name+" "+bench.name, func(b *testing.B) { paced(b, bench.call) })
		}
	}
}

func smallestCommit(ctx context.Context, store storage.Store) error {
	return store.Transact(ctx, func(tx storage.Tx) error {
		if _, err := tx.LockState(ctx, "bench", ""); err != nil {
			return err
		}
		return tx.PutState(ctx, "bench", "x")
	})
}

// time makes a call that has to succeed.
func (r registry) time(method, path, body string) error {
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.address+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", r.bearer)
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(response.Body)
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s answered %d %s", method, path, response.StatusCode, text)
	}
	_ = response.Body.Close()
	return err
}

// BenchmarkToken issues an access token, and verifies one.
func BenchmarkToken(b *testing.B) {
	r := newRig(b)
	token := r.token("portal", "portal-key", "")
	b.Run("issue", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.authority.IssueUserToken("ada"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.authority.Caller(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify the first time", func(b *testing.B) {
		tokens := make([]string, 0, b.N)
		for range b.N {
			token, err := r.authority.IssueUserToken("ada")
			if err != nil {
				b.Fatal(err)
			}
			tokens = append(tokens, token)
		}
		b.ResetTimer()
		for i := range b.N {
			if _, err := r.authority.Caller(tokens[i]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
