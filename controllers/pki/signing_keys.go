// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"cmp"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// MaxSigningKeyAge is the age at which a signing key is rotated.
	MaxSigningKeyAge = 90 * 24 * time.Hour

	// maxTokenLifetime is the lifetime of the longest-lived token that a server signs: the
	// token of an interview.
	maxTokenLifetime = 24 * time.Hour
	// retirementMargin allows for slow servers and clock skew.
	retirementMargin = time.Hour

	// activeFromHeader is the PEM header with the time from which servers sign with a key.
	activeFromHeader = "Signs-From"
	// keyIDTimeLayout is the layout of the creation time in a key ID.
	keyIDTimeLayout = "20060102t150405z"
	keyFileSuffix   = ".pem"
)

// A SigningKeyRotation is the state of a rotation of token signing keys, in addition to
// the keys themselves.
type SigningKeyRotation struct {
	// Request is the last rotation request that was handled.
	Request string
	// Retiring are the file names of retired keys. They do not sign tokens, but verify
	// tokens until all tokens that they signed have expired.
	Retiring []string
}

// IsRequested reports whether a requested rotation has not started yet.
func (r SigningKeyRotation) IsRequested(request string) bool {
	return request != "" && request != r.Request
}

// Advance performs the rotation steps that are due on the PEM-encoded keys, by file name
// <kid>.pem. It returns when the next step is due, or the zero time if no step is
// pending. It creates a new key on request or if the current key is too old, but not
// before the previous rotation has ended, so that at most two keys verify. The new key
// signs once all servers have loaded it, and the old keys are removed once all tokens
// that they signed have expired. Keys added by users are treated in the same way; if the
// name of such a key contains no time, its age is unknown.
func (r SigningKeyRotation) Advance(files map[string][]byte, request string, now time.Time) (rotated map[string][]byte, after SigningKeyRotation, due time.Time, err error) {
	rotated = maps.Clone(files)
	newest := newestSigningKey(rotated)
	r.Retiring = slices.DeleteFunc(slices.Clone(r.Retiring), func(name string) bool { return rotated[name] == nil || name == newest })
	if len(r.Retiring) > 0 {
		due = activeFrom(rotated[newest]).Add(KeyPropagationDelay + maxTokenLifetime + retirementMargin)
		if now.Before(due) {
			return rotated, r, due, nil
		}
		for _, name := range r.Retiring {
			delete(rotated, name)
		}
	}
	r.Retiring = nil
	if due = rotationDue(newest, rotated[newest]); !r.IsRequested(request) && (due.IsZero() || now.Before(due)) {
		return rotated, r, due, nil
	}
	return r.startRotation(rotated, request, now)
}

// startRotation adds a key that starts to sign once all servers have loaded it.
func (r SigningKeyRotation) startRotation(files map[string][]byte, request string, now time.Time) (rotated map[string][]byte, after SigningKeyRotation, due time.Time, err error) {
	from := now.Add(KeyPropagationDelay)
	id, key, err := newSigningKey(now, map[string]string{activeFromHeader: from.UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, r, time.Time{}, err
	}
	if files[id+keyFileSuffix] != nil { // already created within this second
		return files, r, now.Add(time.Second), nil
	}
	r.Retiring = slices.Sorted(maps.Keys(files))
	r.Request = cmp.Or(request, r.Request)
	files[id+keyFileSuffix] = key
	return files, r, activeFrom(key).Add(KeyPropagationDelay + maxTokenLifetime + retirementMargin), nil
}

// newestSigningKey returns the file name of the key that signs now or next: the key with
// the latest activation time. If several keys have the same time, the last name wins.
func newestSigningKey(files map[string][]byte) string {
	newest := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if newest == "" || !activeFrom(files[name]).Before(activeFrom(files[newest])) {
			newest = name
		}
	}
	return newest
}

// activeFrom returns when a key starts to sign, or the zero time if the key does not
// specify it.
func activeFrom(key []byte) time.Time {
	block, _ := pem.Decode(key)
	if block == nil {
		return time.Time{}
	}
	from, err := time.Parse(time.RFC3339, block.Headers[activeFromHeader])
	if err != nil {
		return time.Time{}
	}
	return from
}

// rotationDue returns when a key becomes too old, or the zero time if its age is unknown.
func rotationDue(name string, key []byte) time.Time {
	if from := activeFrom(key); !from.IsZero() {
		return from.Add(MaxSigningKeyAge)
	}
	created, err := time.Parse(keyIDTimeLayout, strings.TrimSuffix(name, keyFileSuffix))
	if err != nil {
		return time.Time{}
	}
	return created.Add(MaxSigningKeyAge)
}
