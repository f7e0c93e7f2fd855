// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A subscription is a webhook subscription as an Instance's API lists it.
type subscription struct {
	id, url string
	events  []string
	// reference is the UID of the resource that owns the subscription. A subscription that
	// was not created by the operator has another reference, or none.
	reference string
	// status is active, failing or disabled.
	status string
}

// A desiredSubscription is the desired state according to the spec.
type desiredSubscription struct {
	reference, url string
	events         []string
	// token is sent with deliveries. Empty if it is not available.
	token string
}

// newDesiredSubscription returns the subscription that a spec describes.
func newDesiredSubscription(config *v1alpha1.WebhookConfig, token string) desiredSubscription {
	wanted := config.Spec.SubscribedEvents
	if wanted == nil {
		wanted = v1alpha1.WebhookEvents
	}
	events := make([]string, len(wanted))
	for i, event := range wanted {
		events[i] = string(event)
	}
	return desiredSubscription{reference: string(config.UID), url: string(config.Spec.URL), events: events, token: token}
}

// A knownState is what is known about a subscription from sources other than the API.
type knownState struct {
	// id of the subscription according to the status.
	id string
	// signingSecretID is the subscription whose signing secret the receiver has, and
	// signingSecret that secret. Both are empty if the receiver has none.
	signingSecretID, signingSecret string
	// tokenHash is the hash of the token that was last sent to the subscription.
	tokenHash string
}

// A plan lists the changes to make to a subscription.
type plan struct {
	// current is the subscription to keep. Nil if one must be created.
	current *subscription
	// duplicates are the IDs of further subscriptions of the same resource, to be deleted.
	duplicates []string
	// rotateSecret is set if the receiver has no signing secret. It needs a new one, because
	// the API never shows a secret again.
	rotateSecret bool
	change       changedFields
}

// changedFields are the fields of a subscription to update.
type changedFields struct {
	url, events, reference, token bool
}

// newPlan plans the changes that bring the listed subscriptions to the desired state. A
// subscription belongs to the resource if its reference says so or, in case the
// reference was changed, if its ID is known. Of several, newPlan keeps the one whose
// signing secret the receiver has, else the one in the status, else the oldest.
func newPlan(wanted desiredSubscription, known knownState, listed []subscription) plan {
	own := ownedSubscriptions(wanted.reference, known, listed)
	if len(own) == 0 {
		return plan{}
	}
	kept := preferred(own, known.signingSecretID, known.id)
	made := plan{current: &kept, rotateSecret: known.signingSecret == "" || known.signingSecretID != kept.id}
	for _, other := range own {
		if other.id != kept.id && other.reference == wanted.reference {
			made.duplicates = append(made.duplicates, other.id)
		}
	}
	made.change = changedFields{
		url:       kept.url != wanted.url,
		events:    !isSameSet(kept.events, wanted.events),
		reference: kept.reference != wanted.reference,
		token:     wanted.token != "" && (made.rotateSecret || known.tokenHash != hashToken(known.signingSecret, wanted.token)),
	}
	return made
}

func ownedSubscriptions(reference string, known knownState, listed []subscription) []subscription {
	return slices.DeleteFunc(slices.Clone(listed), func(one subscription) bool {
		return one.reference != reference && one.id != known.id && one.id != known.signingSecretID
	})
}

// preferred returns the subscription whose ID comes first in ids, or the first
// subscription if none is listed.
func preferred(own []subscription, ids ...string) subscription {
	for _, id := range ids {
		if at := slices.IndexFunc(own, func(one subscription) bool { return one.id == id }); at >= 0 {
			return own[at]
		}
	}
	return own[0]
}

func isSameSet(one, other []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(one))), slices.Compact(slices.Sorted(slices.Values(other))))
}

// isEmpty reports whether nothing has to change.
func (p plan) isEmpty() bool {
	return p.current != nil && len(p.duplicates) == 0 && !p.rotateSecret && p.change == changedFields{}
}

// String describes the plan for people.
func (p plan) String() string {
	if p.current == nil {
		return "no subscription exists"
	}
	var words []string
	for _, part := range []struct {
		is   bool
		word string
	}{
		{p.change.url, "URL differs"},
		{p.change.events, "events differ"},
		{p.change.reference, "reference differs"},
		{p.change.token, "token may differ"},
		{p.rotateSecret, "signing secret is missing"},
		{len(p.duplicates) > 0, "duplicate subscriptions exist"},
	} {
		if part.is {
			words = append(words, part.word)
		}
	}
	return strings.Join(words, ", ")
}
