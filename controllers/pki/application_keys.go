// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"maps"
	"time"
)

// KeyPropagationDelay is how long it takes until every server has loaded a change to a
// Secret that its pod mounts. The kubelet syncs once a minute, from its own cache of
// Secrets, and the server checks its files every few seconds. Clients and other servers
// may rely on a change only after this delay, so it is twice the kubelet's minute.
const KeyPropagationDelay = 2 * time.Minute

// ApplicationKeys are the keys that a server accepts from one application.
type ApplicationKeys struct {
	// Current is the key that is published to the application.
	Current string
	// Additional keys are accepted too: the next key before it is published, or the previous
	// one.
	Additional []string
}

// A KeyRotation is the state of a rotation of all application keys, in addition to the
// keys themselves. At most one of the times is set, and none if no rotation is in
// progress.
type KeyRotation struct {
	// Request is the last rotation request that was handled.
	Request string
	// NextSince is when servers were given the keys that are published next.
	NextSince time.Time
	// PreviousSince is when the previous keys stopped being published.
	PreviousSince time.Time
}

// KeyRotationPolicy controls the rotation of keys.
type KeyRotationPolicy struct {
	// Request triggers a rotation if it is neither empty nor the last request that was
	// handled.
	Request string
	// Overlap is how long a key stays valid after its successor is published. Zero revokes
	// it immediately, and publishes the successor immediately too.
	Overlap time.Duration
}

// IsRequested reports whether a rotation is requested that has not started yet.
func (t KeyRotation) IsRequested(policy KeyRotationPolicy) bool {
	return policy.Request != "" && policy.Request != t.Request
}

// Advance performs the rotation steps that are due, and returns the keys by application,
// the new state, and when the next step is due, or the zero time if none is. It depends
// only on the stored state and the clock, so an interrupted rotation resumes where it
// stopped. A request that arrives during a rotation is handled after it.
func (t KeyRotation) Advance(keys map[string]ApplicationKeys, policy KeyRotationPolicy, now time.Time) (turned map[string]ApplicationKeys, after KeyRotation, due time.Time) {
	turned = maps.Clone(keys)
	for {
		switch known, shown := t.NextSince.Add(KeyPropagationDelay), t.PreviousSince.Add(policy.Overlap); {
		case !t.NextSince.IsZero() && policy.Overlap > 0 && now.Before(known):
			return turned, t, known
		case !t.NextSince.IsZero():
			updateEach(turned, ApplicationKeys.promoted)
			t.NextSince, t.PreviousSince = time.Time{}, now
		case !t.PreviousSince.IsZero() && now.Before(shown):
			return turned, t, shown
		case !t.PreviousSince.IsZero():
			updateEach(turned, ApplicationKeys.currentOnly)
			t.PreviousSince = time.Time{}
		case t.IsRequested(policy):
			updateEach(turned, ApplicationKeys.withNext)
			t.Request, t.NextSince = policy.Request, now
		default:
			return turned, t, time.Time{}
		}
	}
}

func updateEach(keys map[string]ApplicationKeys, how func(ApplicationKeys) ApplicationKeys) {
	for application, had := range keys {
		keys[application] = how(had)
	}
}

// withNext returns the keys plus a new key to be published next.
func (k ApplicationKeys) withNext() ApplicationKeys {
	return ApplicationKeys{k.Current, []string{NewApplicationKey()}}
}

// promoted returns the keys with the next key as the current one. Applications that were
// added during the rotation have no next key and stay unchanged.
func (k ApplicationKeys) promoted() ApplicationKeys {
	if len(k.Additional) == 0 {
		return k
	}
	return ApplicationKeys{k.Additional[0], []string{k.Current}}
}

// currentOnly returns the current key without additional ones.
func (k ApplicationKeys) currentOnly() ApplicationKeys { return ApplicationKeys{Current: k.Current} }
