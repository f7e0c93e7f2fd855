// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// A dependency is a fact or an object that one phase provides and other phases require.
type dependency string

const (
	// credentials, signingKeys and certificate mean that the Secrets exist that every pod
	// needs to start.
	credentials dependency = "credentials"
	signingKeys dependency = "signing keys"
	certificate dependency = "certificate"
	// keysets means that the Secret with the server's keysets exists, or that the server
	// does not encrypt data.
	keysets dependency = "keysets"
	// configuration means that the pods' service account and the server's configuration
	// exist.
	configuration dependency = "configuration"
	// dataStorage means that the storage of the data is known.
	dataStorage dependency = "storage"
	// models means that the image is known to contain the models.
	models dependency = "models"
	// podTemplate means that the desired pod template is known.
	podTemplate dependency = "pod template"
	// readyPods means that the pods match the desired state and are ready.
	readyPods dependency = "pods ready"
)

// A phase is one part of a reconcile. It runs when its requirements are satisfied,
// regardless of failures in other phases.
type phase struct {
	name string
	// requires lists the dependencies that must be satisfied before the phase runs, and
	// provides the dependencies that its completion satisfies.
	requires, provides []dependency
	// fallbackSecret returns the name of a Secret that satisfies the provided dependencies
	// even if the phase fails, provided that an earlier reconcile created the Secret.
	fallbackSecret func(*v1alpha1.Instance) string
	// owns reports whether the phase may create an object. Until the phase has completed,
	// such an object must not be pruned.
	owns func(*v1alpha1.Instance, inventory.Key) bool
	// runsWhenSuspended marks a maintenance phase, which runs even while the Instance is
	// suspended. blocking marks a phase whose failure ends the reconcile.
	runsWhenSuspended, blocking bool
	run                         func(*scope, context.Context) error
}

// phases run in this order.
var phases = []phase{
	{name: "select the server image", blocking: true, runsWhenSuspended: true, run: (*scope).pinServer},
	{name: "load the webhook CA bundle", run: (*scope).loadWebhookCABundle},
	{name: "load the page branding", run: (*scope).loadBranding},
	{name: "apply the Service and configuration", provides: []dependency{configuration}, owns: matchesKind("ServiceAccount", "ConfigMap", "Service", "PodDisruptionBudget"), run: (*scope).applyBaseObjects},
	{name: "apply the certificate", provides: []dependency{certificate}, fallbackSecret: resources.TLSSecretName, owns: matchesSecret(resources.TLSSecretName, resources.CASecretName), runsWhenSuspended: true, run: (*scope).applyCertificate},
	{name: "publish the CA bundle", owns: isCABundle, runsWhenSuspended: true, run: (*scope).applyCABundle},
	{name: "apply the application keys", provides: []dependency{credentials}, fallbackSecret: resources.CredentialsSecretName, owns: isApplicationSecret, runsWhenSuspended: true, run: (*scope).applyApplicationKeys},
	{name: "apply the signing keys", provides: []dependency{signingKeys}, fallbackSecret: resources.SigningKeysSecretName, owns: matchesSecret(resources.SigningKeysSecretName), runsWhenSuspended: true, run: (*scope).applySigningKeys},
	{name: "apply the keysets", provides: []dependency{keysets}, owns: matchesSecret(resources.KeysetsSecretName), runsWhenSuspended: true, run: (*scope).applyKeysets},
	{name: "report key rotation", runsWhenSuspended: true, run: (*scope).setRotationCondition},
	{name: "prepare storage", provides: []dependency{dataStorage}, runsWhenSuspended: true, run: (*scope).applyStorage},
	{name: "apply the notification senders", owns: matchesSecret(resources.NotificationsSecretName), runsWhenSuspended: true, run: (*scope).applyNotifications},
	{name: "apply the NetworkPolicy", owns: matchesKind(kindNetworkPolicy), run: (*scope).applyNetworkPolicy},
	{name: "run the preflight check", provides: []dependency{models}, owns: matchesKind(inventory.KindJob), run: (*scope).checkModels},
	{name: "plan the rollout", requires: []dependency{keysets, dataStorage, models}, provides: []dependency{podTemplate}, run: (*scope).planRollout},
	{name: "apply the Deployment", owns: matchesKind(inventory.KindDeployment), run: (*scope).applyDeployment},
	{name: "prune objects", run: (*scope).prune},
	{name: "wait for the rollout", provides: []dependency{readyPods}, runsWhenSuspended: true, run: (*scope).awaitRollout},
	{name: "wait for the endpoint", requires: []dependency{readyPods}, runsWhenSuspended: true, run: (*scope).awaitEndpoint},
}

// Run runs every phase whose requirements are satisfied, and returns the failures in
// order. A write conflict ends the reconcile, because its inputs are stale. For a
// suspended Instance, only maintenance phases run.
func (s *scope) Run(ctx context.Context) []error {
	if !s.Instance.Spec.Suspend {
		return s.runPhases(ctx)
	}
	restore, exists := s.useAppliedSpec()
	defer restore()
	if !exists {
		return []error{problem.Waiting("", conditions.ReasonSuspended, "suspended before any object was created")}
	}
	s.restoreStatus()
	return s.runPhases(ctx)
}

func (s *scope) runPhases(ctx context.Context) []error {
	var failures []error
	for _, p := range phases {
		switch err := s.runPhase(ctx, p); {
		case err == nil:
		case problem.IsConflict(err), ctx.Err() != nil, p.blocking:
			return []error{err}
		default:
			failures = append(failures, err)
		}
	}
	return failures
}

// runPhase runs a phase if the Instance is not suspended or the phase is a maintenance
// phase, and its requirements are satisfied.
func (s *scope) runPhase(ctx context.Context, p phase) error {
	if s.Instance.Spec.Suspend && !p.runsWhenSuspended {
		return nil
	}
	if !s.isSatisfied(p.requires...) {
		s.incomplete = append(s.incomplete, p)
		return nil
	}
	if err := p.run(s, ctx); err != nil {
		s.incomplete = append(s.incomplete, p)
		if p.fallbackSecret != nil && s.Objects.Has(inventory.Key{Kind: inventory.KindSecret, Name: p.fallbackSecret(s.Instance)}) {
			s.satisfy(p.provides...)
		}
		return fmt.Errorf("%s: %w", p.name, err)
	}
	s.satisfy(p.provides...)
	return nil
}

// satisfy marks dependencies as satisfied, and isSatisfied reports whether all given
// dependencies are.
func (s *scope) satisfy(deps ...dependency) {
	for _, dep := range deps {
		s.satisfied[dep] = true
	}
}

func (s *scope) isSatisfied(deps ...dependency) bool {
	for _, dep := range deps {
		if !s.satisfied[dep] {
			return false
		}
	}
	return true
}

// mayBeDesired reports whether an incomplete phase may own an object.
func (s *scope) mayBeDesired(key inventory.Key) bool {
	for _, p := range s.incomplete {
		if p.owns != nil && p.owns(s.Instance, key) {
			return true
		}
	}
	return false
}

func matchesKind(kinds ...string) func(*v1alpha1.Instance, inventory.Key) bool {
	return func(_ *v1alpha1.Instance, key inventory.Key) bool { return slices.Contains(kinds, key.Kind) }
}

func matchesSecret(names ...func(*v1alpha1.Instance) string) func(*v1alpha1.Instance, inventory.Key) bool {
	return func(instance *v1alpha1.Instance, key inventory.Key) bool {
		for _, name := range names {
			if key == (inventory.Key{Kind: inventory.KindSecret, Name: name(instance)}) {
				return true
			}
		}
		return false
	}
}

func isApplicationSecret(instance *v1alpha1.Instance, key inventory.Key) bool {
	return key.Kind == inventory.KindSecret &&
		(key.Name == resources.CredentialsSecretName(instance) || strings.HasPrefix(key.Name, resources.ApplicationSecretName(instance, "")))
}

func isCABundle(instance *v1alpha1.Instance, key inventory.Key) bool {
	return key == inventory.Key{Kind: "ConfigMap", Name: resources.CAConfigMapName(instance)}
}
