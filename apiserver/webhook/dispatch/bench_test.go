// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// benchmarkJobs is the number of pending deliveries when throughput is measured.
const benchmarkJobs = 3000

// BenchmarkDispatch measures deliveries to receivers on loopback: throughput per second,
// compared with River and a no-op worker; latency from commit to receiver with an idle
// queue, and with nine other receivers, one of them hanging; and the CPU share of an
// idle instance with a webhook.
func BenchmarkDispatch(b *testing.B) {
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.NewDatabase(t) },
	} {
		b.Run("rate/"+name, func(b *testing.B) { benchmarkRate(b, fresh) })
		b.Run("latency/"+name, func(b *testing.B) { benchmarkLatency(b, fresh(b)) })
		b.Run("idle/"+name, func(b *testing.B) { benchmarkIdle(b, fresh(b)) })
	}
}

func benchmarkRate(b *testing.B, fresh func(testing.TB) string) {
	var noop, deliveries time.Duration
	jobs := 0
	for b.Loop() {
		noop += drainNoop(b, newHarness(b, fresh(b)))
		deliveries += drainDeliveries(b, newHarness(b, fresh(b)))
		jobs += benchmarkJobs
	}
	b.ReportMetric(float64(jobs)/deliveries.Seconds(), "deliveries/s")
	b.ReportMetric(float64(jobs)/noop.Seconds(), "river-jobs/s")
	b.ReportMetric(noop.Seconds()/deliveries.Seconds(), "ratio")
}

// drainNoop returns how long River takes to work the jobs with a no-op worker.
func drainNoop(b *testing.B, h *harness) time.Duration {
	receiver := uuid.NewString()
	h.enqueue(receiver)
	client, err := h.store.NewOutboxClient(b.Context(), outbox.Handlers{
		Deliver: func(context.Context, outbox.Delivery, int) outbox.Outcome { return outbox.Outcome{} },
		Notify:  func(context.Context, outbox.Notification) error { return nil },
		RetryAt: func(int) time.Time { return time.Now() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := errors.Join(client.Start(b.Context()), client.AddReceiver(receiver, 8)); err != nil {
		b.Fatal(err)
	}
	h.waitDrained()
	elapsed := time.Since(start)
	if err := client.Stop(b.Context()); err != nil {
		b.Fatal(err)
	}
	return elapsed
}

func drainDeliveries(b *testing.B, h *harness) time.Duration {
	h.enqueue(h.subscribe(newReceiver(b, nil)))
	start := time.Now()
	stop := h.start()
	h.waitDrained()
	elapsed := time.Since(start)
	stop()
	return elapsed
}

// enqueue adds many deliveries for a receiver.
func (h *harness) enqueue(receiver string) {
	h.t.Helper()
	deliveries := make([]outbox.Delivery, benchmarkJobs)
	for i := range deliveries {
		deliveries[i] = outbox.Delivery{ReceiverID: receiver, Event: event.NewSurveyFinished(uuid.NewString(), uuid.NewString())}
	}
	err := h.store.Transact(h.t.Context(), func(tx storage.Tx) error { return tx.EnqueueDeliveries(h.t.Context(), deliveries) })
	if err != nil {
		h.t.Fatal(err)
	}
}

// waitDrained waits until no jobs are left.
func (h *harness) waitDrained() {
	h.t.Helper()
	eventuallyWithin(h.t, 5*time.Minute, "the queues are empty", func() bool {
		queues, err := h.store.QueueStats(h.t.Context())
		return err == nil && len(queues) == 0
	})
}

func benchmarkLatency(b *testing.B, url string) {
	h := newHarness(b, url)
	h.start()
	arrived := make(chan time.Time, 1000)
	h.subscribe(newReceiver(b, func(http.ResponseWriter, int) { arrived <- time.Now() }))
	var alone, mixed []time.Duration
	for b.Loop() {
		alone = append(alone, h.latency(arrived))
	}
	release := make(chan struct{})
	for i := range 9 {
		var respond func(http.ResponseWriter, int)
		if i == 0 {
			respond = func(http.ResponseWriter, int) { <-release }
		}
		h.subscribe(newReceiver(b, respond))
	}
	for range len(alone) {
		mixed = append(mixed, h.latency(arrived))
	}
	close(release)
	b.ReportMetric(percentile(alone, 50), "p50-ms")
	b.ReportMetric(percentile(alone, 99), "p99-ms")
	b.ReportMetric(percentile(mixed, 99), "p99-with-hanging-ms")
}

// latency returns the time from commit to delivery.
func (h *harness) latency(arrived <-chan time.Time) time.Duration {
	h.t.Helper()
	time.Sleep(50 * time.Millisecond)
	h.finishSurveys(1)
	committed := time.Now()
	select {
	case at := <-arrived:
		return at.Sub(committed)
	case <-time.After(30 * time.Second):
		h.t.Fatal("the event was not delivered")
		return 0
	}
}

func percentile(durations []time.Duration, percent int) float64 {
	slices.Sort(durations)
	return float64(durations[(len(durations)-1)*percent/100].Microseconds()) / 1000
}

func benchmarkIdle(b *testing.B, url string) {
	const idle = 20 * time.Second
	h := newHarness(b, url)
	h.start()
	e := newReceiver(b, nil)
	h.subscribe(e)
	h.finishSurveys(1)
	eventually(b, "the event is delivered", func() bool { return len(e.received()) == 1 })
	time.Sleep(3 * time.Second)
	runtime.GC()
	for b.Loop() {
		before := cpuTime(b)
		time.Sleep(idle)
		b.ReportMetric(100*(cpuTime(b)-before).Seconds()/idle.Seconds(), "%core")
	}
}

// cpuTime returns the CPU time used by the process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
