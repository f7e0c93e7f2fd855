// SPDX-License-Identifier: Apache-2.0

// Package webhook manages webhook configurations, including their encrypted secrets, and
// their delivery attempts. It adds events to the outbox in the transaction that causes
// them, and writes audit records in the transaction of the audited change. Delivery
// lives in the subpackages; SQL and HTTP handlers do not belong here.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// MaxPerInstance limits the number of webhook configurations per instance.
const MaxPerInstance = 50

// ErrTooMany indicates that the instance has reached MaxPerInstance.
var ErrTooMany = errors.New("the instance has reached the limit of 50 webhook configurations; delete one that is no longer needed")

// ErrDisabled indicates that the webhook is disabled because its receiver answered 410.
var ErrDisabled = errors.New("the webhook configuration is disabled because its receiver answered 410; change url to enable it again")

// Service manages the webhook configurations of an instance. All fields are required.
// Methods return record.ErrNotFound for unknown ids.
type Service struct {
	Storage Storage
	Keyring Keyring
	Now     func() time.Time
	// OnChange is called after the set of receivers has changed.
	OnChange func()
}

// Keyring encrypts secrets at rest. *encryption.Keys implements it.
type Keyring interface {
	Encrypt(text []byte, subject string) ([]byte, error)
	Decrypt(sealed []byte, subject string) ([]byte, error)
	KeyVersion() string
}

// Webhook is a webhook configuration.
type Webhook struct {
	ID        string
	URL       string
	Events    []event.Type // subscribed types
	Reference string       // empty if unset
	Status    event.ReceiverStatus
	Secrets   event.Secrets
}

// Settings are the client-supplied settings of a webhook, validated by package event.
// Nil fields are unset.
type Settings struct {
	URL, Token, Reference *string
	Events                *[]event.Type
}

// Create creates a webhook configuration.
func (r *Service) Create(ctx context.Context, by audit.Actor, wanted Settings) (Webhook, error) {
	made := event.Webhook{ID: uuid.NewString()}
	secrets := event.Secrets{SigningSecret: newSigningSecret()}
	wanted.applyTo(&made, &secrets)
	if err := r.encryptSecrets(&made, secrets); err != nil {
		return Webhook{}, err
	}
	err := r.Storage.Transact(ctx, func(tx Tx) error {
		before, err := tx.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		if len(before) >= MaxPerInstance {
			return ErrTooMany
		}
		if err := tx.InsertWebhook(ctx, made); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by, audit.Create, audit.WebhookConfiguration, made.ID))
	})
	if err != nil {
		return Webhook{}, err
	}
	r.OnChange()
	return toWebhook(made, secrets), nil
}

// applyTo applies the settings to a stored webhook and its secrets.
func (s Settings) applyTo(webhook *event.Webhook, secrets *event.Secrets) {
	if s.URL != nil && *s.URL != webhook.Settings.URL { // the new receiver has not answered 410
		webhook.Settings.URL, webhook.Health = *s.URL, event.ReceiverHealth{}
	}
	if s.Token != nil {
		secrets.Token = *s.Token
	}
	if s.Events != nil {
		webhook.Settings.Events = *s.Events
	}
	if s.Reference != nil {
		webhook.Settings.Reference = *s.Reference
	}
}

// List returns all webhook configurations in creation order. Reads are not audited: they
// contain no patient data, and an operator polls every minute.
func (r *Service) List(ctx context.Context) ([]Webhook, error) {
	var kept []event.Webhook
	err := r.Storage.View(ctx, func(tx Reader) (err error) {
		kept, err = tx.ListWebhooks(ctx)
		return err
	})
	webhooks := make([]Webhook, len(kept))
	for i, webhook := range kept {
		webhooks[i] = toWebhook(webhook, event.Secrets{})
	}
	return webhooks, err
}

// Get returns a webhook configuration without its secrets.
func (r *Service) Get(ctx context.Context, id string) (Webhook, error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	var kept event.Webhook
	err := r.Storage.View(ctx, func(tx Reader) (err error) {
		kept, err = tx.GetWebhook(ctx, id)
		return err
	})
	return toWebhook(kept, event.Secrets{}), err
}

// Update updates a webhook configuration.
func (r *Service) Update(ctx context.Context, by audit.Actor, id string, wanted Settings) (Webhook, error) {
	return r.update(ctx, by, id, func(webhook *event.Webhook, secrets *event.Secrets) {
		wanted.applyTo(webhook, secrets)
	})
}

// RotateSigningSecret replaces the signing secret. The previous secret keeps signing for
// event.RotationOverlap.
func (r *Service) RotateSigningSecret(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	return r.update(ctx, by, id, func(_ *event.Webhook, secrets *event.Secrets) {
		*secrets = secrets.Rotate(newSigningSecret(), r.Now())
	})
}

// update applies a change to a webhook configuration while holding its lock.
func (r *Service) update(ctx context.Context, by audit.Actor, id string, apply func(*event.Webhook, *event.Secrets)) (changed Webhook, err error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		kept, err := tx.LockWebhook(ctx, id)
		if err != nil {
			return err
		}
		secrets, err := r.DecryptSecrets(kept)
		if err != nil {
			return err
		}
		apply(&kept, &secrets)
		if err := r.encryptSecrets(&kept, secrets); err != nil {
			return err
		}
		if err := tx.UpdateWebhook(ctx, kept); err != nil {
			return err
		}
		changed = toWebhook(kept, secrets)
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by, audit.Change, audit.WebhookConfiguration, id))
	})
	if err == nil {
		r.OnChange()
	}
	return changed, err
}

// Delete deletes a webhook configuration together with its pending deliveries, and
// returns its last state.
func (r *Service) Delete(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	var kept event.Webhook
	err := r.Storage.Transact(ctx, func(tx Tx) (err error) {
		if kept, err = tx.LockWebhook(ctx, id); err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by, audit.Delete, audit.WebhookConfiguration, id))
	})
	if err == nil {
		r.OnChange()
	}
	return toWebhook(kept, event.Secrets{}), err
}

// toWebhook converts a stored webhook to the client's view.
func toWebhook(webhook event.Webhook, secrets event.Secrets) Webhook {
	subscribed := webhook.Settings.Events
	if subscribed == nil {
		subscribed = event.SubscribableTypes()
	}
	return Webhook{
		ID: webhook.ID, URL: webhook.Settings.URL, Events: subscribed, Reference: webhook.Settings.Reference,
		Status: webhook.Health.Status(), Secrets: secrets,
	}
}

// DecryptSecrets decrypts the secrets of a webhook.
func (r *Service) DecryptSecrets(webhook event.Webhook) (event.Secrets, error) {
	text, err := r.Keyring.Decrypt(webhook.EncryptedSecrets, webhook.ID)
	if err != nil {
		return event.Secrets{}, err
	}
	var secrets event.Secrets
	if json.Unmarshal(text, &secrets) != nil {
		return event.Secrets{}, errors.New("decoding secrets of webhook configuration: unexpected format")
	}
	return secrets, nil
}

func (r *Service) encryptSecrets(webhook *event.Webhook, secrets event.Secrets) error {
	text, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("encoding secrets of webhook configuration: %w", err)
	}
	webhook.KeyVersion = r.Keyring.KeyVersion()
	webhook.EncryptedSecrets, err = r.Keyring.Encrypt(text, webhook.ID)
	return err
}

// Reencrypt re-encrypts secrets that were encrypted with other keys than the current
// ones, and returns the number of webhooks updated. It is safe to call at any time and
// on several replicas concurrently.
func (r *Service) Reencrypt(ctx context.Context) (renewed int, err error) {
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		renewed = 0
		all, err := tx.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		for _, webhook := range all {
			if webhook.KeyVersion == r.Keyring.KeyVersion() {
				continue
			}
			if err := r.reencrypt(ctx, tx, webhook.ID); err != nil {
				return fmt.Errorf("re-encrypting secrets of webhook configuration: %w", err)
			}
			renewed++
		}
		return nil
	})
	return renewed, err
}

func (r *Service) reencrypt(ctx context.Context, tx Tx, id string) error {
	kept, err := tx.LockWebhook(ctx, id)
	if errors.Is(err, record.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	secrets, err := r.DecryptSecrets(kept)
	if err != nil {
		return err
	}
	if err := r.encryptSecrets(&kept, secrets); err != nil {
		return err
	}
	return tx.UpdateWebhook(ctx, kept)
}

func newSigningSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never returns an error
	return event.EncodeSigningSecret(random)
}
