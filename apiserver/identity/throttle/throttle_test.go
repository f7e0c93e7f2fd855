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

func (t *Throttle) fail(try Attempt, times int) {
	for range times {
		t.RecordFailure(try)
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
			t.Errorf("%s: wait %v, want %v", name, got, test.want)
		}
	}
}

// TestClientNetworks checks that IPv6 clients are counted per /64.
func TestClientNetworks(t *testing.T) {
	t.Parallel()
	for address, same := range map[string]bool{
		"2001:db8::ffff": true, "2001:db8::1%eth0": true, "2001:db8:0:0:ffff::": true, "2001:db8:0:1::1": false,
	} {
		throttle := New(newFakeClock().now)
		throttle.fail(newAttempt("2001:db8::1", "portal"), maxFailuresPerName)
		if got := throttle.Wait(newAttempt(address, "portal")) > 0; got != same {
			t.Errorf("%s has to wait: %v", address, got)
		}
	}
	throttle := New(newFakeClock().now)
	throttle.fail(Attempt{Name: "portal"}, maxFailuresPerName)
	if throttle.Wait(Attempt{Name: "portal"}) == 0 || throttle.Wait(newAttempt("192.0.2.1", "portal")) != 0 {
		t.Error("those without an address are not one")
	}
}

// TestVerifiedCredentialsPass checks that credentials that succeeded from an address
// keep working there while others fail.
func TestVerifiedCredentialsPass(t *testing.T) {
	t.Parallel()
	throttle := New(newFakeClock().now)
	right, guess := newAttempt("192.0.2.1", "portal"), newAttempt("192.0.2.1", "portal")
	right.Secret = "right"
	throttle.RecordSuccess(right)
	throttle.fail(guess, 2*maxFailuresPerAddress)
	if wait := throttle.Wait(right); wait != 0 {
		t.Errorf("what was right waits %v", wait)
	}
	others := map[string]Attempt{"a guess": guess, "another name": right, "another address": right, "nothing": right}
	edit := func(name string, f func(*Attempt)) { other := others[name]; f(&other); others[name] = other }
	edit("another name", func(try *Attempt) { try.Name = "kiosk" })
	edit("nothing", func(try *Attempt) { try.Secret = "" })
	edit("another address", func(try *Attempt) { try.Client = netip.MustParseAddr("192.0.2.2") })
	throttle.fail(others["another address"], maxFailuresPerName)
	for name, other := range others {
		if throttle.Wait(other) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	throttle.RecordSuccess(others["nothing"])
	if throttle.Wait(others["nothing"]) == 0 {
		t.Error("nothing is a secret")
	}
	if throttle.Wait(Attempt{Client: right.Client, Name: "porta", Secret: "lright"}) == 0 {
		t.Error("name and secret run into each other")
	}
}

func TestNilThrottleAllowsAll(t *testing.T) {
	t.Parallel()
	var throttle *Throttle
	throttle.fail(newAttempt("192.0.2.1", "portal"), 2*maxFailuresPerName)
	throttle.RecordSuccess(newAttempt("192.0.2.1", "portal"))
	if wait := throttle.Wait(newAttempt("192.0.2.1", "portal")); wait != 0 {
		t.Errorf("wait %v", wait)
	}
}

// TestThrottleInvariants checks, for random attempts, that failures stay within the
// limits, that waits end on time, and that other addresses are unaffected.
func TestThrottleInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newFakeClock()
		throttle, start := New(c.now), c.time
		judged := map[string]int{}
		for range rapid.IntRange(1, 400).Draw(t, "tries") {
			c.time = c.time.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "milliseconds")) * time.Millisecond)
			try := newAttempt("192.0.2.1", strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "name")))
			wait := throttle.Wait(try)
			if wait < 0 || wait > time.Minute {
				t.Fatalf("wait %v", wait)
			}
			if wait == 0 {
				throttle.RecordFailure(try)
				judged[try.Name]++
				judged[""]++
			} else if c.time = c.time.Add(wait + time.Microsecond); throttle.Wait(try) != 0 {
				t.Fatalf("after %v, %v more", wait, throttle.Wait(try))
			}
			minutes := c.time.Sub(start).Minutes()
			for name, count := range judged {
				most := maxFailuresPerName
				if name == "" {
					most = maxFailuresPerAddress
				}
				if float64(count) > float64(most)*(1+minutes)+1e-6 {
					t.Fatalf("%d attempts of %q are verified in %.2f minutes", count, name, minutes)
				}
			}
		}
		if throttle.Wait(newAttempt("192.0.2.2", "1")) != 0 {
			t.Fatal("another address has to wait")
		}
	})
}

// TestMemoryIsBounded checks that ten times as many attackers as are remembered use no more
// memory than those remembered.
func TestMemoryIsBounded(t *testing.T) {
	throttle := New(time.Now)
	before := heapBytes()
	for i := range 10 * maxAddresses {
		try := Attempt{
			Client: netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}),
			Name:   fmt.Sprint("application-", i), Secret: "guess",
		}
		throttle.RecordFailure(try)
		throttle.RecordSuccess(try)
	}
	if names, addresses, proved := throttle.names.Len(), throttle.addresses.Len(), throttle.verified.Len(); names != maxNames || addresses != maxAddresses || proved != maxVerified {
		t.Errorf("%d names, %d addresses and %d proofs are remembered", names, addresses, proved)
	}
	const most = 12 << 20
	if used := heapBytes() - before; used > most {
		t.Errorf("%d KiB are in use", used>>10)
	} else {
		t.Logf("%d KiB are in use", used>>10)
	}
	runtime.KeepAlive(throttle)
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestPersistentFailuresAreNotEvicted checks that persistent attackers are remembered
// while others come and go.
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
		t.Error("who fails all the time is forgotten")
	}
}

func TestConcurrentAttempts(t *testing.T) {
	t.Parallel()
	throttle := New(time.Now)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				try := newAttempt("192.0.2.1", strconv.Itoa((i+j)%3))
				throttle.Wait(try)
				throttle.RecordFailure(try)
				throttle.RecordSuccess(try)
			}
		})
	}
	all.Wait()
	if throttle.Wait(newAttempt("192.0.2.1", "9")) == 0 {
		t.Error("failures are lost")
	}
}

// BenchmarkGoodTry measures a successful attempt by a client without failures.
func BenchmarkGoodTry(b *testing.B) {
	throttle := New(time.Now)
	try := newAttempt("192.0.2.1", "portal")
	b.ReportAllocs()
	for b.Loop() {
		if throttle.Wait(try) != 0 {
			b.Fatal("a good try waits")
		}
		throttle.RecordSuccess(try)
	}
}

// BenchmarkGoodTryBesideGuessers measures a successful attempt while others fail from
// the same address.
func BenchmarkGoodTryBesideGuessers(b *testing.B) {
	throttle := New(time.Now)
	try, guess := newAttempt("192.0.2.1", "portal"), newAttempt("192.0.2.1", "portal")
	try.Secret = "right"
	throttle.RecordSuccess(try)
	throttle.fail(guess, 2*maxFailuresPerAddress)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if throttle.Wait(try) != 0 {
				b.Error("a good try waits")
			}
			throttle.RecordSuccess(try)
		}
	})
}
