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
	desired := config.Spec.SubscribedEvents
	if desired == nil {
		desired = v1alpha1.WebhookEvents
	}
	events := make([]string, len(desired))
	for i, event := range desired {
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
	// duplicates are the IDs of other subscriptions of the same WebhookConfig, which are
	// deleted.
	duplicates []string
	// rotateSecret is set if the receiver has no signing secret. The secret is rotated,
	// because the API returns a secret only once.
	rotateSecret bool
	change       changedFields
}

// changedFields are the fields of a subscription to update.
type changedFields struct {
	url, events, reference, token bool
}

// newPlan plans the changes that bring the listed subscriptions to the desired state. A
// subscription belongs to the WebhookConfig if its reference matches or, in case the
// reference was changed, if its ID is known. Of several subscriptions, newPlan keeps the
// subscription whose signing secret the receiver has, else the subscription in the
// status, else the oldest subscription.
func newPlan(desired desiredSubscription, known knownState, listed []subscription) plan {
	own := ownedSubscriptions(desired.reference, known, listed)
	if len(own) == 0 {
		return plan{}
	}
	kept := preferred(own, known.signingSecretID, known.id)
	created := plan{current: &kept, rotateSecret: known.signingSecret == "" || known.signingSecretID != kept.id}
	for _, candidate := range own {
		if candidate.id != kept.id && candidate.reference == desired.reference {
			created.duplicates = append(created.duplicates, candidate.id)
		}
	}
	created.change = changedFields{
		url:       kept.url != desired.url,
		events:    !isSameSet(kept.events, desired.events),
		reference: kept.reference != desired.reference,
		token:     desired.token != "" && (created.rotateSecret || known.tokenHash != hashToken(known.signingSecret, desired.token)),
	}
	return created
}

func ownedSubscriptions(reference string, known knownState, listed []subscription) []subscription {
	return slices.DeleteFunc(slices.Clone(listed), func(s subscription) bool {
		return s.reference != reference && s.id != known.id && s.id != known.signingSecretID
	})
}

// preferred returns the subscription whose ID comes first in ids, or the first
// subscription if ids contains none of them.
func preferred(own []subscription, ids ...string) subscription {
	for _, id := range ids {
		if at := slices.IndexFunc(own, func(s subscription) bool { return s.id == id }); at >= 0 {
			return own[at]
		}
	}
	return own[0]
}

func isSameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// isEmpty reports whether the plan contains no changes.
func (p plan) isEmpty() bool {
	return p.current != nil && len(p.duplicates) == 0 && !p.rotateSecret && p.change == changedFields{}
}

// String describes the plan for users.
func (p plan) String() string {
	if p.current == nil {
		return "subscription does not exist"
	}
	var words []string
	for _, part := range []struct {
		isPlanned bool
		text      string
	}{
		{p.change.url, "URL differs"},
		{p.change.events, "events differ"},
		{p.change.reference, "reference differs"},
		{p.change.token, "token may differ"},
		{p.rotateSecret, "signing secret is missing"},
		{len(p.duplicates) > 0, "duplicate subscriptions exist"},
	} {
		if part.isPlanned {
			words = append(words, part.text)
		}
	}
	return strings.Join(words, ", ")
}
