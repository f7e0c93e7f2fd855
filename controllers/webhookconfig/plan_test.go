// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	somePlace  = "https://portal.example/events"
	someSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

var (
	someWish = wish{reference: "uid", url: somePlace, events: []string{"survey_finished", "notification"}, token: "t0ken"}
	// kept is as someWish says, and allKnown is all that there is to know of it.
	kept     = subscription{id: "1", url: somePlace, events: []string{"notification", "survey_finished"}, reference: "uid", status: "active"}
	allKnown = memory{id: "1", signedID: "1", secret: someSecret, tokenHash: hashToken(someSecret, "t0ken")}
)

// with changes a copy.
func with[T any](what T, change func(*T)) T {
	change(&what)
	return what
}

func TestMakePlan(t *testing.T) {
	t.Parallel()
	second := with(kept, func(s *subscription) { s.id = "2" })
	foreign := with(kept, func(s *subscription) { s.id, s.reference = "9", "somebody else" })
	byHand := with(kept, func(s *subscription) { s.id, s.reference = "8", "" })
	for name, test := range map[string]struct {
		wanted wish
		known  memory
		listed []subscription
		want   plan
	}{
		"there is none":                  {someWish, memory{}, nil, plan{}},
		"there are others' only":         {someWish, memory{}, []subscription{foreign, byHand}, plan{}},
		"it ended, and is remembered":    {someWish, allKnown, []subscription{foreign}, plan{}},
		"it is as wished":                {someWish, allKnown, []subscription{foreign, kept}, plan{kept: &kept}},
		"the answer to creation is lost": {someWish, memory{}, []subscription{kept}, plan{kept: &kept, rotate: true, change: change{token: true}}},
		"the signing Secret is lost": {
			someWish, with(allKnown, func(m *memory) { m.signedID, m.secret = "", "" }), []subscription{kept},
			plan{kept: &kept, rotate: true, change: change{token: true}},
		},
		"the signing Secret is that of one that ended": {
			someWish, with(allKnown, func(m *memory) { m.signedID = "0" }), []subscription{kept},
			plan{kept: &kept, rotate: true, change: change{token: true}},
		},
		"the status is lost": {
			someWish, memory{signedID: "1", secret: someSecret}, []subscription{kept},
			plan{kept: &kept, change: change{token: true}},
		},
		"the token changed": {
			with(someWish, func(w *wish) { w.token = "other" }), allKnown, []subscription{kept},
			plan{kept: &kept, change: change{token: true}},
		},
		"the token cannot be had": {with(someWish, func(w *wish) { w.token = "" }), allKnown, []subscription{kept}, plan{kept: &kept}},
		"neither token nor signing Secret": {
			with(someWish, func(w *wish) { w.token = "" }), memory{}, []subscription{kept},
			plan{kept: &kept, rotate: true},
		},
		"there are two: the one that the receiver verifies": {
			someWish, with(allKnown, func(m *memory) { m.signedID = "2" }), []subscription{kept, second},
			plan{kept: &second, surplus: []string{"1"}},
		},
		"there are two: the one of the status": {
			someWish, memory{id: "2"}, []subscription{kept, second},
			plan{kept: &second, surplus: []string{"1"}, rotate: true, change: change{token: true}},
		},
		"there are two: the first": {
			someWish, memory{}, []subscription{kept, second},
			plan{kept: &kept, surplus: []string{"2"}, rotate: true, change: change{token: true}},
		},
		"its URL and events were changed": {
			with(someWish, func(w *wish) { w.url, w.events = "https://new.example/", []string{} }), allKnown, []subscription{kept},
			plan{kept: &kept, change: change{url: true, events: true}},
		},
		"its reference was taken away": {
			someWish, allKnown, []subscription{with(kept, func(s *subscription) { s.reference = "" })},
			plan{kept: new(with(kept, func(s *subscription) { s.reference = "" })), change: change{reference: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := makePlan(test.wanted, test.known, test.listed)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(plan{}, subscription{}, change{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if isNothing := name == "it is as wished" || name == "the token cannot be had"; got.isNothing() != isNothing {
				t.Errorf("something is to be done: %v (%s)", !got.isNothing(), got)
			}
		})
	}
}

// TestPlansEnd carries plans out on a list, whatever there was: one subscription
// stays, as wished, nobody else's was touched, and nothing more is to be done.
func TestPlansEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "1", "2", "3"})
		listed := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) subscription {
			return subscription{
				id:        rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id"),
				url:       rapid.SampledFrom([]string{somePlace, "https://other.example/"}).Draw(t, "url"),
				events:    rapid.SliceOfDistinct(rapid.SampledFrom(someWish.events), func(e string) string { return e }).Draw(t, "events"),
				reference: rapid.SampledFrom([]string{"uid", "", "else"}).Draw(t, "reference"),
			}
		}), 0, 3, func(s subscription) string { return s.id }).Draw(t, "listed")
		known := memory{id: id.Draw(t, "id"), signedID: id.Draw(t, "signed"), secret: rapid.SampledFrom([]string{"", someSecret}).Draw(t, "secret")}
		after, knownAfter := carryOut(makePlan(someWish, known, listed), listed)
		if again := makePlan(someWish, knownAfter, after); !again.isNothing() {
			t.Fatalf("more is to be done: %s", again)
		}
		for _, before := range listed {
			if before.reference == "else" && before.id != known.id && before.id != known.signedID && !contains(after, before) {
				t.Fatalf("somebody else's was touched: %v of %v", before, after)
			}
		}
	})
}

// carryOut does to a list what an API would.
func carryOut(p plan, listed []subscription) ([]subscription, memory) {
	stays := subscription{id: "new"}
	if p.kept != nil {
		stays.id = p.kept.id
	}
	var after []subscription
	for _, one := range listed {
		surplus := false
		for _, id := range p.surplus {
			surplus = surplus || one.id == id
		}
		if !surplus && one.id != stays.id {
			after = append(after, one)
		}
	}
	stays.url, stays.events, stays.reference = someWish.url, someWish.events, someWish.reference
	known := memory{id: stays.id, signedID: stays.id, secret: someSecret, tokenHash: hashToken(someSecret, someWish.token)}
	return append(after, stays), known
}

func contains(all []subscription, one subscription) bool {
	for _, other := range all {
		if cmp.Equal(one, other, cmp.AllowUnexported(subscription{})) {
			return true
		}
	}
	return false
}

func TestWishOf(t *testing.T) {
	t.Parallel()
	config := &v1alpha1.WebhookConfig{}
	if diff := cmp.Diff([]string{"survey_finished", "notification"}, wishOf(config, "").events); diff != "" {
		t.Errorf("left out, they are all (-want +got):\n%s", diff)
	}
	config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{}
	if diff := cmp.Diff([]string{}, wishOf(config, "").events); diff != "" {
		t.Errorf("empty, they are none (-want +got):\n%s", diff)
	}
}
