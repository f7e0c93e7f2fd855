// SPDX-License-Identifier: Apache-2.0

package instance

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/storage"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// dependencies are shared by all reconciles.
type dependencies struct {
	inventory.Clients
	Recorder events.EventRecorder
	// Issuer issues certificates to Instances without a user-provided certificate.
	Issuer *authority.Store
	// ServerRollout decides which server build each Instance runs.
	ServerRollout *wave.Wave
	// KubernetesAPI provides addresses that pods must not reach, and DNSResolvers addresses
	// that they must reach.
	KubernetesAPI *cluster.KubernetesAPI
	DNSResolvers  []netip.Prefix
	// ProbeServer connects to an Instance's server at hostPort, which must present the first
	// of the certificates (PEM). It is probe.Dial except in tests without a network.
	ProbeServer func(ctx context.Context, hostPort string, certificates []byte) error

	logoCache logoCache
}

// A scope is one reconcile of one Instance.
type scope struct {
	*dependencies
	cluster.Reader

	// Instance is a copy for this reconcile. Phases update its status.
	Instance  *v1alpha1.Instance
	StartedAt time.Time
	Objects   *inventory.Set

	// satisfied holds the dependencies satisfied so far, and incomplete the phases that
	// failed or could not run.
	satisfied  map[dependency]bool
	incomplete []phase
	// input is the builders' input, which phases fill in.
	input resources.Input
	// caBundleKnown reports whether the CA that issued the certificate is known.
	caBundleKnown bool
	// rolloutPlan determines the pod template.
	rolloutPlan rollout.Plan
	// diagnosis explains why pods are not ready. It is nil until diagnosePods has run.
	diagnosis *rollout.Diagnosis
	// podsRestarting reports whether a write of this reconcile starts, replaces or stops
	// pods.
	podsRestarting bool
	// storageStatus is the status of the storage, if known.
	storageStatus storage.Status
	// volumePending explains why the volume is not bound yet. It is nil if the volume is
	// bound.
	volumePending *problem.Error
	// rotationMessages are the messages for the KeysRotating condition.
	rotationMessages []rotationMessage
	// requeueAt is when to reconcile again even if nothing changes. Zero means never.
	requeueAt time.Time
}

// newScope returns the scope of a new reconcile.
func newScope(deps *dependencies, instance *v1alpha1.Instance, objects *inventory.Set, startedAt time.Time) *scope {
	return &scope{
		dependencies: deps,
		Reader:       cluster.Reader{APIReader: deps.APIReader, Namespace: instance.Namespace},
		Instance:     instance,
		StartedAt:    startedAt,
		Objects:      objects,
		satisfied:    map[dependency]bool{},
		input:        resources.Input{Instance: instance},
	}
}

// RequeueAt requests a reconcile at a time, unless an earlier one is already requested.
func (s *scope) RequeueAt(at time.Time) {
	if s.requeueAt.IsZero() || at.Before(s.requeueAt) {
		s.requeueAt = at
	}
}

// RequeueAfter returns the delay until the next requested reconcile, or zero if none is
// requested.
func (s *scope) RequeueAfter() time.Duration {
	if s.requeueAt.IsZero() {
		return 0
	}
	return max(s.requeueAt.Sub(s.StartedAt), time.Millisecond)
}

// Eventf records a Normal or Warning event for the Instance.
func (s *scope) Eventf(eventType, reason, format string, args ...any) {
	s.Recorder.Eventf(s.Instance, nil, eventType, reason, "Reconcile", format, args...)
}

// setCondition sets a condition of the Instance for its current generation.
func (s *scope) setCondition(conditionType string, status metav1.ConditionStatus, reason, format string, args ...any) {
	setInstanceCondition(s.Instance, s.StartedAt, conditionType, status, reason, fmt.Sprintf(format, args...))
}

// setConditionFromFailures reports failures in their condition and requests an early
// requeue for missing references. The failures do not block other phases.
func (s *scope) setConditionFromFailures(failures []*problem.Error) {
	messages := make([]string, len(failures))
	for i, failure := range failures {
		messages[i] = failure.Message
		if failure.RequeueAfter > 0 {
			s.RequeueAt(s.StartedAt.Add(failure.RequeueAfter))
		}
	}
	s.setCondition(failures[0].Condition, metav1.ConditionFalse, failures[0].Reason, "%s", strings.Join(messages, "; "))
}

// apply applies an object from a builder.
func (s *scope) apply(ctx context.Context, condition string, object resources.Object) error {
	return s.Objects.Apply(ctx, condition, object)
}

// normalEventf records a Normal event.
func (s *scope) normalEventf(reason, format string, args ...any) {
	s.Eventf(corev1.EventTypeNormal, reason, format, args...)
}
