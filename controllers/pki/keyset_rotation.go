// SPDX-License-Identifier: Apache-2.0

package pki

import "time"

// A KeysetRotation is the state of a keyset rotation, in addition to the keysets
// themselves.
type KeysetRotation struct {
	// Request is the last rotation request that was handled.
	Request string
	// NextSince is when the keys that become primary next were distributed to the servers.
	// Zero if no rotation is in progress.
	NextSince time.Time
}

// IsRequested reports whether a requested rotation has not started yet.
func (r KeysetRotation) IsRequested(request string) bool {
	return request != "" && request != r.Request
}

// Advance performs the rotation steps that are due, and returns when the next step is
// due, or the zero time if no step is pending. A new key is added first and becomes
// primary once every server has loaded it. Keys are never removed. A request that arrives
// during a rotation is handled after it.
func (r KeysetRotation) Advance(keysets Keysets, request string, now time.Time) (rotated Keysets, after KeysetRotation, due time.Time, err error) {
	if !r.NextSince.IsZero() {
		if due = r.NextSince.Add(KeyPropagationDelay); now.Before(due) {
			return keysets, r, due, nil
		}
		if keysets, err = keysets.WithPromotedKeys(); err != nil {
			return Keysets{}, r, time.Time{}, err
		}
		r.NextSince = time.Time{}
	}
	if !r.IsRequested(request) {
		return keysets, r, time.Time{}, nil
	}
	if keysets, err = keysets.WithNewKeys(); err != nil {
		return Keysets{}, r, time.Time{}, err
	}
	r.Request, r.NextSince = request, now
	return keysets, r, now.Add(KeyPropagationDelay), nil
}
