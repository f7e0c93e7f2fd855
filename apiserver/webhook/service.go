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
var ErrTooMany = errors.New("the instance has reached the limit of 50 webhook configurations; delete an unused one")

// ErrDisabled indicates that the webhook is disabled because its receiver responded with 410.
var ErrDisabled = errors.New("the webhook configuration is disabled because its receiver responded with status 410; change url to re-enable it")

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
func (s *Service) Create(ctx context.Context, by audit.Actor, settings Settings) (Webhook, error) {
	created := event.Webhook{ID: uuid.NewString()}
	secrets := event.Secrets{SigningSecret: newSigningSecret()}
	settings.applyTo(&created, &secrets)
	if err := s.encryptSecrets(&created, secrets); err != nil {
		return Webhook{}, err
	}
	err := s.Storage.Transact(ctx, func(tx Tx) error {
		existing, err := tx.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		if len(existing) >= MaxPerInstance {
			return ErrTooMany
		}
		if err := tx.InsertWebhook(ctx, created); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), by, audit.Create, audit.WebhookConfiguration, created.ID))
	})
	if err != nil {
		return Webhook{}, err
	}
	s.OnChange()
	return toWebhook(created, secrets), nil
}

// applyTo applies the settings to a stored webhook and its secrets.
func (s Settings) applyTo(webhook *event.Webhook, secrets *event.Secrets) {
	if s.URL != nil && *s.URL != webhook.Settings.URL { // the new receiver has not responded with 410
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

// List returns all webhook configurations in creation order. Reads are not audited,
// because they contain no patient data and an operator polls every minute.
func (s *Service) List(ctx context.Context) ([]Webhook, error) {
	var stored []event.Webhook
	err := s.Storage.View(ctx, func(tx Reader) (err error) {
		stored, err = tx.ListWebhooks(ctx)
		return err
	})
	webhooks := make([]Webhook, len(stored))
	for i, webhook := range stored {
		webhooks[i] = toWebhook(webhook, event.Secrets{})
	}
	return webhooks, err
}

// Get returns a webhook configuration without its secrets.
func (s *Service) Get(ctx context.Context, id string) (Webhook, error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	var stored event.Webhook
	err := s.Storage.View(ctx, func(tx Reader) (err error) {
		stored, err = tx.GetWebhook(ctx, id)
		return err
	})
	return toWebhook(stored, event.Secrets{}), err
}

// Update updates a webhook configuration.
func (s *Service) Update(ctx context.Context, by audit.Actor, id string, settings Settings) (Webhook, error) {
	return s.update(ctx, by, id, func(webhook *event.Webhook, secrets *event.Secrets) {
		settings.applyTo(webhook, secrets)
	})
}

// RotateSigningSecret replaces the signing secret. The previous secret keeps signing for
// event.RotationOverlap.
func (s *Service) RotateSigningSecret(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	return s.update(ctx, by, id, func(_ *event.Webhook, secrets *event.Secrets) {
		*secrets = secrets.Rotate(newSigningSecret(), s.Now())
	})
}

// update applies a change to a webhook configuration while holding its lock.
func (s *Service) update(ctx context.Context, by audit.Actor, id string, apply func(*event.Webhook, *event.Secrets)) (changed Webhook, err error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		stored, err := tx.LockWebhook(ctx, id)
		if err != nil {
			return err
		}
		secrets, err := s.DecryptSecrets(stored)
		if err != nil {
			return err
		}
		apply(&stored, &secrets)
		if err := s.encryptSecrets(&stored, secrets); err != nil {
			return err
		}
		if err := tx.UpdateWebhook(ctx, stored); err != nil {
			return err
		}
		changed = toWebhook(stored, secrets)
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), by, audit.Change, audit.WebhookConfiguration, id))
	})
	if err == nil {
		s.OnChange()
	}
	return changed, err
}

// Delete deletes a webhook configuration together with its pending deliveries, and
// returns its last state.
func (s *Service) Delete(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	if !identifier.IsUUID(id) {
		return Webhook{}, record.ErrNotFound
	}
	var stored event.Webhook
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if stored, err = tx.LockWebhook(ctx, id); err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), by, audit.Delete, audit.WebhookConfiguration, id))
	})
	if err == nil {
		s.OnChange()
	}
	return toWebhook(stored, event.Secrets{}), err
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
func (s *Service) DecryptSecrets(webhook event.Webhook) (event.Secrets, error) {
	text, err := s.Keyring.Decrypt(webhook.EncryptedSecrets, webhook.ID)
	if err != nil {
		return event.Secrets{}, err
	}
	var secrets event.Secrets
	if json.Unmarshal(text, &secrets) != nil {
		return event.Secrets{}, errors.New("decoding webhook secrets: unexpected format")
	}
	return secrets, nil
}

func (s *Service) encryptSecrets(webhook *event.Webhook, secrets event.Secrets) error {
	text, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("encoding webhook secrets: %w", err)
	}
	webhook.KeyVersion = s.Keyring.KeyVersion()
	webhook.EncryptedSecrets, err = s.Keyring.Encrypt(text, webhook.ID)
	return err
}

// Reencrypt re-encrypts secrets that were not encrypted with the current keys, and returns
// the number of webhooks updated. Several replicas may call it concurrently.
func (s *Service) Reencrypt(ctx context.Context) (reencrypted int, err error) {
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		reencrypted = 0
		all, err := tx.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		for _, webhook := range all {
			if webhook.KeyVersion == s.Keyring.KeyVersion() {
				continue
			}
			if err := s.reencrypt(ctx, tx, webhook.ID); err != nil {
				return fmt.Errorf("re-encrypting webhook secrets: %w", err)
			}
			reencrypted++
		}
		return nil
	})
	return reencrypted, err
}

func (s *Service) reencrypt(ctx context.Context, tx Tx, id string) error {
	stored, err := tx.LockWebhook(ctx, id)
	if errors.Is(err, record.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	secrets, err := s.DecryptSecrets(stored)
	if err != nil {
		return err
	}
	if err := s.encryptSecrets(&stored, secrets); err != nil {
		return err
	}
	return tx.UpdateWebhook(ctx, stored)
}

func newSigningSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never returns an error
	return event.EncodeSigningSecret(random)
}
