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

// A clock is one that stands still.
type clock struct{ time time.Time }

func (c *clock) now() time.Time { return c.time }

func standing() *clock { return &clock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func from(address, name string) Try {
	return Try{Client: netip.MustParseAddr(address), Name: name, Secret: "guess"}
}

func (t *Throttle) fail(try Try, times int) {
	for range times {
		t.Failed(try)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	guesser := from("192.0.2.1", "portal")
	for name, test := range map[string]struct {
		failures int
		later    time.Duration
		try      Try
		want     time.Duration
	}{
		"nothing yet":          {0, 0, guesser, 0},
		"some":                 {9, 0, guesser, 0},
		"enough":               {10, 0, guesser, 6 * time.Second},
		"soon":                 {10, 5 * time.Second, guesser, time.Second},
		"one more":             {10, 6 * time.Second, guesser, 0},
		"a minute later":       {10, time.Minute, guesser, 0},
		"another address":      {10, 0, from("192.0.2.2", "portal"), 0},
		"another name":         {10, 0, from("192.0.2.1", "kiosk"), 0},
		"the same as IPv6":     {10, 0, from("::ffff:192.0.2.1", "portal"), 6 * time.Second},
		"names beyond a count": {100, 0, from("192.0.2.1", "kiosk"), 600 * time.Millisecond},
		"not beyond yet":       {99, 0, from("192.0.2.1", "kiosk"), 0},
		"elsewhere":            {1000, 0, from("192.0.2.2", "kiosk"), 0},
	} {
		c := standing()
		throttle := New(c.now)
		throttle.fail(guesser, test.failures)
		c.time = c.time.Add(test.later)
		if got := throttle.Wait(test.try); (got - test.want).Abs() > time.Millisecond {
			t.Errorf("%s: wait %v, want %v", name, got, test.want)
		}
	}
}

// Whoever has an IPv6 address has the /64 around it.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for address, same := range map[string]bool{
		"2001:db8::ffff": true, "2001:db8::1%eth0": true, "2001:db8:0:0:ffff::": true, "2001:db8:0:1::1": false,
	} {
		throttle := New(standing().now)
		throttle.fail(from("2001:db8::1", "portal"), ofName)
		if got := throttle.Wait(from(address, "portal")) > 0; got != same {
			t.Errorf("%s has to wait: %v", address, got)
		}
	}
	throttle := New(standing().now)
	throttle.fail(Try{Name: "portal"}, ofName)
	if throttle.Wait(Try{Name: "portal"}) == 0 || throttle.Wait(from("192.0.2.1", "portal")) != 0 {
		t.Error("those without an address are not one")
	}
}

// What proved right from an address passes there, whoever else fails.
func TestWhatProvedRightPasses(t *testing.T) {
	t.Parallel()
	throttle := New(standing().now)
	right, guess := from("192.0.2.1", "portal"), from("192.0.2.1", "portal")
	right.Secret = "right"
	throttle.Succeeded(right)
	throttle.fail(guess, 2*ofAddress)
	if wait := throttle.Wait(right); wait != 0 {
		t.Errorf("what was right waits %v", wait)
	}
	others := map[string]Try{"a guess": guess, "another name": right, "another address": right, "nothing": right}
	edit := func(name string, f func(*Try)) { other := others[name]; f(&other); others[name] = other }
	edit("another name", func(try *Try) { try.Name = "kiosk" })
	edit("nothing", func(try *Try) { try.Secret = "" })
	edit("another address", func(try *Try) { try.Client = netip.MustParseAddr("192.0.2.2") })
	throttle.fail(others["another address"], ofName)
	for name, other := range others {
		if throttle.Wait(other) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	throttle.Succeeded(others["nothing"])
	if throttle.Wait(others["nothing"]) == 0 {
		t.Error("nothing is a secret")
	}
	if throttle.Wait(Try{Client: right.Client, Name: "porta", Secret: "lright"}) == 0 {
		t.Error("name and secret run into each other")
	}
}

func TestNobodyThrottles(t *testing.T) {
	t.Parallel()
	var throttle *Throttle
	throttle.fail(from("192.0.2.1", "portal"), 2*ofName)
	throttle.Succeeded(from("192.0.2.1", "portal"))
	if wait := throttle.Wait(from("192.0.2.1", "portal")); wait != 0 {
		t.Errorf("wait %v", wait)
	}
}

// However tries come, no more of them are judged wrong than the limits allow, a
// wait ends when it says so, and success elsewhere is as before.
func TestLimitsHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := standing()
		throttle, start := New(c.now), c.time
		judged := map[string]int{}
		for range rapid.IntRange(1, 400).Draw(t, "tries") {
			c.time = c.time.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "milliseconds")) * time.Millisecond)
			try := from("192.0.2.1", strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "name")))
			wait := throttle.Wait(try)
			if wait < 0 || wait > time.Minute {
				t.Fatalf("wait %v", wait)
			}
			if wait == 0 {
				throttle.Failed(try)
				judged[try.Name]++
				judged[""]++
			} else if c.time = c.time.Add(wait + time.Microsecond); throttle.Wait(try) != 0 {
				t.Fatalf("after %v, %v more", wait, throttle.Wait(try))
			}
			minutes := c.time.Sub(start).Minutes()
			for name, count := range judged {
				most := ofName
				if name == "" {
					most = ofAddress
				}
				if float64(count) > float64(most)*(1+minutes)+1e-6 {
					t.Fatalf("%d tries of %q are judged in %.2f minutes", count, name, minutes)
				}
			}
		}
		if throttle.Wait(from("192.0.2.2", "1")) != 0 {
			t.Fatal("another address has to wait")
		}
	})
}

// A million guessers take no more memory than the first thousands.
func TestMemoryIsBounded(t *testing.T) {
	throttle := New(time.Now)
	before := heap()
	for i := range 1_000_000 {
		try := Try{
			Client: netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}),
			Name:   fmt.Sprint("application-", i), Secret: "guess",
		}
		throttle.Failed(try)
		throttle.Succeeded(try)
	}
	if names, addresses, proved := throttle.names.Len(), throttle.addresses.Len(), throttle.proved.Len(); names != mostNames || addresses != mostAddresses || proved != mostProved {
		t.Errorf("%d names, %d addresses and %d proofs are remembered", names, addresses, proved)
	}
	const most = 12 << 20
	if used := heap() - before; used > most {
		t.Errorf("%d KiB are in use", used>>10)
	} else {
		t.Logf("%d KiB are in use", used>>10)
	}
	runtime.KeepAlive(throttle)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Those who fail for long are remembered while others come and go.
func TestWhoFailsIsNotForgotten(t *testing.T) {
	t.Parallel()
	throttle := New(standing().now)
	guesser := from("192.0.2.1", "portal")
	for i := range 3 * mostNames {
		if i%(mostNames/2) == 0 {
			throttle.fail(guesser, ofName)
		}
		throttle.Failed(from("198.51.100.1", strconv.Itoa(i)))
	}
	if throttle.Wait(guesser) == 0 {
		t.Error("who fails all the time is forgotten")
	}
}

func TestConcurrentTries(t *testing.T) {
	t.Parallel()
	throttle := New(time.Now)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				try := from("192.0.2.1", strconv.Itoa((i+j)%3))
				throttle.Wait(try)
				throttle.Failed(try)
				throttle.Succeeded(try)
			}
		})
	}
	all.Wait()
	if throttle.Wait(from("192.0.2.1", "9")) == 0 {
		t.Error("failures are lost")
	}
}

// BenchmarkGoodTry is what a call costs whose caller never failed.
func BenchmarkGoodTry(b *testing.B) {
	throttle := New(time.Now)
	try := from("192.0.2.1", "portal")
	b.ReportAllocs()
	for b.Loop() {
		if throttle.Wait(try) != 0 {
			b.Fatal("a good try waits")
		}
		throttle.Succeeded(try)
	}
}

// BenchmarkGoodTryBesideGuessers is the same while others fail at the address.
func BenchmarkGoodTryBesideGuessers(b *testing.B) {
	throttle := New(time.Now)
	try, guess := from("192.0.2.1", "portal"), from("192.0.2.1", "portal")
	try.Secret = "right"
	throttle.Succeeded(try)
	throttle.fail(guess, 2*ofAddress)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if throttle.Wait(try) != 0 {
				b.Error("a good try waits")
			}
			throttle.Succeeded(try)
		}
	})
}
