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
	// Additional keys are accepted too: the next key before it is published, or the
	// previous key.
	Additional []string
}

// A KeyRotation is the state of a rotation of all application keys, in addition to the
// keys themselves. At most one of the times is set, and none if no rotation is in
// progress.
type KeyRotation struct {
	// Request is the last rotation request that was handled.
	Request string
	// NextSince is when the next keys were distributed to the servers.
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

// IsRequested reports whether a requested rotation has not started yet.
func (r KeyRotation) IsRequested(policy KeyRotationPolicy) bool {
	return policy.Request != "" && policy.Request != r.Request
}

// Advance performs the rotation steps that are due. It returns the keys by application,
// the new state, and when the next step is due, or the zero time if no step is pending.
// Advance depends only on the stored state and the clock, so an interrupted rotation
// resumes where it stopped. A request that arrives during a rotation is handled after it.
func (r KeyRotation) Advance(keys map[string]ApplicationKeys, policy KeyRotationPolicy, now time.Time) (rotated map[string]ApplicationKeys, after KeyRotation, due time.Time) {
	rotated = maps.Clone(keys)
	for {
		switch propagated, expired := r.NextSince.Add(KeyPropagationDelay), r.PreviousSince.Add(policy.Overlap); {
		case !r.NextSince.IsZero() && policy.Overlap > 0 && now.Before(propagated):
			return rotated, r, propagated
		case !r.NextSince.IsZero():
			updateEach(rotated, ApplicationKeys.promoted)
			r.NextSince, r.PreviousSince = time.Time{}, now
		case !r.PreviousSince.IsZero() && now.Before(expired):
			return rotated, r, expired
		case !r.PreviousSince.IsZero():
			updateEach(rotated, ApplicationKeys.currentOnly)
			r.PreviousSince = time.Time{}
		case r.IsRequested(policy):
			updateEach(rotated, ApplicationKeys.withNext)
			r.Request, r.NextSince = policy.Request, now
		default:
			return rotated, r, time.Time{}
		}
	}
}

func updateEach(keys map[string]ApplicationKeys, update func(ApplicationKeys) ApplicationKeys) {
	for application, current := range keys {
		keys[application] = update(current)
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
