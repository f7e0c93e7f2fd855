// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLimitsForMemory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		memory     int64
		processors int
		want       Limits
	}{
		"the default pod":      {204 << 20, 2, Limits{Calls: 51, BodyBytes: 204 << 14, Connections: 68, StreamsPerConnection: 32, Processors: 2}},
		"a very small one":     {10 << 20, 0, Limits{Calls: 16, BodyBytes: 2 << 20, Connections: 21, StreamsPerConnection: 32, Processors: 1}},
		"unknown limit":        {0, 4, Limits{Calls: 256, BodyBytes: 16 << 20, Connections: 341, StreamsPerConnection: 32, Processors: 4}},
		"more than could help": {1 << 40, 64, Limits{Calls: 1024, BodyBytes: 64 << 20, Connections: 1365, StreamsPerConnection: 32, Processors: 64}},
	} {
		if diff := cmp.Diff(test.want, LimitsForMemory(test.memory, test.processors)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// rejections counts rejected callers by reason.
type rejections struct {
	mu     sync.Mutex
	counts map[Reason]int
}

func (r *rejections) record(reason Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[Reason]int{}
	}
	r.counts[reason]++
}

// TestSemaphoreInvariants checks that a semaphore never admits more callers than its
// size, and each release frees a slot.
func TestSemaphoreInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		active, waiting := rapid.IntRange(1, 4).Draw(t, "active"), rapid.IntRange(0, 4).Draw(t, "waiting")
		callers := rapid.IntRange(0, 20).Draw(t, "callers")
		var now, rejected, admitted atomic.Int64
		var exceeded atomic.Bool
		g := newSemaphore(active, waiting, time.Minute, func() { rejected.Add(1) })
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				if err := g.Acquire(context.Background()); err != nil {
					return
				}
				defer g.Release()
				if now.Add(1) > int64(active) {
					exceeded.Store(true)
				}
				admitted.Add(1)
				now.Add(-1)
			})
		}
		all.Wait()
		if exceeded.Load() || admitted.Load()+rejected.Load() != int64(callers) || admitted.Load() < int64(min(callers, active+waiting)) {
			t.Fatalf("limit exceeded: %v, %d callers admitted, %d rejected", exceeded.Load(), admitted.Load(), rejected.Load())
		}
		if !g.admitted.TryAcquire(int64(active+waiting)) || !g.active.TryAcquire(int64(active)) {
			t.Fatal("some callers did not release their slots")
		}
	})
}

// TestSemaphoreWaits checks that a waiting caller is admitted when another one releases,
// and rejected otherwise.
func TestSemaphoreWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rejected rejections
		g := newSemaphore(1, 1, time.Second, func() { rejected.record(TooManyCalls) })
		enter := func() error { return g.Acquire(t.Context()) }
		if err := enter(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second / 2)
			g.Release()
		}()
		if err := enter(); err != nil {
			t.Fatalf("waiting caller after a release: got %v, want it admitted", err)
		}
		if err := enter(); !errors.Is(err, ErrBusy) {
			t.Fatalf("second caller: got %v, want ErrBusy", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Acquire(ctx); !errors.Is(err, ErrBusy) {
			t.Fatalf("canceled caller: got %v, want ErrBusy", err)
		}
		g.Release()
		if err := enter(); err != nil {
			t.Fatalf("caller after the last release: got %v, want it admitted", err)
		}
		g.Release()
		if diff := cmp.Diff(map[Reason]int{TooManyCalls: 2}, rejected.counts); diff != "" {
			t.Errorf("rejections (-want +got)\n%s", diff)
		}
	})
}

func TestByteBudget(t *testing.T) {
	t.Parallel()
	var rejected rejections
	b := New(Limits{BodyBytes: 10}, rejected.record).BodyBytes
	read := func(r *Reader, want string, wantErr error) {
		t.Helper()
		got, err := io.ReadAll(r)
		if string(got) != want || !errors.Is(err, wantErr) {
			t.Errorf("read %q, error %v, want %q, %v", got, err, want, wantErr)
		}
	}
	first, second := b.Reader(strings.NewReader("123456")), b.Reader(strings.NewReader("abcd"))
	read(first, "123456", nil)
	read(second, "abcd", nil)
	third := b.Reader(strings.NewReader("x"))
	read(third, "", ErrBusy)
	third.Release()
	first.Release()
	fourth := b.Reader(iotest.OneByteReader(strings.NewReader("1234567")))
	read(fourth, "123456", ErrBusy)
	fourth.Release()
	fourth.Release() // a second Release has no effect
	second.Release()
	broken := b.Reader(iotest.DataErrReader(io.MultiReader(strings.NewReader("12"), iotest.ErrReader(io.ErrUnexpectedEOF))))
	read(broken, "12", io.ErrUnexpectedEOF)
	broken.Release()
	read(b.Reader(strings.NewReader("0123456789")), "0123456789", nil)
	if diff := cmp.Diff(map[Reason]int{TooManyBodyBytes: 2}, rejected.counts); diff != "" {
		t.Errorf("rejections (-want +got)\n%s", diff)
	}
}

// TestAssessmentClassesAreIndependent checks that a full class does not reject callers
// of another class.
func TestAssessmentClassesAreIndependent(t *testing.T) {
	t.Parallel()
	var rejected rejections
	g := New(Limits{Processors: 2}, rejected.record)
	for findings, same := range map[int]int{0: 10, 11: 20, 21: 100, 101: 100, 500: 100} {
		if g.Assessments(findings) != g.Assessments(same) {
			t.Errorf("%d findings do not share the semaphore of %d findings", findings, same)
		}
	}
	for findings, active := range map[int]int{100: 1, 20: 2, 10: 8} {
		for i := range active + 1 {
			err := g.Assessments(findings).Acquire(t.Context())
			if full := i == active; errors.Is(err, ErrBusy) != full {
				t.Errorf("%d findings: caller %d: got %v, want ErrBusy: %v", findings, i, err, full)
			}
		}
	}
	if diff := cmp.Diff(map[Reason]int{TooManyAssessments: 3}, rejected.counts); diff != "" {
		t.Errorf("rejections (-want +got)\n%s", diff)
	}
}
