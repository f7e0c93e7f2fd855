// SPDX-License-Identifier: Apache-2.0

package throttle

import (
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fakeClock is a clock that tests advance manually.
type fakeClock struct{ time time.Time }

func (c *fakeClock) now() time.Time { return c.time }

func newFakeClock() *fakeClock { return &fakeClock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func newAttempt(address, name string) Attempt {
	return Attempt{Client: netip.MustParseAddr(address), Name: name, Secret: "guess"}
}

func (t *Throttle) fail(attempt Attempt, times int) {
	for range times {
		t.RecordFailure(attempt)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	guesser := newAttempt("192.0.2.1", "portal")
	for name, test := range map[string]struct {
		failures int
		later    time.Duration
		try      Attempt
		want     time.Duration
	}{
		"nothing yet":          {0, 0, guesser, 0},
		"some":                 {9, 0, guesser, 0},
		"enough":               {10, 0, guesser, 6 * time.Second},
		"soon":                 {10, 5 * time.Second, guesser, time.Second},
		"one more":             {10, 6 * time.Second, guesser, 0},
		"a minute later":       {10, time.Minute, guesser, 0},
		"another address":      {10, 0, newAttempt("192.0.2.2", "portal"), 0},
		"another name":         {10, 0, newAttempt("192.0.2.1", "kiosk"), 0},
		"the same as IPv6":     {10, 0, newAttempt("::ffff:192.0.2.1", "portal"), 6 * time.Second},
		"names beyond a count": {100, 0, newAttempt("192.0.2.1", "kiosk"), 600 * time.Millisecond},
		"not beyond yet":       {99, 0, newAttempt("192.0.2.1", "kiosk"), 0},
		"elsewhere":            {1000, 0, newAttempt("192.0.2.2", "kiosk"), 0},
	} {
		c := newFakeClock()
		throttle := New(c.now)
		throttle.fail(guesser, test.failures)
		c.time = c.time.Add(test.later)
		if got := throttle.Wait(test.try); (got - test.want).Abs() > time.Millisecond {
			t.Errorf("%s: Wait() = %v, want %v", name, got, test.want)
		}
	}
}

// TestClientNetworks checks that IPv6 clients are counted per /64.
func TestClientNetworks(t *testing.T) {
	t.Parallel()
	for address, isThrottled := range map[string]bool{
		"2001:db8::ffff": true, "2001:db8::1%eth0": true, "2001:db8:0:0:ffff::": true, "2001:db8:0:1::1": false,
	} {
		throttle := New(newFakeClock().now)
		throttle.fail(newAttempt("2001:db8::1", "portal"), maxFailuresPerName)
		if got := throttle.Wait(newAttempt(address, "portal")) > 0; got != isThrottled {
			t.Errorf("%s is throttled: %v", address, got)
		}
	}
	throttle := New(newFakeClock().now)
	throttle.fail(Attempt{Name: "portal"}, maxFailuresPerName)
	if throttle.Wait(Attempt{Name: "portal"}) == 0 || throttle.Wait(newAttempt("192.0.2.1", "portal")) != 0 {
		t.Error("want clients without an address to share a limit")
	}
}

// TestVerifiedCredentialsPass checks that credentials that succeeded from an address keep
// working there while other attempts fail.
func TestVerifiedCredentialsPass(t *testing.T) {
	t.Parallel()
	throttle := New(newFakeClock().now)
	valid, guess := newAttempt("192.0.2.1", "portal"), newAttempt("192.0.2.1", "portal")
	valid.Secret = "right"
	throttle.RecordSuccess(valid)
	throttle.fail(guess, 2*maxFailuresPerAddress)
	if wait := throttle.Wait(valid); wait != 0 {
		t.Errorf("verified credentials have to wait %v", wait)
	}
	others := map[string]Attempt{"a guess": guess, "another name": valid, "another address": valid, "nothing": valid}
	edit := func(name string, f func(*Attempt)) { other := others[name]; f(&other); others[name] = other }
	edit("another name", func(attempt *Attempt) { attempt.Name = "kiosk" })
	edit("nothing", func(attempt *Attempt) { attempt.Secret = "" })
	edit("another address", func(attempt *Attempt) { attempt.Client = netip.MustParseAddr("192.0.2.2") })
	throttle.fail(others["another address"], maxFailuresPerName)
	for name, other := range others {
		if throttle.Wait(other) == 0 {
			t.Errorf("%s is not throttled", name)
		}
	}
	throttle.RecordSuccess(others["nothing"])
	if throttle.Wait(others["nothing"]) == 0 {
		t.Error("attempt with an empty secret is not throttled")
	}
	if throttle.Wait(Attempt{Client: valid.Client, Name: "porta", Secret: "lright"}) == 0 {
		t.Error("attempts with the same concatenation of name and secret are confused")
	}
}

func TestNilThrottleAllowsAll(t *testing.T) {
	t.Parallel()
	var throttle *Throttle
	throttle.fail(newAttempt("192.0.2.1", "portal"), 2*maxFailuresPerName)
	throttle.RecordSuccess(newAttempt("192.0.2.1", "portal"))
	if wait := throttle.Wait(newAttempt("192.0.2.1", "portal")); wait != 0 {
		t.Errorf("got wait %v", wait)
	}
}

// TestThrottleInvariants checks, for random attempts, that failures stay within the
// limits, that waits end on time, and that other addresses are unaffected.
func TestThrottleInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newFakeClock()
		throttle, start := New(c.now), c.time
		checked := map[string]int{}
		for range rapid.IntRange(1, 400).Draw(t, "tries") {
			c.time = c.time.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "milliseconds")) * time.Millisecond)
			attempt := newAttempt("192.0.2.1", strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "name")))
			wait := throttle.Wait(attempt)
			if wait < 0 || wait > time.Minute {
				t.Fatalf("got wait %v", wait)
			}
			if wait == 0 {
				throttle.RecordFailure(attempt)
				checked[attempt.Name]++
				checked[""]++
			} else if c.time = c.time.Add(wait + time.Microsecond); throttle.Wait(attempt) != 0 {
				t.Fatalf("after waiting %v, got another wait of %v", wait, throttle.Wait(attempt))
			}
			minutes := c.time.Sub(start).Minutes()
			for name, count := range checked {
				limit := maxFailuresPerName
				if name == "" {
					limit = maxFailuresPerAddress
				}
				if float64(count) > float64(limit)*(1+minutes)+1e-6 {
					t.Fatalf("%d attempts of %q were checked in %.2f minutes", count, name, minutes)
				}
			}
		}
		if throttle.Wait(newAttempt("192.0.2.2", "1")) != 0 {
			t.Fatal("another address is throttled")
		}
	})
}

// TestMemoryIsBounded checks that ten times as many attackers as are remembered use no more
// memory than those remembered.
func TestMemoryIsBounded(t *testing.T) {
	throttle := New(time.Now)
	before := heapBytes()
	for i := range 10 * maxAddresses {
		attempt := Attempt{
			Client: netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}),
			Name:   fmt.Sprint("application-", i), Secret: "guess",
		}
		throttle.RecordFailure(attempt)
		throttle.RecordSuccess(attempt)
	}
	if names, addresses, proved := throttle.names.Len(), throttle.addresses.Len(), throttle.verified.Len(); names != maxNames || addresses != maxAddresses || proved != maxVerified {
		t.Errorf("got %d names, %d addresses and %d verified credentials", names, addresses, proved)
	}
	const limit = 12 << 20
	if used := heapBytes() - before; used > limit {
		t.Errorf("memory in use: %d KiB", used>>10)
	} else {
		t.Logf("memory in use: %d KiB", used>>10)
	}
	runtime.KeepAlive(throttle)
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestPersistentFailuresAreNotEvicted checks that the failures of a persistent attacker are
// kept while other attackers come and go.
func TestPersistentFailuresAreNotEvicted(t *testing.T) {
	t.Parallel()
	throttle := New(newFakeClock().now)
	guesser := newAttempt("192.0.2.1", "portal")
	for i := range 3 * maxNames {
		if i%(maxNames/2) == 0 {
			throttle.fail(guesser, maxFailuresPerName)
		}
		throttle.RecordFailure(newAttempt("198.51.100.1", strconv.Itoa(i)))
	}
	if throttle.Wait(guesser) == 0 {
		t.Error("failures of a persistent attacker were evicted")
	}
}

func TestConcurrentAttempts(t *testing.T) {
	t.Parallel()
	throttle := New(time.Now)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				attempt := newAttempt("192.0.2.1", strconv.Itoa((i+j)%3))
				throttle.Wait(attempt)
				throttle.RecordFailure(attempt)
				throttle.RecordSuccess(attempt)
			}
		})
	}
	all.Wait()
	if throttle.Wait(newAttempt("192.0.2.1", "9")) == 0 {
		t.Error("concurrent failures were lost")
	}
}

// BenchmarkSuccess measures a successful attempt by a client without failures.
func BenchmarkSuccess(b *testing.B) {
	throttle := New(time.Now)
	attempt := newAttempt("192.0.2.1", "portal")
	b.ReportAllocs()
	for b.Loop() {
		if throttle.Wait(attempt) != 0 {
			b.Fatal("successful attempt has to wait")
		}
		throttle.RecordSuccess(attempt)
	}
}

// BenchmarkSuccessAmongFailures measures a successful attempt while others fail from the same
// address.
func BenchmarkSuccessAmongFailures(b *testing.B) {
	throttle := New(time.Now)
	attempt, guess := newAttempt("192.0.2.1", "portal"), newAttempt("192.0.2.1", "portal")
	attempt.Secret = "right"
	throttle.RecordSuccess(attempt)
	throttle.fail(guess, 2*maxFailuresPerAddress)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if throttle.Wait(attempt) != 0 {
				b.Error("successful attempt has to wait")
			}
			throttle.RecordSuccess(attempt)
		}
	})
}
