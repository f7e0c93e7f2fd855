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

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// manyJobs is how many deliveries wait when their rate is measured.
const manyJobs = 3000

// BenchmarkEvents measures how receivers on loopback are told: how many deliveries a
// second, beside River with a worker that does nothing; how long from the commit to the
// receiver with an idle queue, and with nine others of which one hangs; and the share of
// a core that an instance takes which has a webhook and nothing to tell.
func BenchmarkEvents(b *testing.B) {
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.Database(t) },
	} {
		b.Run("rate/"+name, func(b *testing.B) { benchmarkRate(b, fresh) })
		b.Run("latency/"+name, func(b *testing.B) { benchmarkLatency(b, fresh(b)) })
		b.Run("idle/"+name, func(b *testing.B) { benchmarkIdle(b, fresh(b)) })
	}
}

func benchmarkRate(b *testing.B, fresh func(testing.TB) string) {
	var empty, told time.Duration
	jobs := 0
	for b.Loop() {
		empty += drainEmpty(b, newRig(b, fresh(b)))
		told += drainTold(b, newRig(b, fresh(b)))
		jobs += manyJobs
	}
	b.ReportMetric(float64(jobs)/told.Seconds(), "deliveries/s")
	b.ReportMetric(float64(jobs)/empty.Seconds(), "river-jobs/s")
	b.ReportMetric(empty.Seconds()/told.Seconds(), "ratio")
}

// drainEmpty is how long River takes for what it is to do nothing of.
func drainEmpty(b *testing.B, r *rig) time.Duration {
	receiver := uuid.NewString()
	r.enqueue(receiver)
	client, err := r.store.NewClient(b.Context(), outbox.Handlers{
		Deliver: func(context.Context, outbox.Delivery, int) outbox.Outcome { return outbox.Outcome{} },
		Notify:  func(context.Context, outbox.Notification) error { return nil },
		RetryAt: func(int) time.Time { return time.Now() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := errors.Join(client.Start(b.Context()), client.Serve(receiver, 8)); err != nil {
		b.Fatal(err)
	}
	r.drained()
	took := time.Since(begun)
	if err := client.Stop(b.Context()); err != nil {
		b.Fatal(err)
	}
	return took
}

func drainTold(b *testing.B, r *rig) time.Duration {
	r.enqueue(r.subscribe(newReceiver(b, nil)))
	begun := time.Now()
	stop := r.run()
	r.drained()
	took := time.Since(begun)
	stop()
	return took
}

// enqueue has many deliveries wait for a receiver.
func (r *rig) enqueue(receiver string) {
	r.t.Helper()
	deliveries := make([]outbox.Delivery, manyJobs)
	for i := range deliveries {
		deliveries[i] = outbox.Delivery{Receiver: receiver, Event: events.NewSurveyFinished(uuid.NewString(), uuid.NewString())}
	}
	err := r.store.Transact(r.t.Context(), func(tx storage.Tx) error { return tx.Enqueue(r.t.Context(), deliveries) })
	if err != nil {
		r.t.Fatal(err)
	}
}

// drained waits until nothing is left to do.
func (r *rig) drained() {
	r.t.Helper()
	untilAfter(r.t, 5*time.Minute, "nothing is left", func() bool {
		waiting, err := r.store.Waiting(r.t.Context())
		return err == nil && len(waiting) == 0
	})
}

func benchmarkLatency(b *testing.B, url string) {
	r := newRig(b, url)
	r.run()
	arrived := make(chan time.Time, 1000)
	r.subscribe(newReceiver(b, func(http.ResponseWriter, int) { arrived <- time.Now() }))
	var alone, beside []time.Duration
	for b.Loop() {
		alone = append(alone, r.latency(arrived))
	}
	release := make(chan struct{})
	for i := range 9 {
		var reply func(http.ResponseWriter, int)
		if i == 0 {
			reply = func(http.ResponseWriter, int) { <-release }
		}
		r.subscribe(newReceiver(b, reply))
	}
	for range len(alone) {
		beside = append(beside, r.latency(arrived))
	}
	close(release)
	b.ReportMetric(percentile(alone, 50), "p50-ms")
	b.ReportMetric(percentile(alone, 99), "p99-ms")
	b.ReportMetric(percentile(beside, 99), "p99-beside-hanging-ms")
}

// latency is how long it takes from a commit to the receiver.
func (r *rig) latency(arrived <-chan time.Time) time.Duration {
	r.t.Helper()
	time.Sleep(50 * time.Millisecond)
	r.finish(1)
	committed := time.Now()
	select {
	case at := <-arrived:
		return at.Sub(committed)
	case <-time.After(30 * time.Second):
		r.t.Fatal("nobody was told")
		return 0
	}
}

func percentile(durations []time.Duration, percent int) float64 {
	slices.Sort(durations)
	return float64(durations[(len(durations)-1)*percent/100].Microseconds()) / 1000
}

func benchmarkIdle(b *testing.B, url string) {
	const idle = 20 * time.Second
	r := newRig(b, url)
	r.run()
	e := newReceiver(b, nil)
	r.subscribe(e)
	r.finish(1)
	until(b, "it is told", func() bool { return len(e.told()) == 1 })
	time.Sleep(3 * time.Second)
	runtime.GC()
	for b.Loop() {
		before := processorTime(b)
		time.Sleep(idle)
		b.ReportMetric(100*(processorTime(b)-before).Seconds()/idle.Seconds(), "%core")
	}
}

// processorTime is what the process has taken so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
