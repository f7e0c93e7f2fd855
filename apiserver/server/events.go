// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/dispatch"
)

// setUpWebhooks sets up the webhook service and delivery on the process's storage.
func (p *process) setUpWebhooks() {
	p.webhooks = &webhook.Service{
		Storage: webhookStorage{Store: p.store}, Keyring: p.settings.encryptionKeys, Now: time.Now, OnChange: func() { p.events.Wake() },
	}
	p.sender = &delivery.Sender{Settings: p.settings.deliverySettings, Now: time.Now}
	p.events = dispatch.New(dispatch.Options{
		Storage: dispatchStorage{Store: p.store}, Queue: p.store, Sender: p.sender, DecryptSecrets: p.webhooks.DecryptSecrets, PublishNotification: p.webhooks.PublishNotification,
		Retention: func() time.Duration { return p.settings.config.Load().deliveryRetention },
		Now:       time.Now, Observer: p.metrics, Log: p.log,
	})
}

// deliverySettings returns the delivery settings. In development they also allow loopback
// addresses and any port.
func (s *settings) deliverySettings() delivery.Settings {
	settings := s.config.Load().delivery
	settings.AddressPolicy.AllowLoopback, settings.AddressPolicy.AllowAnyPort = s.devMode, s.devMode
	return settings
}
