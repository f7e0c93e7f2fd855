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

// A load is eight clients that send requests continuously, each on one kept-alive
// connection, half over HTTP/1.1 and half over HTTP/2. They do not retry, because the
// automatic retries of an HTTP client would hide lost requests.
type load struct {
	cancel   context.CancelFunc
	clients  sync.WaitGroup
	answered atomic.Int64
	mu       sync.Mutex
	failures []string
}

const (
	loadClients = 8
	// maxReportedFailures is the maximum number of failures shown.
	maxReportedFailures = 20
)

// A loadFunc returns the request that a client repeats.
type loadFunc func(*testing.T, apiClient) func(context.Context) error

// diagnosisLoad requests the diagnosis of a headache, using the symptom's ID in the
// current model.
func diagnosisLoad(t *testing.T, client apiClient) func(context.Context) error {
	patient := client.headacheInterview(t)
	return func(ctx context.Context) error {
		_, err := client.Engine.Diagnose(ctx, patient, disableRetries)
		return err
	}
}

// searchLoad searches for a headache, which every release of the content contains.
func searchLoad(_ *testing.T, client apiClient) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := client.Engine.Search(ctx, headacheSearch, disableRetries)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("unexpected search results %v", found)
		}
		return err
	}
}

// startLoad starts sending requests to the Instance.
func startLoad(t *testing.T, n tenant, asked loadFunc) *load {
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
		ask := asked(t, n.newAPIClientAt(address, protocol))
		l.clients.Go(func() { l.run(ctx, ask, protocol) })
	}
	return l
}

// run sends requests until the load is stopped. It pauses briefly between requests to
// leave the two cores of a small machine free for starting and stopping pods.
func (l *load) run(ctx context.Context, run func(context.Context) error, protocol string) {
	for ctx.Err() == nil {
		if err := run(context.WithoutCancel(ctx)); err != nil {
			l.recordFailure(fmt.Sprintf("%s: %v", protocol, err))
		} else {
			l.answered.Add(1)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *load) recordFailure(failure string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, failure)
}

// stop ends the load and fails the test for every request that failed.
func (l *load) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	l.clients.Wait()
	t.Logf("%d requests succeeded, %d failed", l.answered.Load(), len(l.failures))
	if l.answered.Load() < 100 {
		t.Errorf("only %d requests succeeded, which is not sufficient load", l.answered.Load())
	}
	for _, failure := range l.failures[:min(len(l.failures), maxReportedFailures)] {
		t.Errorf("request failed: %s", failure)
	}
}
