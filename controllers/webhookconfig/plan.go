// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A subscription is one webhook configuration as the API of an Instance lists it.
type subscription struct {
	id, url string
	events  []string
	// reference is the UID of the resource that it belongs to; that of somebody
	// else, or empty, for one that was made by hand.
	reference string
	// status is active, failing or disabled.
	status string
}

// A wish is what a spec asks of its subscription.
type wish struct {
	reference, url string
	events         []string
	// token is what deliveries carry; empty while it cannot be had.
	token string
}

// wishOf is what a spec asks for.
func wishOf(config *v1alpha1.WebhookConfig, token string) wish {
	wanted := config.Spec.SubscribedEvents
	if wanted == nil {
		wanted = v1alpha1.WebhookEvents
	}
	events := make([]string, len(wanted))
	for i, event := range wanted {
		events[i] = string(event)
	}
	return wish{reference: string(config.UID), url: string(config.Spec.URL), events: events, token: token}
}

// A memory is what is known of a subscription beside the API.
type memory struct {
	// id of the subscription, by the status.
	id string
	// signedID is the subscription whose signing secret the receiver was given,
	// secret; both empty while it was given none.
	signedID, secret string
	// tokenHash is that of the token which the subscription was last given.
	tokenHash string
}

// A plan is what is to be done about a subscription.
type plan struct {
	// kept is the one that stays; nil when it is to be created.
	kept *subscription
	// surplus are the ids of others that are the resource's too.
	surplus []string
	// rotate says that the receiver has no signing secret, and must be given another
	// one, since none is ever shown again.
	rotate bool
	change change
}

// A change is what is to be changed of a subscription.
type change struct {
	url, events, reference, token bool
}

// makePlan says what is to be done for a wish, given what the API lists. Whose
// subscription one is, its reference says, and for one whose reference was changed
// what is remembered. Of several that one stays whose signing secret the receiver
// has, else the one that the status names, else the first that was made.
func makePlan(wanted wish, known memory, listed []subscription) plan {
	own := ownOf(wanted.reference, known, listed)
	if len(own) == 0 {
		return plan{}
	}
	kept := preferred(own, known.signedID, known.id)
	made := plan{kept: &kept, rotate: known.secret == "" || known.signedID != kept.id}
	for _, other := range own {
		if other.id != kept.id && other.reference == wanted.reference {
			made.surplus = append(made.surplus, other.id)
		}
	}
	made.change = change{
		url:       kept.url != wanted.url,
		events:    !isSameSet(kept.events, wanted.events),
		reference: kept.reference != wanted.reference,
		token:     wanted.token != "" && (made.rotate || known.tokenHash != hashToken(known.secret, wanted.token)),
	}
	return made
}

func ownOf(reference string, known memory, listed []subscription) []subscription {
	return slices.DeleteFunc(slices.Clone(listed), func(one subscription) bool {
		return one.reference != reference && one.id != known.id && one.id != known.signedID
	})
}

// preferred gives the first of some subscriptions whose id is named first; else the
// first of all.
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

// isNothing says that nothing is to be done.
func (p plan) isNothing() bool {
	return p.kept != nil && len(p.surplus) == 0 && !p.rotate && p.change == change{}
}

// String says for people what is to be done.
func (p plan) String() string {
	if p.kept == nil {
		return "there is no subscription yet"
	}
	var words []string
	for _, part := range []struct {
		is   bool
		word string
	}{
		{p.change.url, "its URL differs"},
		{p.change.events, "its events differ"},
		{p.change.reference, "its reference differs"},
		{p.change.token, "its token may differ"},
		{p.rotate, "the receiver has no signing secret"},
		{len(p.surplus) > 0, "there is more than one"},
	} {
		if part.is {
			words = append(words, part.word)
		}
	}
	return strings.Join(words, ", ")
}
