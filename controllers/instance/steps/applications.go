// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// knownKeys are the keys of all applications as far as they could be had.
type knownKeys struct {
	// credentials is the Secret by which the server knows keys; nil for none yet.
	credentials *corev1.Secret
	// shown are the applications' own Secrets; nil for one that is not there. Those
	// that belong to somebody else are left out.
	shown map[string]*corev1.Secret
	// keys are by application. They are what the server knows, but for what was made
	// in this visit.
	keys map[string]pki.ApplicationKeys
	// turn is how far they turned.
	turn pki.KeyTurn
	// made says that there are keys in place of others, which the API server must
	// not know by now.
	made bool
}

// applyApplications gives each application its key, once, and the server the keys
// of all. What the server knows counts: it is told of a key before anybody is shown
// it, so that whoever goes on where another was killed shows no key that is not
// good, and none that was revoked. Only where no key is to be replaced, because
// the application is new, or comes with data that is taken up, its own Secret is
// first: a server that knows a key whose Secret is missing gives it another one.
// That is how a single key is revoked.
func (v *Visit) applyApplications(ctx context.Context) error {
	known, unhad := v.knownApplications(ctx)
	if known == nil || isTransient(unhad) {
		return unhad
	}
	if err := v.chooseKeys(ctx, known); err != nil {
		return err
	}
	if len(known.keys) == 0 && unhad != nil {
		return unhad
	}
	v.chooseOperatorKey(known)
	if err := v.turnApplications(ctx, known); err != nil {
		return err
	}
	object := resources.BuildCredentialsSecret(v.input, known.keys, notesOfKeys(known.turn))
	if err := v.putOrCreate(ctx, known.credentials, object); err != nil {
		return err
	}
	if err := eachOf(v.had(known), func(application v1alpha1.Application) error { return v.show(ctx, known, application) }); err != nil {
		return err
	}
	return unhad
}

// knownApplications finds what there is. Of an application whose Secret cannot be
// had, the server keeps what it knows.
func (v *Visit) knownApplications(ctx context.Context) (*knownKeys, error) {
	credentials, err := v.Children.Secret(ctx, resources.CredentialsName(v.Instance))
	if err != nil {
		return nil, err // whose keys these are must be settled before any is made
	}
	known := &knownKeys{credentials: credentials, shown: map[string]*corev1.Secret{}, keys: map[string]pki.ApplicationKeys{}}
	known.turn.Request = v.asked(rotation.Keys)
	if credentials != nil {
		known.turn = keyTurnOf(credentials)
	}
	if credentials != nil {
		for _, application := range resources.KnownApplications(v.input) {
			if keys := resources.KeysIn(credentials.Data, application.Name); keys.Key != "" {
				known.keys[application.Name] = keys
			}
		}
	}
	unhad := eachOf(resources.Applications(v.Instance), func(application v1alpha1.Application) error {
		secret, err := v.Children.Secret(ctx, resources.ApplicationSecretName(v.Instance, application.Name))
		if err == nil {
			known.shown[application.Name] = secret
		}
		return err
	})
	return known, unhad
}

// had are the applications whose Secrets could be had.
func (v *Visit) had(known *knownKeys) []v1alpha1.Application {
	var had []v1alpha1.Application
	for _, application := range resources.Applications(v.Instance) {
		if _, ok := known.shown[application.Name]; ok {
			had = append(had, application)
		}
	}
	return had
}

// chooseKeys gives keys to applications that have none, and other ones to those
// whose Secrets were deleted.
func (v *Visit) chooseKeys(ctx context.Context, known *knownKeys) error {
	adopts := known.credentials != nil && v.isAnothers(known.credentials)
	return eachOf(v.had(known), func(application v1alpha1.Application) error {
		name, secret := application.Name, known.shown[application.Name]
		keys, isKnown := known.keys[name]
		switch {
		case isKnown && secret == nil && !adopts:
			known.keys[name], known.made = pki.ApplicationKeys{Key: pki.NewApplicationKey()}, true
			return nil
		case isKnown && secret != nil:
			return nil
		case !isKnown && secret != nil && len(secret.Data[resources.ApplicationKeyKey]) > 0:
			known.keys[name] = pki.ApplicationKeys{Key: string(secret.Data[resources.ApplicationKeyKey])}
			return nil
		case !isKnown:
			keys = pki.ApplicationKeys{Key: pki.NewApplicationKey()}
		}
		known.keys[name] = keys
		return v.putOrCreate(ctx, secret, resources.BuildApplicationSecret(v.input, application, keys.Key))
	})
}

// chooseOperatorKey gives the operator itself a key where the server is to know
// it. Nobody is shown it: the operator reads it where the server does.
func (v *Visit) chooseOperatorKey(known *knownKeys) {
	_, isKnown := known.keys[resources.OperatorName]
	if isKnown || !resources.SendsWebhooks(v.input.Server) {
		return
	}
	known.keys[resources.OperatorName], known.made = pki.ApplicationKeys{Key: pki.NewApplicationKey()}, true
}

// turnApplications does what is due about the keys of all.
func (v *Visit) turnApplications(ctx context.Context, known *knownKeys) error {
	policy := pki.KeyPolicy{Request: v.asked(rotation.Keys), Overlap: resources.KeyOverlap(v.Instance)}
	if known.credentials == nil || v.isAnothers(known.credentials) {
		return nil // they turn once they are this Instance's
	}
	if !v.input.TurnsKeys() {
		if known.turn.Asks(policy) {
			v.noteWaitingTurn(rotation.Keys)
			policy.Request = ""
		}
	}
	keys, turn, due := known.turn.Advance(known.keys, policy, v.Began)
	v.lookAgainIfDue(due)
	switch {
	case !turn.NextSince.IsZero():
		v.noteTurn(reasonTurning, "%s: new ones are good, and are shown at %s", rotation.Keys, authority.FormatTime(due))
	case !turn.PreviousSince.IsZero():
		v.noteTurn(reasonTurning, "%s: new ones are shown, and those before are good until %s", rotation.Keys, authority.FormatTime(due))
	}
	if !reflect.DeepEqual(turn, known.turn) {
		log.FromContext(ctx).Info("turning keys of applications", "request", turn.Request)
		known.made = true
	}
	known.keys, known.turn = keys, turn
	if !known.made {
		return nil
	}
	return authority.IsNewest(ctx, v.Live, known.credentials)
}

// show writes the key of an application into its own Secret. One that shows another
// key may be behind; but so may be what was read of the server's.
func (v *Visit) show(ctx context.Context, known *knownKeys, application v1alpha1.Application) error {
	secret, key := known.shown[application.Name], known.keys[application.Name].Key
	isOther := secret != nil && string(secret.Data[resources.ApplicationKeyKey]) != key
	if isOther && known.credentials != nil && !known.made {
		if err := authority.IsNewest(ctx, v.Live, known.credentials); err != nil {
			return err
		}
	}
	if secret == nil {
		// Where it was made in this visit already, this changes nothing.
		if found, err := v.Children.Secret(ctx, resources.ApplicationSecretName(v.Instance, application.Name)); err != nil || found != nil {
			secret = found
		}
	}
	return v.putOrCreate(ctx, secret, resources.BuildApplicationSecret(v.input, application, key))
}

// putOrCreate makes a Secret be as a builder said, or makes it where there is none:
// then it must not have been made meanwhile.
func (v *Visit) putOrCreate(ctx context.Context, live *corev1.Secret, object resources.Object) error {
	if live == nil {
		return v.Children.Create(ctx, object)
	}
	return v.put(ctx, "", object)
}
