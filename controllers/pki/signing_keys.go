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
	// SigningKeyAge is after how long another key signs.
	SigningKeyAge = 90 * 24 * time.Hour

	// signedLife is how long the longest of what a server signs is good: the token
	// of an interview.
	signedLife = 24 * time.Hour
	// signingMargin covers servers that are late, and clocks that differ.
	signingMargin = time.Hour

	// signsFromHeader of the PEM of a key is when servers begin to sign with it.
	signsFromHeader = "Signs-From"
	// keyIDTime is how the time when a key was made is written in its id.
	keyIDTime     = "20060102t150405z"
	keyFileSuffix = ".pem"
)

// A SigningTurn is what must be remembered about keys that sign tokens, beside
// the keys themselves.
type SigningTurn struct {
	// Request is the last request that was met.
	Request string
	// Retiring are the names of files whose keys sign no more and verify until all
	// is expired that they signed.
	Retiring []string
}

// Asks says whether another key is asked for that was not made yet.
func (t SigningTurn) Asks(request string) bool { return request != "" && request != t.Request }

// Advance does what is due about keys, PEM by file name <kid>.pem, and says when
// something is due next; never is zero. Another key is made when that is asked
// for, or when the one that signs is old, and not before the last turn ended: two
// at a time verify. The new one signs once all servers know it, and those before
// it go when nobody has anything left that they signed. Keys that people added are
// treated like any other; of theirs whose name tells no time nobody knows the age.
func (t SigningTurn) Advance(files map[string][]byte, request string, now time.Time) (turned map[string][]byte, after SigningTurn, due time.Time, err error) {
	turned = maps.Clone(files)
	newest := newestSigningKey(turned)
	t.Retiring = slices.DeleteFunc(slices.Clone(t.Retiring), func(name string) bool { return turned[name] == nil || name == newest })
	if len(t.Retiring) > 0 {
		due = signsFrom(turned[newest]).Add(Propagation + signedLife + signingMargin)
		if now.Before(due) {
			return turned, t, due, nil
		}
		for _, name := range t.Retiring {
			delete(turned, name)
		}
	}
	t.Retiring = nil
	if due = signingKeyDue(newest, turned[newest]); !t.Asks(request) && (due.IsZero() || now.Before(due)) {
		return turned, t, due, nil
	}
	return t.begin(turned, request, now)
}

// begin adds a key that signs once it is known.
func (t SigningTurn) begin(files map[string][]byte, request string, now time.Time) (turned map[string][]byte, after SigningTurn, due time.Time, err error) {
	from := now.Add(Propagation)
	id, key, err := newSigningKey(now, map[string]string{signsFromHeader: from.UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, t, time.Time{}, err
	}
	if files[id+keyFileSuffix] != nil { // made within this second
		return files, t, now.Add(time.Second), nil
	}
	t.Retiring = slices.Sorted(maps.Keys(files))
	t.Request = cmp.Or(request, t.Request)
	files[id+keyFileSuffix] = key
	return files, t, signsFrom(key).Add(Propagation + signedLife + signingMargin), nil
}

// newestSigningKey names the file of the key that signs, or will: of those with
// the latest time the last by name.
func newestSigningKey(files map[string][]byte) string {
	newest := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if newest == "" || !signsFrom(files[name]).Before(signsFrom(files[newest])) {
			newest = name
		}
	}
	return newest
}

// signsFrom is when a key begins to sign; zero, the beginning of time, where it
// does not say.
func signsFrom(key []byte) time.Time {
	block, _ := pem.Decode(key)
	if block == nil {
		return time.Time{}
	}
	from, err := time.Parse(time.RFC3339, block.Headers[signsFromHeader])
	if err != nil {
		return time.Time{}
	}
	return from
}

// signingKeyDue is when a key is old; zero when nobody knows.
func signingKeyDue(name string, key []byte) time.Time {
	if from := signsFrom(key); !from.IsZero() {
		return from.Add(SigningKeyAge)
	}
	made, err := time.Parse(keyIDTime, strings.TrimSuffix(name, keyFileSuffix))
	if err != nil {
		return time.Time{}
	}
	return made.Add(SigningKeyAge)
}
