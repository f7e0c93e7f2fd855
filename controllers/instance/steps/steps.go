// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// A fact is what a step comes to know or makes, and other steps need.
type fact string

const (
	// credentials, signingKeys and certificate: the Secrets are there, without
	// which no pod starts.
	credentials fact = "credentials"
	signingKeys fact = "signing keys"
	certificate fact = "certificate"
	// keysets: the server encrypts nothing, or the Secret is there by which it does.
	keysets fact = "keysets"
	// configuration: who the pods are, and what their server reads, is there.
	configuration fact = "configuration"
	// place: it is known where the data is.
	place fact = "place of the data"
	// models: the image was found to hold the models.
	models fact = "models"
	// template: it is decided which pod template the spec asks for.
	template fact = "pod template"
	// readyPods: the pods are as wanted, and ready.
	readyPods fact = "ready pods"
)

// A step is one subject of a visit. It is run when what it needs is known; that
// another one failed does not concern it otherwise.
type step struct {
	name string
	// needs and gives are the facts that it cannot do without, and that hold once
	// it came to its end.
	needs, gives []fact
	// lasting gives the name of the Secret because of which the facts hold also
	// when the step failed this time: it was made by an earlier visit.
	lasting func(*v1alpha1.Instance) string
	// makes says whether a child is one that the step may ask for. While the step
	// has not come to its end, nobody knows that the child is unwanted.
	makes func(*v1alpha1.Instance, children.Key) bool
	// keeps says that the step goes on while the Instance is suspended, and leads
	// that no other can be run unless it came to its end.
	keeps, leads bool
	run          func(*Visit, context.Context) error
}

// steps are run in this order.
var steps = []step{
	{name: "pin the server", leads: true, keeps: true, run: (*Visit).pinServer},
	{name: "learn by whom receivers prove themselves", run: (*Visit).readWebhookAuthorities},
	{name: "learn how its pages look", run: (*Visit).readLook},
	{name: "give it an address", gives: []fact{configuration}, makes: isKind("ServiceAccount", "ConfigMap", "Service", "PodDisruptionBudget"), run: (*Visit).applyAddress},
	{name: "give it a certificate", gives: []fact{certificate}, lasting: resources.TLSName, makes: isSecret(resources.TLSName, resources.AuthorityName), keeps: true, run: (*Visit).applyCertificate},
	{name: "tell clients whom to trust", makes: isTrust, keeps: true, run: (*Visit).applyTrust},
	{name: "give applications their keys", gives: []fact{credentials}, lasting: resources.CredentialsName, makes: isApplicationSecret, keeps: true, run: (*Visit).applyApplications},
	{name: "give it keys to sign tokens", gives: []fact{signingKeys}, lasting: resources.SigningKeysName, makes: isSecret(resources.SigningKeysName), keeps: true, run: (*Visit).applySigningKeys},
	{name: "give it keysets", gives: []fact{keysets}, makes: isSecret(resources.KeysetsName), keeps: true, run: (*Visit).applyKeysets},
	{name: "say how keys turn", keeps: true, run: (*Visit).tellTurning},
	{name: "give the data a place", gives: []fact{place}, keeps: true, run: (*Visit).applyStorage},
	{name: "give it senders of messages", makes: isSecret(resources.NotificationsName), keeps: true, run: (*Visit).applyNotifications},
	{name: "say who may talk to it", makes: isKind(kindNetworkPolicy), run: (*Visit).applyNetwork},
	{name: "check the models", gives: []fact{models}, makes: isKind(children.KindJob), run: (*Visit).checkModels},
	{name: "choose a pod template", needs: []fact{keysets, place, models}, gives: []fact{template}, run: (*Visit).planRollout},
	{name: "run the server", makes: isKind(children.KindDeployment), run: (*Visit).applyDeployment},
	{name: "delete what is no longer wanted", run: (*Visit).prune},
	{name: "wait for the pods", gives: []fact{readyPods}, keeps: true, run: (*Visit).awaitRollout},
	{name: "wait until the address answers", needs: []fact{readyPods}, keeps: true, run: (*Visit).awaitAddress},
}

// Run runs every step whose needs are met, and gives what kept steps from coming
// to their end, in their order. A write that came too late ends the visit: what
// it rests on has changed. Of a suspended Instance only the steps are run that
// keep what was applied before going.
func (v *Visit) Run(ctx context.Context) []error {
	if !v.Instance.Spec.Suspend {
		return v.runSteps(ctx)
	}
	release, keeps := v.holdSpec()
	defer release()
	if !keeps {
		return []error{problem.Waiting("", status.ReasonSuspended, "nothing of it was made yet")}
	}
	v.restate()
	return v.runSteps(ctx)
}

func (v *Visit) runSteps(ctx context.Context) []error {
	var failures []error
	for _, step := range steps {
		switch err := v.runStep(ctx, step); {
		case err == nil:
		case problem.IsRace(err), ctx.Err() != nil, step.leads:
			return []error{err}
		default:
			failures = append(failures, err)
		}
	}
	return failures
}

// runStep runs a step, if it is due and can be run.
func (v *Visit) runStep(ctx context.Context, step step) error {
	if v.Instance.Spec.Suspend && !step.keeps {
		return nil
	}
	if !v.knows(step.needs...) {
		v.unfinished = append(v.unfinished, step)
		return nil
	}
	if err := step.run(v, ctx); err != nil {
		v.unfinished = append(v.unfinished, step)
		if step.lasting != nil && v.Children.Has(children.Key{Kind: children.KindSecret, Name: step.lasting(v.Instance)}) {
			v.give(step.gives...)
		}
		return fmt.Errorf("%s: %w", step.name, err)
	}
	v.give(step.gives...)
	return nil
}

// give notes facts, and knows says whether all of some are known.
func (v *Visit) give(facts ...fact) {
	for _, fact := range facts {
		v.known[fact] = true
	}
}

func (v *Visit) knows(facts ...fact) bool {
	for _, fact := range facts {
		if !v.known[fact] {
			return false
		}
	}
	return true
}

// mayBeWanted says whether a step that has not come to its end could have asked
// for a child.
func (v *Visit) mayBeWanted(key children.Key) bool {
	for _, step := range v.unfinished {
		if step.makes != nil && step.makes(v.Instance, key) {
			return true
		}
	}
	return false
}

func isKind(kinds ...string) func(*v1alpha1.Instance, children.Key) bool {
	return func(_ *v1alpha1.Instance, key children.Key) bool { return slices.Contains(kinds, key.Kind) }
}

func isSecret(names ...func(*v1alpha1.Instance) string) func(*v1alpha1.Instance, children.Key) bool {
	return func(instance *v1alpha1.Instance, key children.Key) bool {
		for _, name := range names {
			if key == (children.Key{Kind: children.KindSecret, Name: name(instance)}) {
				return true
			}
		}
		return false
	}
}

func isApplicationSecret(instance *v1alpha1.Instance, key children.Key) bool {
	return key.Kind == children.KindSecret &&
		(key.Name == resources.CredentialsName(instance) || strings.HasPrefix(key.Name, resources.ApplicationSecretName(instance, "")))
}

func isTrust(instance *v1alpha1.Instance, key children.Key) bool {
	return key == children.Key{Kind: "ConfigMap", Name: resources.TrustName(instance)}
}
