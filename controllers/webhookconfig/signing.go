// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	// SigningSecretKey is the key of the Secret <name>-signing whose value receivers
	// verify deliveries by, as Standard Webhooks says: whsec_….
	SigningSecretKey = "secret"
	// SubscriptionAnnotation on that Secret names the subscription that it is of.
	SubscriptionAnnotation = "anamnesis.dev/subscription"

	// checksumAnnotation on it is that of its signing secret, by which one is known
	// that somebody put in its place.
	checksumAnnotation = "anamnesis.dev/checksum"

	reasonSigningSecretNotOurs = "SigningSecretNotOurs"

	kindWebhookConfig = "WebhookConfig"
)

// SigningSecretName is the name of the Secret for the receiver.
func SigningSecretName(config *v1alpha1.WebhookConfig) string { return config.Name + "-signing" }

// A vault is where receivers find their signing secrets.
type vault struct {
	// client reads from the cache and writes; live reads past the cache.
	client client.Client
	live   client.Reader
}

// open reads the Secret for a receiver; nil for none. The cache knows those that
// the operator made: what it does not know may be somebody else's, or so new that
// nobody must be given another one.
func (v vault) open(ctx context.Context, config *v1alpha1.WebhookConfig) (*corev1.Secret, error) {
	found, key := &corev1.Secret{}, client.ObjectKey{Namespace: config.Namespace, Name: SigningSecretName(config)}
	err := v.client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		err = v.live.Get(ctx, key, found)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", key.Name, err)
	case isOfEarlier(found, config):
		return nil, problem.Waiting("", reasonSigningSecretNotOurs, "Secret %s of an earlier WebhookConfig of this name is still being deleted", key.Name)
	case !metav1.IsControlledBy(found, config):
		return nil, problem.Stalled("", reasonSigningSecretNotOurs,
			"Secret %s belongs to somebody else, and the receiver's signing secret needs that name: rename or delete it, or name the WebhookConfig otherwise", key.Name)
	}
	return found, nil
}

// isOfEarlier says that a Secret belongs to a WebhookConfig of this name that is
// gone.
func isOfEarlier(secret *corev1.Secret, config *v1alpha1.WebhookConfig) bool {
	owner := metav1.GetControllerOf(secret)
	return owner != nil && owner.Kind == kindWebhookConfig && owner.Name == config.Name && owner.UID != config.UID
}

// put gives a receiver the signing secret of a subscription, in place of what it
// had; nil for nothing. Somebody who was faster makes it fail.
func (v vault) put(ctx context.Context, config *v1alpha1.WebhookConfig, had *corev1.Secret, id, secret string) error {
	if had == nil {
		made := buildSigningSecret(config, id, secret)
		if err := v.client.Create(ctx, made, client.FieldOwner(instance.FieldManager)); err != nil {
			return fmt.Errorf("creating Secret %s: %w", made.Name, err)
		}
		return nil
	}
	after := had.DeepCopy()
	for name, value := range signingNotes(id, secret) {
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, name, value)
	}
	metav1.SetMetaDataLabel(&after.ObjectMeta, resources.ManagedByLabel, resources.ManagedByValue)
	after.Data = map[string][]byte{SigningSecretKey: []byte(secret)}
	patch := client.MergeFromWithOptions(had, client.MergeFromWithOptimisticLock{})
	if err := v.client.Patch(ctx, after, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching Secret %s: %w", had.Name, err)
	}
	return nil
}

func buildSigningSecret(config *v1alpha1.WebhookConfig, id, secret string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: SigningSecretName(config), Namespace: config.Namespace,
			Labels: map[string]string{
				resources.ManagedByLabel: resources.ManagedByValue,
				resources.InstanceLabel:  config.Spec.InstanceRef.Name,
			},
			Annotations:     signingNotes(id, secret),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, v1alpha1.GroupVersion.WithKind(kindWebhookConfig))},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{SigningSecretKey: []byte(secret)},
	}
}

// signingNotes are the annotations of the Secret. A checksum gives nothing away of
// what was made by chance.
func signingNotes(id, secret string) map[string]string {
	sum := sha256.Sum256([]byte(secret))
	return map[string]string{SubscriptionAnnotation: id, checksumAnnotation: hex.EncodeToString(sum[:])}
}

// remember is what is known of a subscription beside the API.
func remember(config *v1alpha1.WebhookConfig, signing *corev1.Secret) memory {
	known := memory{id: config.Status.ID, tokenHash: config.Status.TokenHash}
	if signing == nil {
		return known
	}
	id, secret := signing.Annotations[SubscriptionAnnotation], string(signing.Data[SigningSecretKey])
	if signing.Annotations[checksumAnnotation] == signingNotes(id, secret)[checksumAnnotation] {
		known.signedID, known.secret = id, secret
	}
	return known
}
