// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A load is eight clients that ask all the time, each on a connection that it
// keeps alive, half over HTTP/1.1 and half over HTTP/2, with no request sent
// twice.
type load struct {
	cancel   context.CancelFunc
	clients  sync.WaitGroup
	answered atomic.Int64
	mutex    sync.Mutex
	failures []string
}

const loadClients = 8

// startLoad begins asking the Instance.
func startLoad(t *testing.T, n tenant) *load {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	l := &load{cancel: cancel}
	address := n.relay()
	for i := range loadClients {
		protocol := "http/1.1"
		if i%2 == 1 {
			protocol = "h2"
		}
		client := n.dialAt(address, protocol)
		l.clients.Go(func() { l.ask(ctx, client, protocol) })
	}
	t.Cleanup(cancel)
	return l
}

// ask asks until the load is stopped. A short pause between questions leaves
// the two cores of a small machine to the pods that come and go.
func (l *load) ask(ctx context.Context, client apiClient, protocol string) {
	for ctx.Err() == nil {
		got, err := client.diagnose(context.WithoutCancel(ctx), client.key)
		switch {
		case err != nil:
			l.fail(fmt.Sprintf("%s: %v", protocol, err))
		case got.status != http.StatusOK:
			l.fail(fmt.Sprintf("%s: status %d: %s", protocol, got.status, got.body))
		default:
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
	for _, failure := range l.failures {
		t.Errorf("a request failed: %s", failure)
	}
}
