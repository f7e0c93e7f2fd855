// SPDX-License-Identifier: Apache-2.0

// Package steps makes an Instance what its spec says, one step after the other.
//
// A Visit is one reconcile of one Instance: what was found, what is wanted, and
// what is left to say. Steps hand things to later steps through it. What a step
// decides, it decides by a pure function of another package with a table test;
// what it builds, package resources builds.
package steps

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// Means are what all visits work with.
type Means struct {
	children.Access
	Recorder events.EventRecorder
	// Authority issues certificates to Instances that bring none.
	Authority *authority.Store
	// Wave decides which build of the server each Instance has.
	Wave *wave.Wave
	// KubernetesAPI and Resolvers are what pods must not and must reach.
	KubernetesAPI *surroundings.KubernetesAPI
	Resolvers     []netip.Prefix
	// Call calls an Instance's server at host:port, which is to show the first of
	// some certificates in PEM: address.Call, but in tests without a network.
	Call func(ctx context.Context, hostPort string, certificates []byte) error

	logos logos
}

// A Visit is one reconcile of one Instance.
type Visit struct {
	*Means
	surroundings.Surroundings

	// Instance is the visit's own copy; its status is filled in on the way.
	Instance *v1alpha1.Instance
	Began    time.Time
	Children *children.Set

	// known are the facts that steps gave, and unfinished the steps that did not
	// come to their end, or could not be run.
	known      map[fact]bool
	unfinished []step
	// input is what builders are given, filled in on the way.
	input resources.Input
	// certified says that it is known by which authority the certificate is trusted.
	certified bool
	// template says which pod template is asked for, and why.
	template rollout.Plan
	// trouble is what keeps pods from becoming ready; nil before that was asked.
	trouble *rollout.Trouble
	// restarts says that pods are to be started, replaced or stopped because of
	// what this visit wrote.
	restarts bool
	// place is where the data is, when that is known.
	place storage.Place
	// volume says why the data has no place yet although pods may be started;
	// nil when it has one.
	volume *problem.Problem
	// turns are what is to be said of keys that turn.
	turns []turnNote
	// again is when to look again although nothing happened; zero for never.
	again time.Time
}

// NewVisit begins a visit.
func NewVisit(means *Means, instance *v1alpha1.Instance, found *children.Set, began time.Time) *Visit {
	return &Visit{
		Means:        means,
		Surroundings: surroundings.Surroundings{Live: means.Live, Namespace: instance.Namespace},
		Instance:     instance,
		Began:        began,
		Children:     found,
		known:        map[fact]bool{},
		input:        resources.Input{Instance: instance},
	}
}

// LookAgainAt asks for a visit at a time, unless one is due earlier.
func (v *Visit) LookAgainAt(at time.Time) {
	if v.again.IsZero() || at.Before(v.again) {
		v.again = at
	}
}

// Pause is how long until the next visit is due; zero for never.
func (v *Visit) Pause() time.Duration {
	if v.again.IsZero() {
		return 0
	}
	return max(v.again.Sub(v.Began), time.Millisecond)
}

// Announce writes an event about the Instance: Normal or Warning.
func (v *Visit) Announce(kind, reason, format string, arguments ...any) {
	v.Recorder.Eventf(v.Instance, nil, kind, reason, "Reconcile", format, arguments...)
}

// mark sets a condition of the Instance as of this generation and now.
func (v *Visit) mark(kind string, value metav1.ConditionStatus, reason, format string, arguments ...any) {
	status.Mark(v.Instance, v.Began, kind, value, reason, fmt.Sprintf(format, arguments...))
}

// markWrong says in the condition that some problems are of what they are, and looks
// again soon for what is missing. They stop nothing else.
func (v *Visit) markWrong(wrong []*problem.Problem) {
	messages := make([]string, len(wrong))
	for i, one := range wrong {
		messages[i] = one.Message
		if one.After > 0 {
			v.LookAgainAt(v.Began.Add(one.After))
		}
	}
	v.mark(wrong[0].Condition, metav1.ConditionFalse, wrong[0].Reason, "%s", strings.Join(messages, "; "))
}

// put makes a child be as a builder said.
func (v *Visit) put(ctx context.Context, condition string, object resources.Object) error {
	return v.Children.Put(ctx, condition, object)
}

// normal writes an event of the normal kind.
func (v *Visit) normal(reason, format string, arguments ...any) {
	v.Announce(corev1.EventTypeNormal, reason, format, arguments...)
}
