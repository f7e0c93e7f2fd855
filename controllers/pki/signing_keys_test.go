// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/pem"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var signingNoon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// firstSigningKey returns the key of a new Instance.
func firstSigningKey(t rapid.TB, made time.Time) map[string][]byte {
	t.Helper()
	id, key, err := NewSigningKey(made)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{id + ".pem": key}
}

func advanceSigning(t rapid.TB, turn SigningKeyRotation, files map[string][]byte, request string, now time.Time) (map[string][]byte, SigningKeyRotation, time.Time) {
	t.Helper()
	files, turn, due, err := turn.Advance(files, request, now)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range files {
		if !IsSigningKey(key) {
			t.Errorf("%s is not a signing key", name)
		}
	}
	return files, turn, due
}

func fileNames(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

func TestSigningKeysRotateByAge(t *testing.T) {
	t.Parallel()
	const first, second, third = "20261122t120000z.pem", "20270220t120000z.pem", "20270521t120200z.pem"
	files, turn := firstSigningKey(t, signingNoon), SigningKeyRotation{Request: "1"}
	for _, step := range []struct {
		at    time.Time
		want  []string
		after SigningKeyRotation
		due   time.Time
	}{
		{signingNoon.Add(MaxSigningKeyAge - 1), []string{first}, SigningKeyRotation{Request: "1"}, signingNoon.Add(MaxSigningKeyAge)},
		{signingNoon.Add(MaxSigningKeyAge), []string{first, second}, SigningKeyRotation{"1", []string{first}}, signingNoon.Add(MaxSigningKeyAge + 25*time.Hour + 4*time.Minute)},
		{signingNoon.Add(MaxSigningKeyAge + 25*time.Hour + 4*time.Minute - 1), []string{first, second}, SigningKeyRotation{"1", []string{first}}, signingNoon.Add(MaxSigningKeyAge + 25*time.Hour + 4*time.Minute)},
		{signingNoon.Add(MaxSigningKeyAge + 25*time.Hour + 4*time.Minute), []string{second}, SigningKeyRotation{Request: "1"}, signingNoon.Add(2*MaxSigningKeyAge + 2*time.Minute)},
		{signingNoon.Add(2*MaxSigningKeyAge + 2*time.Minute), []string{second, third}, SigningKeyRotation{"1", []string{second}}, signingNoon.Add(2*MaxSigningKeyAge + 25*time.Hour + 6*time.Minute)},
	} {
		var due time.Time
		files, turn, due = advanceSigning(t, turn, files, "1", step.at)
		if diff := cmp.Diff(step.want, fileNames(files)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.at, diff)
		}
		if diff := cmp.Diff(step.after, turn); diff != "" || !due.Equal(step.due) {
			t.Fatalf("%s: got due %s, want %s; state (-want +got):\n%s", step.at, due, step.due, diff)
		}
	}
	block, _ := pem.Decode(files[second])
	if diff := cmp.Diff(map[string]string{"Signs-From": "2027-02-20T12:02:00Z"}, block.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestSigningKeyRotationIsRequested(t *testing.T) {
	t.Parallel()
	files, turn, due := advanceSigning(t, SigningKeyRotation{}, firstSigningKey(t, signingNoon.Add(-time.Hour)), "1", signingNoon)
	if len(files) != 2 || turn.Request != "1" || len(turn.Retiring) != 1 || !due.Equal(signingNoon.Add(25*time.Hour+4*time.Minute)) {
		t.Fatalf("got keys %v, state %+v, due %s", fileNames(files), turn, due)
	}
	same, after, _ := advanceSigning(t, turn, files, "2", signingNoon.Add(time.Hour))
	if diff := cmp.Diff(files, same); diff != "" || after.Request != "1" {
		t.Errorf("third key was created during a rotation: %+v\n%s", after, diff)
	}
	files, turn, _ = advanceSigning(t, after, same, "2", signingNoon.Add(26*time.Hour))
	if len(files) != 2 || turn.Request != "2" {
		t.Errorf("got keys %v, state %+v, want the request handled after the previous rotation", fileNames(files), turn)
	}
	now := signingNoon.Add(time.Millisecond)
	if files, turn, due = advanceSigning(t, SigningKeyRotation{}, firstSigningKey(t, signingNoon), "1", now); len(files) != 1 || turn.Request != "" || !due.After(now) {
		t.Errorf("key created within the same second was overwritten: keys %v, state %+v, due %s", fileNames(files), turn, due)
	}
}

// TestUserSuppliedSigningKeys checks that keys added by users are kept until a rotation,
// regardless of their names.
func TestUserSuppliedSigningKeys(t *testing.T) {
	t.Parallel()
	files := firstSigningKey(t, signingNoon)
	for name, key := range firstSigningKey(t, signingNoon) {
		_ = name
		files["ours.pem"] = key
	}
	same, turn, due := advanceSigning(t, SigningKeyRotation{}, files, "", signingNoon.Add(10*MaxSigningKeyAge))
	if diff := cmp.Diff(files, same); diff != "" || !due.IsZero() || len(turn.Retiring) > 0 {
		t.Errorf("got due %s, state %+v, keys (-before +after):\n%s", due, turn, diff)
	}
	asked, turn, _ := advanceSigning(t, turn, files, "1", signingNoon.Add(time.Hour))
	if len(asked) != 3 || len(turn.Retiring) != 2 {
		t.Errorf("got keys %v, state %+v", fileNames(asked), turn)
	}
	if alone, _, _ := advanceSigning(t, turn, asked, "1", signingNoon.Add(30*time.Hour)); len(alone) != 1 || alone["20261122t130000z.pem"] == nil {
		t.Errorf("got keys %v, want only the new key", fileNames(alone))
	}
}

// TestTokensVerifyDuringRotation checks that servers that lag less than the propagation
// delay verify each other's tokens, at random times.
func TestTokensVerifyDuringRotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := signingNoon
		files, turn := firstSigningKey(t, now), SigningKeyRotation{}
		type moment struct {
			at    time.Time
			files map[string][]byte
		}
		past := []moment{{now, files}}
		signed := map[string]time.Time{} // expiry of the last token that each key signed
		for range rapid.IntRange(1, 40).Draw(t, "visits") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 30, 700, 1500, 9000, 150000}).Draw(t, "pause, minutes")) * time.Minute)
			request := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "request")
			known := []map[string][]byte{files}
			files, turn, _ = advanceSigning(t, turn, files, request, now)
			past = append(past, moment{now, files})
			for i, was := range past {
				if i+1 == len(past) || past[i+1].at.After(now.Add(-KeyPropagationDelay)) {
					known = append(known, was.files)
				}
			}
			for _, signer := range known {
				name := signingKeyAt(signer, now)
				signed[name] = now.Add(maxTokenLifetime)
				for _, verifier := range known {
					if verifier[name] == nil {
						t.Fatalf("a server does not verify tokens signed with %s", name)
					}
				}
			}
			for name, until := range signed {
				if now.Before(until) && files[name] == nil {
					t.Fatalf("%s was removed although its tokens are valid until %s", name, until)
				}
			}
			if len(files) > 2 {
				t.Fatalf("got %d keys", len(files))
			}
		}
	})
}

// signingKeyAt implements the server's rule for choosing a key.
func signingKeyAt(files map[string][]byte, now time.Time) string {
	come := maps.Clone(files)
	maps.DeleteFunc(come, func(_ string, key []byte) bool { return activeFrom(key).After(now) })
	if len(come) > 0 {
		return newestSigningKey(come)
	}
	all := slices.SortedFunc(maps.Keys(files), func(one, other string) int { return activeFrom(files[one]).Compare(activeFrom(files[other])) })
	return all[0]
}

func TestKeysetRotation(t *testing.T) {
	t.Parallel()
	first := newKeysets(t)
	grown, turn, due, err := KeysetRotation{}.Advance(first, "1", signingNoon)
	if err != nil || turn != (KeysetRotation{"1", signingNoon}) || !due.Equal(signingNoon.Add(KeyPropagationDelay)) {
		t.Fatalf("got state %+v, due %s, error %v", turn, due, err)
	}
	if _, id := computeLookup(t, grown, "a"); readHandle(t, grown.Lookup).Len() != 2 || id != primaryKeyID(t, first) {
		t.Error("new key is missing, or is used before it is published")
	}
	same, after, due, err := turn.Advance(grown, "2", signingNoon.Add(KeyPropagationDelay-1))
	if diff := cmp.Diff(grown, same); diff != "" || err != nil || after != turn || !due.Equal(signingNoon.Add(KeyPropagationDelay)) {
		t.Errorf("step was performed before it was due: state %+v, due %s, error %v\n%s", after, due, err, diff)
	}
	rotated, after, due, err := turn.Advance(grown, "1", signingNoon.Add(KeyPropagationDelay))
	if err != nil || after != (KeysetRotation{Request: "1"}) || !due.IsZero() || primaryKeyID(t, rotated) == primaryKeyID(t, first) {
		t.Errorf("got state %+v, due %s, error %v", after, due, err)
	}
	next, after, _, err := turn.Advance(grown, "2", signingNoon.Add(time.Hour))
	if err != nil || after != (KeysetRotation{"2", signingNoon.Add(time.Hour)}) || readHandle(t, next.Encryption).Len() != 3 {
		t.Errorf("request during the rotation was not handled: state %+v, error %v", after, err)
	}
}

func primaryKeyID(t *testing.T, keysets Keysets) uint32 {
	t.Helper()
	_, id := computeLookup(t, keysets, "a")
	return id
}
