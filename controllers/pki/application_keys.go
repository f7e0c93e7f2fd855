// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"maps"
	"time"
)

// Propagation is how long it takes until every server knows what was written into
// a Secret that its pod mounts: the kubelet looks once a minute, by what its cache
// of Secrets has, and the server looks at its files every few seconds. What clients
// or other servers are told must be good by then, so that this is twice the
// kubelet's minute.
const Propagation = 2 * time.Minute

// ApplicationKeys are those by which a server knows one application.
type ApplicationKeys struct {
	// Key is the one that the application is shown.
	Key string
	// Others are good beside it: one that is to be shown next, or was before.
	Others []string
}

// A KeyTurn is how far the keys of all applications have turned: what must be
// remembered of it beside the keys themselves. At most one of the times is set,
// and none while nothing turns.
type KeyTurn struct {
	// Request is the last request that was met.
	Request string
	// NextSince is since when servers are told the keys that are shown next.
	NextSince time.Time
	// PreviousSince is since when the keys that were shown before are not any more.
	PreviousSince time.Time
}

// KeyPolicy is how keys are to turn.
type KeyPolicy struct {
	// Request asks for other keys when it is neither empty nor the one that was met
	// last.
	Request string
	// Overlap is how long a key stays good after another one is shown. Zero revokes
	// it at once, and shows the other one at once too.
	Overlap time.Duration
}

// Asks says whether other keys are asked for that were not made yet.
func (t KeyTurn) Asks(policy KeyPolicy) bool {
	return policy.Request != "" && policy.Request != t.Request
}

// Advance does what is due about keys, by application, and says when something is
// due next; never is zero. It depends on what is kept and on the clock alone:
// whoever was interrupted goes on where they were. A request that comes while keys
// turn is met when they have.
func (t KeyTurn) Advance(keys map[string]ApplicationKeys, policy KeyPolicy, now time.Time) (turned map[string]ApplicationKeys, after KeyTurn, due time.Time) {
	turned = maps.Clone(keys)
	for {
		switch known, shown := t.NextSince.Add(Propagation), t.PreviousSince.Add(policy.Overlap); {
		case !t.NextSince.IsZero() && policy.Overlap > 0 && now.Before(known):
			return turned, t, known
		case !t.NextSince.IsZero():
			change(turned, ApplicationKeys.next)
			t.NextSince, t.PreviousSince = time.Time{}, now
		case !t.PreviousSince.IsZero() && now.Before(shown):
			return turned, t, shown
		case !t.PreviousSince.IsZero():
			change(turned, ApplicationKeys.alone)
			t.PreviousSince = time.Time{}
		case t.Asks(policy):
			change(turned, ApplicationKeys.joined)
			t.Request, t.NextSince = policy.Request, now
		default:
			return turned, t, time.Time{}
		}
	}
}

func change(keys map[string]ApplicationKeys, how func(ApplicationKeys) ApplicationKeys) {
	for application, had := range keys {
		keys[application] = how(had)
	}
}

// joined are the keys with one to be shown next.
func (k ApplicationKeys) joined() ApplicationKeys {
	return ApplicationKeys{k.Key, []string{NewApplicationKey()}}
}

// next are the keys with the other one shown; those of an application that came
// meanwhile have none.
func (k ApplicationKeys) next() ApplicationKeys {
	if len(k.Others) == 0 {
		return k
	}
	return ApplicationKeys{k.Others[0], []string{k.Key}}
}

// alone is the key that is shown and no other.
func (k ApplicationKeys) alone() ApplicationKeys { return ApplicationKeys{Key: k.Key} }
