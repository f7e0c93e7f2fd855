// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// keysOf are the keys of two applications, one of which came later.
func keysOf(portal ...string) map[string]ApplicationKeys {
	all := map[string]ApplicationKeys{"kiosk": {Key: "k"}, "portal": {Key: portal[0]}}
	if len(portal) > 1 {
		all["portal"] = ApplicationKeys{portal[0], portal[1:]}
	}
	return all
}

func TestKeysThatTurn(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		turn    KeyTurn
		keys    map[string]ApplicationKeys
		overlap time.Duration
		now     time.Time
		want    map[string]ApplicationKeys
		after   KeyTurn
		due     time.Time
	}{
		"the new keys are not known everywhere": {
			KeyTurn{Request: "1", NextSince: began}, keysOf("old", "new"), day, began.Add(2*time.Minute - 1),
			keysOf("old", "new"), KeyTurn{Request: "1", NextSince: began}, began.Add(2 * time.Minute),
		},
		"they are": {
			KeyTurn{Request: "1", NextSince: began}, keysOf("old", "new"), day, began.Add(2 * time.Minute),
			keysOf("new", "old"), KeyTurn{Request: "1", PreviousSince: began.Add(2 * time.Minute)}, began.Add(2*time.Minute + day),
		},
		"the operator was away for long": {
			KeyTurn{Request: "1", NextSince: began}, keysOf("old", "new"), day, began.Add(30 * day),
			keysOf("new", "old"), KeyTurn{Request: "1", PreviousSince: began.Add(30 * day)}, began.Add(31 * day),
		},
		"the old ones are good still": {
			KeyTurn{Request: "1", PreviousSince: began}, keysOf("new", "old"), day, began.Add(day - 1),
			keysOf("new", "old"), KeyTurn{Request: "1", PreviousSince: began}, began.Add(day),
		},
		"and no more": {
			KeyTurn{Request: "1", PreviousSince: began}, keysOf("new", "old"), day, began.Add(day),
			keysOf("new"), KeyTurn{Request: "1"}, time.Time{},
		},
		"the overlap was made shorter": {
			KeyTurn{Request: "1", PreviousSince: began}, keysOf("new", "old"), time.Hour, began.Add(2 * time.Hour),
			keysOf("new"), KeyTurn{Request: "1"}, time.Time{},
		},
		"revoked on the way": {
			KeyTurn{Request: "1", NextSince: began}, keysOf("old", "new"), 0, began.Add(1),
			keysOf("new"), KeyTurn{Request: "1"}, time.Time{},
		},
		"revoked after": {
			KeyTurn{Request: "1", PreviousSince: began}, keysOf("new", "old"), 0, began.Add(1),
			keysOf("new"), KeyTurn{Request: "1"}, time.Time{},
		},
		"nothing turns": {
			KeyTurn{Request: "1"}, keysOf("new"), day, began, keysOf("new"), KeyTurn{Request: "1"}, time.Time{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := keysOf("untouched")
			before["portal"] = test.keys["portal"]
			got, after, due := test.turn.Advance(test.keys, KeyPolicy{Request: "1", Overlap: test.overlap}, test.now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.after, after); diff != "" {
				t.Errorf("turn (-want +got):\n%s", diff)
			}
			if !due.Equal(test.due) {
				t.Errorf("due %s, want %s", due, test.due)
			}
			if diff := cmp.Diff(before, test.keys); diff != "" {
				t.Errorf("what was given changed:\n%s", diff)
			}
		})
	}
}

func TestKeysAreAskedFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	got, after, due := KeyTurn{}.Advance(keysOf("old"), KeyPolicy{Request: "1", Overlap: time.Hour}, now)
	for name, keys := range got {
		if keys.Key != keysOf("old")[name].Key || len(keys.Others) != 1 || len(keys.Others[0]) != 26 {
			t.Errorf("%s has %+v, want its key and a new one beside it", name, keys)
		}
	}
	if after != (KeyTurn{Request: "1", NextSince: now}) || !due.Equal(now.Add(Propagation)) {
		t.Errorf("got %+v, due %s", after, due)
	}
	again, same, _ := after.Advance(got, KeyPolicy{Request: "2", Overlap: time.Hour}, now)
	if diff := cmp.Diff(got, again); diff != "" || same != after {
		t.Errorf("a request on the way makes other keys:\n%s", diff)
	}

	revoked, after, due := KeyTurn{Request: "1"}.Advance(keysOf("old"), KeyPolicy{Request: "2"}, now)
	if key := revoked["portal"]; key.Key == "old" || len(key.Others) > 0 || after != (KeyTurn{Request: "2"}) || !due.IsZero() {
		t.Errorf("with no overlap got %+v, %+v, due %s, want a new key alone", key, after, due)
	}
}

// TestNoClientIsRefusedWhileKeysTurn looks at keys whenever, by an operator that
// comes by whenever: what clients were last shown is good with servers that are
// behind by less than the propagation, and no application has more than two.
func TestNoClientIsRefusedWhileKeysTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		overlap := time.Duration(rapid.Int64Range(1, 100).Draw(t, "overlap, hours")) * time.Hour
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		keys, turn := map[string]ApplicationKeys{"portal": {Key: "first"}}, KeyTurn{}
		type moment struct {
			at   time.Time
			keys ApplicationKeys
		}
		past := []moment{{now.Add(-time.Hour), keys["portal"]}}
		for range rapid.IntRange(1, 30).Draw(t, "visits") {
			now = now.Add(time.Duration(rapid.Int64Range(1, 5000).Draw(t, "pause, minutes")) * time.Minute / time.Duration(rapid.SampledFrom([]int{1, 60, 1000}).Draw(t, "finer")))
			policy := KeyPolicy{Request: rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "request"), Overlap: overlap}
			keys, turn, _ = turn.Advance(keys, policy, now)
			is := keys["portal"]
			if len(is.Others) > 1 {
				t.Fatalf("more than two keys: %+v", is)
			}
			for i, was := range past {
				known := i+1 == len(past) || past[i+1].at.After(now.Add(-Propagation))
				if known && !was.keys.opens(is.Key) {
					t.Fatalf("a server that knows %+v, of %s ago, refuses the key that is shown", was.keys, now.Sub(was.at))
				}
			}
			past = append(past, moment{now, is})
		}
	})
}

func (k ApplicationKeys) opens(key string) bool {
	return k.Key == key || len(k.Others) == 1 && k.Others[0] == key
}
