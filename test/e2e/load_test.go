// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A load is eight clients that ask all the time, each on a connection that it
// keeps alive, half over HTTP/1.1 and half over HTTP/2, with no request sent
// twice: what the client would do for a program that wants its answer, such as
// sending again what the server has not begun, would hide what is lost here.
type load struct {
	cancel   context.CancelFunc
	clients  sync.WaitGroup
	answered atomic.Int64
	mutex    sync.Mutex
	failures []string
}

const (
	loadClients = 8
	// shownFailures is how many are shown: the rest is more of the same.
	shownFailures = 20
)

// A question is what a client asks again and again, once it knows how.
type question func(*testing.T, apiClient) func(context.Context) error

// diagnoses asks for the diagnosis of a headache, by the id that the model has
// for it now.
func diagnoses(t *testing.T, client apiClient) func(context.Context) error {
	patient := client.headache(t)
	return func(ctx context.Context) error {
		_, err := client.Engine.Diagnose(ctx, patient, sentOnce)
		return err
	}
}

// searches looks for a headache, which every release of the content knows.
func searches(_ *testing.T, client apiClient) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := client.Engine.Search(ctx, searchHeadache, sentOnce)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("found %v", found)
		}
		return err
	}
}

// startLoad begins asking the Instance.
func startLoad(t *testing.T, n tenant, asked question) *load {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	l := &load{cancel: cancel}
	address := n.relay()
	for i := range loadClients {
		protocol := "http/1.1"
		if i%2 == 1 {
			protocol = "h2"
		}
		ask := asked(t, n.dialAt(address, protocol))
		l.clients.Go(func() { l.ask(ctx, ask, protocol) })
	}
	return l
}

// ask asks until the load is stopped. A short pause between questions leaves
// the two cores of a small machine to the pods that come and go.
func (l *load) ask(ctx context.Context, ask func(context.Context) error, protocol string) {
	for ctx.Err() == nil {
		if err := ask(context.WithoutCancel(ctx)); err != nil {
			l.fail(fmt.Sprintf("%s: %v", protocol, err))
		} else {
			l.answered.Add(1)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *load) fail(failure string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.failures = append(l.failures, failure)
}

// stop ends the load and fails the test for every request that failed.
func (l *load) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	l.clients.Wait()
	t.Logf("%d requests answered, %d failed", l.answered.Load(), len(l.failures))
	if l.answered.Load() < 100 {
		t.Errorf("only %d requests were answered: that is no load", l.answered.Load())
	}
	for _, failure := range l.failures[:min(len(l.failures), shownFailures)] {
		t.Errorf("a request failed: %s", failure)
	}
}
