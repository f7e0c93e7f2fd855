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

func (t *rejections) record(reason Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[Reason]int{}
	}
	t.counts[reason]++
}

// A semaphore never admits more callers than its size, and each release frees a slot.
func TestSemaphoreInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inside, waiting := rapid.IntRange(1, 4).Draw(t, "inside"), rapid.IntRange(0, 4).Draw(t, "waiting")
		callers := rapid.IntRange(0, 20).Draw(t, "callers")
		var now, refused, admitted atomic.Int64
		var crowded atomic.Bool
		g := newSemaphore(inside, waiting, time.Minute, func() { refused.Add(1) })
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				if err := g.Acquire(context.Background()); err != nil {
					return
				}
				defer g.Release()
				if now.Add(1) > int64(inside) {
					crowded.Store(true)
				}
				admitted.Add(1)
				now.Add(-1)
			})
		}
		all.Wait()
		if crowded.Load() || admitted.Load()+refused.Load() != int64(callers) || admitted.Load() < int64(min(callers, inside+waiting)) {
			t.Fatalf("limit exceeded: %v; %d admitted, %d rejected", crowded.Load(), admitted.Load(), refused.Load())
		}
		if !g.admitted.TryAcquire(int64(inside+waiting)) || !g.active.TryAcquire(int64(inside)) {
			t.Fatal("a caller did not release its slot")
		}
	})
}

// A waiting caller is admitted when another one releases, and rejected otherwise.
func TestSemaphoreWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said rejections
		g := newSemaphore(1, 1, time.Second, func() { said.record(TooManyCalls) })
		enter := func() error { return g.Acquire(t.Context()) }
		if err := enter(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second / 2)
			g.Release()
		}()
		if err := enter(); err != nil {
			t.Fatalf("no caller was admitted after a release: %v", err)
		}
		if err := enter(); !errors.Is(err, ErrBusy) {
			t.Fatalf("a second one got in: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Acquire(ctx); !errors.Is(err, ErrBusy) {
			t.Fatalf("one that is gone got in: %v", err)
		}
		g.Release()
		if err := enter(); err != nil {
			t.Fatalf("the gate stays shut: %v", err)
		}
		g.Release()
		if diff := cmp.Diff(map[Reason]int{TooManyCalls: 2}, said.counts); diff != "" {
			t.Errorf("rejections (-want +got)\n%s", diff)
		}
	})
}

func TestByteBudget(t *testing.T) {
	t.Parallel()
	var said rejections
	b := New(Limits{BodyBytes: 10}, said.record).BodyBytes
	read := func(r *Reader, want string, wrong error) {
		t.Helper()
		got, err := io.ReadAll(r)
		if string(got) != want || !errors.Is(err, wrong) {
			t.Errorf("read %q, %v, want %q, %v", got, err, want, wrong)
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
	if diff := cmp.Diff(map[Reason]int{TooManyBodyBytes: 2}, said.counts); diff != "" {
		t.Errorf("rejections (-want +got)\n%s", diff)
	}
}

// A full class does not reject callers of another class.
func TestAssessmentClassesAreIndependent(t *testing.T) {
	t.Parallel()
	var said rejections
	g := New(Limits{Processors: 2}, said.record)
	for findings, same := range map[int]int{0: 10, 11: 20, 21: 100, 101: 100, 500: 100} {
		if g.Assessments(findings) != g.Assessments(same) {
			t.Errorf("%d findings do not share the semaphore of %d", findings, same)
		}
	}
	for findings, inside := range map[int]int{100: 1, 20: 2, 10: 8} {
		for i := range inside + 1 {
			err := g.Assessments(findings).Acquire(t.Context())
			if full := i == inside; errors.Is(err, ErrBusy) != full {
				t.Errorf("%d findings: caller %d: %v", findings, i, err)
			}
		}
	}
	if diff := cmp.Diff(map[Reason]int{TooManyAssessments: 3}, said.counts); diff != "" {
		t.Errorf("rejections (-want +got)\n%s", diff)
	}
}
