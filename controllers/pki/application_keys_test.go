// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newKeys returns the keys of two applications, one of which was added later.
func newKeys(portal ...string) map[string]ApplicationKeys {
	all := map[string]ApplicationKeys{"kiosk": {Current: "k"}, "portal": {Current: portal[0]}}
	if len(portal) > 1 {
		all["portal"] = ApplicationKeys{portal[0], portal[1:]}
	}
	return all
}

func TestApplicationKeyRotation(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		turn    KeyRotation
		keys    map[string]ApplicationKeys
		overlap time.Duration
		now     time.Time
		want    map[string]ApplicationKeys
		after   KeyRotation
		due     time.Time
	}{
		"the new keys are not known everywhere": {
			KeyRotation{Request: "1", NextSince: began}, newKeys("old", "new"), day, began.Add(2*time.Minute - 1),
			newKeys("old", "new"), KeyRotation{Request: "1", NextSince: began}, began.Add(2 * time.Minute),
		},
		"they are": {
			KeyRotation{Request: "1", NextSince: began}, newKeys("old", "new"), day, began.Add(2 * time.Minute),
			newKeys("new", "old"), KeyRotation{Request: "1", PreviousSince: began.Add(2 * time.Minute)}, began.Add(2*time.Minute + day),
		},
		"the operator was away for long": {
			KeyRotation{Request: "1", NextSince: began}, newKeys("old", "new"), day, began.Add(30 * day),
			newKeys("new", "old"), KeyRotation{Request: "1", PreviousSince: began.Add(30 * day)}, began.Add(31 * day),
		},
		"the old ones are good still": {
			KeyRotation{Request: "1", PreviousSince: began}, newKeys("new", "old"), day, began.Add(day - 1),
			newKeys("new", "old"), KeyRotation{Request: "1", PreviousSince: began}, began.Add(day),
		},
		"and no more": {
			KeyRotation{Request: "1", PreviousSince: began}, newKeys("new", "old"), day, began.Add(day),
			newKeys("new"), KeyRotation{Request: "1"}, time.Time{},
		},
		"the overlap was made shorter": {
			KeyRotation{Request: "1", PreviousSince: began}, newKeys("new", "old"), time.Hour, began.Add(2 * time.Hour),
			newKeys("new"), KeyRotation{Request: "1"}, time.Time{},
		},
		"revoked on the way": {
			KeyRotation{Request: "1", NextSince: began}, newKeys("old", "new"), 0, began.Add(1),
			newKeys("new"), KeyRotation{Request: "1"}, time.Time{},
		},
		"revoked after": {
			KeyRotation{Request: "1", PreviousSince: began}, newKeys("new", "old"), 0, began.Add(1),
			newKeys("new"), KeyRotation{Request: "1"}, time.Time{},
		},
		"nothing turns": {
			KeyRotation{Request: "1"}, newKeys("new"), day, began, newKeys("new"), KeyRotation{Request: "1"}, time.Time{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newKeys("untouched")
			before["portal"] = test.keys["portal"]
			got, after, due := test.turn.Advance(test.keys, KeyRotationPolicy{Request: "1", Overlap: test.overlap}, test.now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.after, after); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if !due.Equal(test.due) {
				t.Errorf("got due %s, want %s", due, test.due)
			}
			if diff := cmp.Diff(before, test.keys); diff != "" {
				t.Errorf("Advance modified its input:\n%s", diff)
			}
		})
	}
}

func TestKeyRotationIsRequested(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	got, after, due := KeyRotation{}.Advance(newKeys("old"), KeyRotationPolicy{Request: "1", Overlap: time.Hour}, now)
	for name, keys := range got {
		if keys.Current != newKeys("old")[name].Current || len(keys.Additional) != 1 || len(keys.Additional[0]) != 26 {
			t.Errorf("%s: got keys %+v, want the current key and a new key", name, keys)
		}
	}
	if after != (KeyRotation{Request: "1", NextSince: now}) || !due.Equal(now.Add(KeyPropagationDelay)) {
		t.Errorf("got state %+v, due %s", after, due)
	}
	again, same, _ := after.Advance(got, KeyRotationPolicy{Request: "2", Overlap: time.Hour}, now)
	if diff := cmp.Diff(got, again); diff != "" || same != after {
		t.Errorf("request during a rotation changed the keys:\n%s", diff)
	}

	revoked, after, due := KeyRotation{Request: "1"}.Advance(newKeys("old"), KeyRotationPolicy{Request: "2"}, now)
	if key := revoked["portal"]; key.Current == "old" || len(key.Additional) > 0 || after != (KeyRotation{Request: "2"}) || !due.IsZero() {
		t.Errorf("without overlap: got keys %+v, state %+v, due %s, want only a new key", key, after, due)
	}
}

// TestClientsAreAcceptedDuringKeyRotation checks keys at random times while the operator
// reconciles at random times. The key last published to a client is accepted by servers
// that lag less than the propagation delay, and no application has more than two keys.
func TestClientsAreAcceptedDuringKeyRotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		overlap := time.Duration(rapid.Int64Range(1, 100).Draw(t, "overlap, hours")) * time.Hour
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		keys, turn := map[string]ApplicationKeys{"portal": {Current: "first"}}, KeyRotation{}
		type moment struct {
			at   time.Time
			keys ApplicationKeys
		}
		past := []moment{{now.Add(-time.Hour), keys["portal"]}}
		for range rapid.IntRange(1, 30).Draw(t, "visits") {
			now = now.Add(time.Duration(rapid.Int64Range(1, 5000).Draw(t, "pause, minutes")) * time.Minute / time.Duration(rapid.SampledFrom([]int{1, 60, 1000}).Draw(t, "finer")))
			policy := KeyRotationPolicy{Request: rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "request"), Overlap: overlap}
			keys, turn, _ = turn.Advance(keys, policy, now)
			is := keys["portal"]
			if len(is.Additional) > 1 {
				t.Fatalf("got more than two keys: %+v", is)
			}
			for i, was := range past {
				known := i+1 == len(past) || past[i+1].at.After(now.Add(-KeyPropagationDelay))
				if known && !was.keys.accepts(is.Current) {
					t.Fatalf("server with keys %+v, loaded %s ago, rejects the published key", was.keys, now.Sub(was.at))
				}
			}
			past = append(past, moment{now, is})
		}
	})
}

func (k ApplicationKeys) accepts(key string) bool {
	return k.Current == key || len(k.Additional) == 1 && k.Additional[0] == key
}
