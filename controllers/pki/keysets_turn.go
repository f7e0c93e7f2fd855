// SPDX-License-Identifier: Apache-2.0

package pki

import "time"

// A KeysetTurn is what must be remembered of keysets that turn, beside the
// keysets themselves.
type KeysetTurn struct {
	// Request is the last request that was met.
	Request string
	// NextSince is since when servers are told the keys that are to be the primary
	// ones; zero while nothing turns.
	NextSince time.Time
}

// Asks says whether other primary keys are asked for that were not made yet.
func (t KeysetTurn) Asks(request string) bool { return request != "" && request != t.Request }

// Advance does what is due about keysets, and says when something is due next;
// never is zero. A key is added first, and is the primary one once every server
// knows it; none ever goes. A request that comes in between is met after that.
func (t KeysetTurn) Advance(keysets Keysets, request string, now time.Time) (turned Keysets, after KeysetTurn, due time.Time, err error) {
	if !t.NextSince.IsZero() {
		if due = t.NextSince.Add(Propagation); now.Before(due) {
			return keysets, t, due, nil
		}
		if keysets, err = keysets.Turned(); err != nil {
			return Keysets{}, t, time.Time{}, err
		}
		t.NextSince = time.Time{}
	}
	if !t.Asks(request) {
		return keysets, t, time.Time{}, nil
	}
	if keysets, err = keysets.Grown(); err != nil {
		return Keysets{}, t, time.Time{}, err
	}
	t.Request, t.NextSince = request, now
	return keysets, t, now.Add(Propagation), nil
}
