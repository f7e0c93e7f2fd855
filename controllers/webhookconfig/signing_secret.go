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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	// SigningSecretKey is the key of the signing secret in the Secret <name>-signing.
	// Receivers use it to verify deliveries. It has the Standard Webhooks format whsec_….
	SigningSecretKey = "secret"
	// SubscriptionAnnotation on the Secret holds the ID of the subscription to which the
	// signing secret belongs.
	SubscriptionAnnotation = "anamnesis.dev/subscription"

	// checksumAnnotation on the Secret holds the checksum of the signing secret. The operator
	// uses it to detect a signing secret that another client replaced.
	checksumAnnotation = "anamnesis.dev/checksum"

	reasonSigningSecretConflict = "SigningSecretNotOwned"

	kindWebhookConfig = "WebhookConfig"
)

// SigningSecretName returns the name of the Secret for the receiver.
func SigningSecretName(config *v1alpha1.WebhookConfig) string { return config.Name + "-signing" }

// A signingSecretStore reads and writes the Secrets that hold the receivers' signing
// secrets.
type signingSecretStore struct {
	// client writes, and reads from the cache. apiReader bypasses the cache.
	client    client.Client
	apiReader client.Reader
}

// get returns the Secret for a receiver, or nil if it does not exist. The cache holds only
// Secrets that the operator created, so get asks the API server for other Secrets: a
// Secret that is not cached may belong to another owner, or may be so new that its
// signing secret must not be replaced.
func (s signingSecretStore) get(ctx context.Context, config *v1alpha1.WebhookConfig) (*corev1.Secret, error) {
	found, key := &corev1.Secret{}, client.ObjectKey{Namespace: config.Namespace, Name: SigningSecretName(config)}
	err := s.client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		err = s.apiReader.Get(ctx, key, found)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", key.Name, err)
	case belongsToPredecessor(found, config):
		return nil, problem.Waiting("", reasonSigningSecretConflict, "Secret %s of a previous WebhookConfig with the same name is still terminating", key.Name)
	case !metav1.IsControlledBy(found, config):
		return nil, problem.Stalled("", reasonSigningSecretConflict,
			"Secret %s exists and is not managed by this WebhookConfig, which needs that name for the signing secret: delete the Secret, or recreate the WebhookConfig with another name", key.Name)
	}
	return found, nil
}

// belongsToPredecessor reports whether a Secret belongs to a deleted WebhookConfig of
// the same name.
func belongsToPredecessor(secret *corev1.Secret, config *v1alpha1.WebhookConfig) bool {
	owner := metav1.GetControllerOf(secret)
	return owner != nil && owner.Kind == kindWebhookConfig && owner.Name == config.Name && owner.UID != config.UID
}

// put stores the signing secret of a subscription for the receiver. It replaces the
// previous Secret, which is nil if it does not exist, and fails on conflicting writes.
func (s signingSecretStore) put(ctx context.Context, config *v1alpha1.WebhookConfig, previous *corev1.Secret, id, secret string) error {
	if previous == nil {
		created := buildSigningSecret(config, id, secret)
		if err := s.client.Create(ctx, created, client.FieldOwner(instance.FieldManager)); err != nil {
			return fmt.Errorf("creating Secret %s: %w", created.Name, err)
		}
		return nil
	}
	after := previous.DeepCopy()
	for name, value := range signingAnnotations(id, secret) {
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, name, value)
	}
	metav1.SetMetaDataLabel(&after.ObjectMeta, resources.ManagedByLabel, resources.ManagedByValue)
	after.Data = map[string][]byte{SigningSecretKey: []byte(secret)}
	patch := client.MergeFromWithOptions(previous, client.MergeFromWithOptimisticLock{})
	if err := s.client.Patch(ctx, after, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching Secret %s: %w", previous.Name, err)
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
			Annotations:     signingAnnotations(id, secret),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, v1alpha1.GroupVersion.WithKind(kindWebhookConfig))},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{SigningSecretKey: []byte(secret)},
	}
}

// signingAnnotations returns the annotations of the Secret. The checksum does not reveal
// the secret, because the secret is random.
func signingAnnotations(id, secret string) map[string]string {
	sum := sha256.Sum256([]byte(secret))
	return map[string]string{SubscriptionAnnotation: id, checksumAnnotation: hex.EncodeToString(sum[:])}
}

// loadKnownState returns what is known about a subscription from sources other than the
// API.
func loadKnownState(config *v1alpha1.WebhookConfig, signing *corev1.Secret) knownState {
	known := knownState{id: config.Status.ID, tokenHash: config.Status.TokenHash}
	if signing == nil {
		return known
	}
	id, secret := signing.Annotations[SubscriptionAnnotation], string(signing.Data[SigningSecretKey])
	if signing.Annotations[checksumAnnotation] == signingAnnotations(id, secret)[checksumAnnotation] {
		known.signingSecretID, known.signingSecret = id, secret
	}
	return known
}
