// SPDX-License-Identifier: Apache-2.0

package guard

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

func TestLimitsFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		memory     int64
		processors int
		want       Limits
	}{
		"the default pod":      {204 << 20, 2, Limits{Calls: 51, BodyBytes: 204 << 14, Connections: 68, StreamsPerConnection: 32, Processors: 2}},
		"a very small one":     {10 << 20, 0, Limits{Calls: 16, BodyBytes: 2 << 20, Connections: 21, StreamsPerConnection: 32, Processors: 1}},
		"nobody knows":         {0, 4, Limits{Calls: 256, BodyBytes: 16 << 20, Connections: 341, StreamsPerConnection: 32, Processors: 4}},
		"more than could help": {1 << 40, 64, Limits{Calls: 1024, BodyBytes: 64 << 20, Connections: 1365, StreamsPerConnection: 32, Processors: 64}},
	} {
		if diff := cmp.Diff(test.want, LimitsFor(test.memory, test.processors)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// turned counts whom a guard turns away.
type turned struct {
	mu     sync.Mutex
	counts map[Reason]int
}

func (t *turned) away(reason Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[Reason]int{}
	}
	t.counts[reason]++
}

// Whatever callers do, no more than so many are inside of a gate, and all that
// left have made room.
func TestGate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inside, waiting := rapid.IntRange(1, 4).Draw(t, "inside"), rapid.IntRange(0, 4).Draw(t, "waiting")
		callers := rapid.IntRange(0, 20).Draw(t, "callers")
		var now, refused, admitted atomic.Int64
		var crowded atomic.Bool
		g := newGate(inside, waiting, time.Minute, func() { refused.Add(1) })
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				if err := g.Enter(context.Background()); err != nil {
					return
				}
				defer g.Leave()
				if now.Add(1) > int64(inside) {
					crowded.Store(true)
				}
				admitted.Add(1)
				now.Add(-1)
			})
		}
		all.Wait()
		if crowded.Load() || admitted.Load()+refused.Load() != int64(callers) || admitted.Load() < int64(min(callers, inside+waiting)) {
			t.Fatalf("too many were inside: %v; %d got in, %d were turned away", crowded.Load(), admitted.Load(), refused.Load())
		}
		if !g.around.TryAcquire(int64(inside+waiting)) || !g.inside.TryAcquire(int64(inside)) {
			t.Fatal("somebody left without making room")
		}
	})
}

// Who waits gets in when somebody leaves, and is turned away when nobody does.
func TestGateWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said turned
		g := newGate(1, 1, time.Second, func() { said.away(TooManyCalls) })
		enter := func() error { return g.Enter(t.Context()) }
		if err := enter(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second / 2)
			g.Leave()
		}()
		if err := enter(); err != nil {
			t.Fatalf("nobody got in after one had left: %v", err)
		}
		if err := enter(); !errors.Is(err, ErrBusy) {
			t.Fatalf("a second one got in: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Enter(ctx); !errors.Is(err, ErrBusy) {
			t.Fatalf("one that is gone got in: %v", err)
		}
		g.Leave()
		if err := enter(); err != nil {
			t.Fatalf("the gate stays shut: %v", err)
		}
		g.Leave()
		if diff := cmp.Diff(map[Reason]int{TooManyCalls: 2}, said.counts); diff != "" {
			t.Errorf("turned away (-want +got)\n%s", diff)
		}
	})
}

func TestBytes(t *testing.T) {
	t.Parallel()
	var said turned
	b := New(Limits{BodyBytes: 10}, said.away).Bodies
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
	fourth.Release() // once more is nothing
	second.Release()
	broken := b.Reader(iotest.DataErrReader(io.MultiReader(strings.NewReader("12"), iotest.ErrReader(io.ErrUnexpectedEOF))))
	read(broken, "12", io.ErrUnexpectedEOF)
	broken.Release()
	read(b.Reader(strings.NewReader("0123456789")), "0123456789", nil)
	if diff := cmp.Diff(map[Reason]int{TooManyBodyBytes: 2}, said.counts); diff != "" {
		t.Errorf("turned away (-want +got)\n%s", diff)
	}
}

// A lane that is full turns nobody away from another.
func TestLanes(t *testing.T) {
	t.Parallel()
	var said turned
	g := New(Limits{Processors: 2}, said.away)
	for findings, same := range map[int]int{0: 10, 11: 20, 21: 100, 101: 100, 500: 100} {
		if g.Lane(findings) != g.Lane(same) {
			t.Errorf("%d findings are not in the lane of %d", findings, same)
		}
	}
	for findings, inside := range map[int]int{100: 1, 20: 2, 10: 8} {
		for i := range inside + 1 {
			err := g.Lane(findings).Enter(t.Context())
			if full := i == inside; errors.Is(err, ErrBusy) != full {
				t.Errorf("%d findings: caller %d: %v", findings, i, err)
			}
		}
	}
	if diff := cmp.Diff(map[Reason]int{TooManyAssessments: 3}, said.counts); diff != "" {
		t.Errorf("turned away (-want +got)\n%s", diff)
	}
}
