// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
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

const loadClients = 8

// startLoad begins asking the Instance.
func startLoad(t *testing.T, n tenant) *load {
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
		client := n.dialAt(address, protocol)
		patient := client.headache(t)
		l.clients.Go(func() { l.ask(ctx, client, patient, protocol) })
	}
	return l
}

// ask asks until the load is stopped. A short pause between questions leaves
// the two cores of a small machine to the pods that come and go.
func (l *load) ask(ctx context.Context, client apiClient, patient enginev3.Interview, protocol string) {
	for ctx.Err() == nil {
		if _, err := client.Engine.Diagnose(context.WithoutCancel(ctx), patient, sentOnce); err != nil {
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
	for _, failure := range l.failures {
		t.Errorf("a request failed: %s", failure)
	}
}
