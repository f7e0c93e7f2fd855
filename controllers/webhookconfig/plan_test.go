// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	receiverURL       = "https://portal.example/events"
	testSigningSecret = "whsec_EXAMPLE-not-a-signing-secret"
)

var (
	testDesired = desiredSubscription{reference: "uid", url: receiverURL, events: []string{"survey_finished", "notification"}, token: "t0ken"}
	// existing matches testDesired, and fullKnownState is the complete knowledge about it.
	existing       = subscription{id: "1", url: receiverURL, events: []string{"notification", "survey_finished"}, reference: "uid", status: "active"}
	fullKnownState = knownState{id: "1", signingSecretID: "1", signingSecret: testSigningSecret, tokenHash: hashToken(testSigningSecret, "t0ken")}
)

// modified returns a modified copy.
func modified[T any](what T, change func(*T)) T {
	change(&what)
	return what
}

func TestNewPlan(t *testing.T) {
	t.Parallel()
	second := modified(existing, func(s *subscription) { s.id = "2" })
	foreign := modified(existing, func(s *subscription) { s.id, s.reference = "9", "other" })
	byHand := modified(existing, func(s *subscription) { s.id, s.reference = "8", "" })
	for name, test := range map[string]struct {
		desired desiredSubscription
		known   knownState
		listed  []subscription
		want    plan
	}{
		"no subscription":                {testDesired, knownState{}, nil, plan{}},
		"foreign subscriptions only":     {testDesired, knownState{}, []subscription{foreign, byHand}, plan{}},
		"it ended, and is remembered":    {testDesired, fullKnownState, []subscription{foreign}, plan{}},
		"up to date":                     {testDesired, fullKnownState, []subscription{foreign, existing}, plan{current: &existing}},
		"the answer to creation is lost": {testDesired, knownState{}, []subscription{existing}, plan{current: &existing, rotateSecret: true, change: changedFields{token: true}}},
		"the signing Secret is lost": {
			testDesired, modified(fullKnownState, func(m *knownState) { m.signingSecretID, m.signingSecret = "", "" }), []subscription{existing},
			plan{current: &existing, rotateSecret: true, change: changedFields{token: true}},
		},
		"the signing Secret is of an ended subscription": {
			testDesired, modified(fullKnownState, func(m *knownState) { m.signingSecretID = "0" }), []subscription{existing},
			plan{current: &existing, rotateSecret: true, change: changedFields{token: true}},
		},
		"the status is lost": {
			testDesired, knownState{signingSecretID: "1", signingSecret: testSigningSecret}, []subscription{existing},
			plan{current: &existing, change: changedFields{token: true}},
		},
		"the token changed": {
			modified(testDesired, func(w *desiredSubscription) { w.token = "other" }), fullKnownState, []subscription{existing},
			plan{current: &existing, change: changedFields{token: true}},
		},
		"the token is unavailable": {modified(testDesired, func(w *desiredSubscription) { w.token = "" }), fullKnownState, []subscription{existing}, plan{current: &existing}},
		"neither token nor signing Secret": {
			modified(testDesired, func(w *desiredSubscription) { w.token = "" }), knownState{}, []subscription{existing},
			plan{current: &existing, rotateSecret: true},
		},
		"there are two: the one that the receiver verifies": {
			testDesired, modified(fullKnownState, func(m *knownState) { m.signingSecretID = "2" }), []subscription{existing, second},
			plan{current: &second, duplicates: []string{"1"}},
		},
		"there are two: the one of the status": {
			testDesired, knownState{id: "2"}, []subscription{existing, second},
			plan{current: &second, duplicates: []string{"1"}, rotateSecret: true, change: changedFields{token: true}},
		},
		"there are two: the first": {
			testDesired, knownState{}, []subscription{existing, second},
			plan{current: &existing, duplicates: []string{"2"}, rotateSecret: true, change: changedFields{token: true}},
		},
		"its URL and events were changed": {
			modified(testDesired, func(w *desiredSubscription) { w.url, w.events = "https://new.example/", []string{} }), fullKnownState, []subscription{existing},
			plan{current: &existing, change: changedFields{url: true, events: true}},
		},
		"its reference was taken away": {
			testDesired, fullKnownState, []subscription{modified(existing, func(s *subscription) { s.reference = "" })},
			plan{current: new(modified(existing, func(s *subscription) { s.reference = "" })), change: changedFields{reference: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newPlan(test.desired, test.known, test.listed)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(plan{}, subscription{}, changedFields{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if isNothing := name == "up to date" || name == "the token is unavailable"; got.isEmpty() != isNothing {
				t.Errorf("got changes: %v (%s)", !got.isEmpty(), got)
			}
		})
	}
}

// TestPlansConverge executes plans on a random list. One subscription in its desired
// state remains, subscriptions of other owners are unchanged, and the next plan is
// empty.
func TestPlansConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "1", "2", "3"})
		listed := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) subscription {
			return subscription{
				id:        rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id"),
				url:       rapid.SampledFrom([]string{receiverURL, "https://other.example/"}).Draw(t, "url"),
				events:    rapid.SliceOfDistinct(rapid.SampledFrom(testDesired.events), func(e string) string { return e }).Draw(t, "events"),
				reference: rapid.SampledFrom([]string{"uid", "", "else"}).Draw(t, "reference"),
			}
		}), 0, 3, func(s subscription) string { return s.id }).Draw(t, "listed")
		known := knownState{id: id.Draw(t, "id"), signingSecretID: id.Draw(t, "signed"), signingSecret: rapid.SampledFrom([]string{"", testSigningSecret}).Draw(t, "secret")}
		after, knownAfter := executePlan(newPlan(testDesired, known, listed), listed)
		if again := newPlan(testDesired, knownAfter, after); !again.isEmpty() {
			t.Fatalf("plan is not empty after execution: %s", again)
		}
		for _, before := range listed {
			if before.reference == "else" && before.id != known.id && before.id != known.signingSecretID && !containsSubscription(after, before) {
				t.Fatalf("subscription of another owner was changed: got %v, want %v", before, after)
			}
		}
	})
}

// executePlan changes a list as the API would.
func executePlan(p plan, listed []subscription) ([]subscription, knownState) {
	stays := subscription{id: "new"}
	if p.current != nil {
		stays.id = p.current.id
	}
	var after []subscription
	for _, one := range listed {
		surplus := false
		for _, id := range p.duplicates {
			surplus = surplus || one.id == id
		}
		if !surplus && one.id != stays.id {
			after = append(after, one)
		}
	}
	stays.url, stays.events, stays.reference = testDesired.url, testDesired.events, testDesired.reference
	known := knownState{id: stays.id, signingSecretID: stays.id, signingSecret: testSigningSecret, tokenHash: hashToken(testSigningSecret, testDesired.token)}
	return append(after, stays), known
}

func containsSubscription(all []subscription, one subscription) bool {
	for _, other := range all {
		if cmp.Equal(one, other, cmp.AllowUnexported(subscription{})) {
			return true
		}
	}
	return false
}

func TestNewDesiredSubscription(t *testing.T) {
	t.Parallel()
	config := &v1alpha1.WebhookConfig{}
	if diff := cmp.Diff([]string{"survey_finished", "notification"}, newDesiredSubscription(config, "").events); diff != "" {
		t.Errorf("unset events (-want +got):\n%s", diff)
	}
	config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{}
	if diff := cmp.Diff([]string{}, newDesiredSubscription(config, "").events); diff != "" {
		t.Errorf("empty, they are none (-want +got):\n%s", diff)
	}
}
