// SPDX-License-Identifier: Apache-2.0

// Package webhooks is the register of who is told of events: configurations with their
// secrets, which are sealed, and what was sent to each. It puts events into the outbox,
// in the transaction of what they tell of, and records who did what in the transaction
// that did it. How events are delivered lives in package events and those in it; no SQL
// and no HTTP lives here.
package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Most is how many configurations an instance may have.
const Most = 50

// ErrTooMany says that an instance has as many configurations as it may.
var ErrTooMany = errors.New("the instance has 50 webhook configurations, which is the most; delete one that is not needed")

// ErrDisabled says that nothing is sent to a receiver that wants nothing any more.
var ErrDisabled = errors.New("the configuration is disabled, because its receiver answered 410; change url to enable it again")

// Register keeps the configurations of an instance. All its fields are required. Where
// there is none with an id, its methods return storage.ErrNotFound.
type Register struct {
	Storage storage.Transactor
	Keys    Keys
	Now     func() time.Time
	// Changed is called when who is told is not who was told before.
	Changed func()
}

// Keys seal what nobody is to read who reads the storage. *sealing.Keys does.
type Keys interface {
	Seal(text []byte, subject string) ([]byte, error)
	Unseal(sealed []byte, subject string) ([]byte, error)
	Generation() string
}

// Webhook is a configuration.
type Webhook struct {
	ID        string
	URL       string
	Events    []events.Type // those that are subscribed to
	Reference string        // empty for none
	Status    events.Status
	Secrets   events.Secrets
}

// Settings are what a client says of a configuration, as package events reads it. What is
// nil is left out.
type Settings struct {
	URL, Token, Reference *string
	Events                *[]events.Type
}

// Page is a part of a list.
type Page struct{ Skipped, AtMost int64 }

// Create makes a configuration.
func (r *Register) Create(ctx context.Context, by audit.Actor, wanted Settings) (Webhook, error) {
	made := storage.Webhook{ID: uuid.NewString()}
	secrets := events.Secrets{Signing: newSigningSecret()}
	wanted.apply(&made, &secrets)
	if err := r.seal(&made, secrets); err != nil {
		return Webhook{}, err
	}
	err := r.Storage.Transact(ctx, func(tx storage.Tx) error {
		before, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		if len(before) >= Most {
			return ErrTooMany
		}
		if err := tx.InsertWebhook(ctx, made); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Create, made.ID))
	})
	if err != nil {
		return Webhook{}, err
	}
	r.Changed()
	return show(made, secrets), nil
}

// apply puts what a client says in the place of what is kept.
func (s Settings) apply(webhook *storage.Webhook, secrets *events.Secrets) {
	if s.URL != nil && *s.URL != webhook.Settings.URL { // whoever is there may want something
		webhook.Settings.URL, webhook.Health = *s.URL, events.Health{}
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

// isID says whether a configuration or an attempt may have an id.
func isID(id string) bool { return uuid.Validate(id) == nil }

// List is all configurations, in the order in which they were made. Who reads them is
// not recorded: they are about no patient, and an operator looks every minute.
func (r *Register) List(ctx context.Context) ([]Webhook, error) {
	var kept []storage.Webhook
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		kept, err = tx.Webhooks(ctx)
		return err
	})
	webhooks := make([]Webhook, len(kept))
	for i, webhook := range kept {
		webhooks[i] = show(webhook, events.Secrets{})
	}
	return webhooks, err
}

// Get is a configuration without its secrets.
func (r *Register) Get(ctx context.Context, id string) (Webhook, error) {
	if !isID(id) {
		return Webhook{}, storage.ErrNotFound
	}
	var kept storage.Webhook
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		kept, err = tx.Webhook(ctx, id)
		return err
	})
	return show(kept, events.Secrets{}), err
}

// Change changes a configuration.
func (r *Register) Change(ctx context.Context, by audit.Actor, id string, wanted Settings) (Webhook, error) {
	return r.change(ctx, by, id, func(webhook *storage.Webhook, secrets *events.Secrets) {
		wanted.apply(webhook, secrets)
	})
}

// RotateSecret puts a new signing secret in the place of the one that signs, which signs
// beside it for a while.
func (r *Register) RotateSecret(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	return r.change(ctx, by, id, func(_ *storage.Webhook, secrets *events.Secrets) {
		*secrets = secrets.Rotate(newSigningSecret(), r.Now())
	})
}

// change has something changed of a configuration, and nobody else meanwhile.
func (r *Register) change(ctx context.Context, by audit.Actor, id string, apply func(*storage.Webhook, *events.Secrets)) (changed Webhook, err error) {
	if !isID(id) {
		return Webhook{}, storage.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		kept, err := tx.LockWebhook(ctx, id)
		if err != nil {
			return err
		}
		secrets, err := r.Open(kept)
		if err != nil {
			return err
		}
		apply(&kept, &secrets)
		if err := r.seal(&kept, secrets); err != nil {
			return err
		}
		if err := tx.UpdateWebhook(ctx, kept); err != nil {
			return err
		}
		changed = show(kept, secrets)
		return tx.InsertAudit(ctx, r.record(by, audit.Change, id))
	})
	if err == nil {
		r.Changed()
	}
	return changed, err
}

// Delete removes a configuration, with what was still to be sent, and returns it as it
// was.
func (r *Register) Delete(ctx context.Context, by audit.Actor, id string) (Webhook, error) {
	if !isID(id) {
		return Webhook{}, storage.ErrNotFound
	}
	var kept storage.Webhook
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if kept, err = tx.LockWebhook(ctx, id); err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Delete, id))
	})
	if err == nil {
		r.Changed()
	}
	return show(kept, events.Secrets{}), err
}

// show is a configuration as clients see it.
func show(webhook storage.Webhook, secrets events.Secrets) Webhook {
	subscribed := webhook.Settings.Events
	if subscribed == nil {
		subscribed = events.Types()
	}
	return Webhook{
		ID: webhook.ID, URL: webhook.Settings.URL, Events: subscribed, Reference: webhook.Settings.Reference,
		Status: webhook.Health.Status(), Secrets: secrets,
	}
}

// Open reads the secrets of a configuration.
func (r *Register) Open(webhook storage.Webhook) (events.Secrets, error) {
	text, err := r.Keys.Unseal(webhook.Secrets, webhook.ID)
	if err != nil {
		return events.Secrets{}, err
	}
	var secrets events.Secrets
	if json.Unmarshal(text, &secrets) != nil {
		return events.Secrets{}, errors.New("what was sealed as the secrets of a webhook configuration is none")
	}
	return secrets, nil
}

func (r *Register) seal(webhook *storage.Webhook, secrets events.Secrets) error {
	text, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("write down the secrets of a webhook configuration: %w", err)
	}
	webhook.Generation = r.Keys.Generation()
	webhook.Secrets, err = r.Keys.Seal(text, webhook.ID)
	return err
}

// Renew seals with the keys of now what was sealed with others, and says of how many
// configurations. It may be called at any time, on several replicas at once.
func (r *Register) Renew(ctx context.Context) (renewed int, err error) {
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		renewed = 0
		all, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		for _, webhook := range all {
			if webhook.Generation == r.Keys.Generation() {
				continue
			}
			if err := r.renew(ctx, tx, webhook.ID); err != nil {
				return fmt.Errorf("seal the secrets of a webhook configuration anew: %w", err)
			}
			renewed++
		}
		return nil
	})
	return renewed, err
}

func (r *Register) renew(ctx context.Context, tx storage.Tx, id string) error {
	kept, err := tx.LockWebhook(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	secrets, err := r.Open(kept)
	if err != nil {
		return err
	}
	if err := r.seal(&kept, secrets); err != nil {
		return err
	}
	return tx.UpdateWebhook(ctx, kept)
}

// record is what is recorded of an act.
func (r *Register) record(by audit.Actor, action audit.Action, id string) audit.Record {
	return audit.Record{At: r.Now(), Actor: by, Action: action, Resource: audit.Configuration, ResourceID: id}
}

func newSigningSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails, as it says
	return events.SigningSecret(random)
}
