// SPDX-License-Identifier: Apache-2.0

package pki

import "time"

// A KeysetRotation is the state of a keyset rotation, in addition to the keysets
// themselves.
type KeysetRotation struct {
	// Request is the last rotation request that was handled.
	Request string
	// NextSince is when servers were given the keys that become primary next. Zero if no
	// rotation is in progress.
	NextSince time.Time
}

// IsRequested reports whether a rotation is requested that has not started yet.
func (t KeysetRotation) IsRequested(request string) bool {
	return request != "" && request != t.Request
}

// Advance performs the rotation steps that are due, and returns when the next one is, or
// the zero time if none is. A new key is added first and becomes primary once every
// server has loaded it. Keys are never removed. A request that arrives during a rotation
// is handled after it.
func (t KeysetRotation) Advance(keysets Keysets, request string, now time.Time) (turned Keysets, after KeysetRotation, due time.Time, err error) {
	if !t.NextSince.IsZero() {
		if due = t.NextSince.Add(KeyPropagationDelay); now.Before(due) {
			return keysets, t, due, nil
		}
		if keysets, err = keysets.WithPromotedKeys(); err != nil {
			return Keysets{}, t, time.Time{}, err
		}
		t.NextSince = time.Time{}
	}
	if !t.IsRequested(request) {
		return keysets, t, time.Time{}, nil
	}
	if keysets, err = keysets.WithNewKeys(); err != nil {
		return Keysets{}, t, time.Time{}, err
	}
	t.Request, t.NextSince = request, now
	return keysets, t, now.Add(KeyPropagationDelay), nil
}
