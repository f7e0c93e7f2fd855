// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// openEvents is who is told of events, and what tells them, over the process's storage.
func (p *process) openEvents() {
	p.webhooks = &webhooks.Register{
		Storage: p.store, Keys: p.settings.keys, Now: time.Now, Changed: func() { p.events.Wake() },
	}
	p.sender = &deliver.Sender{Settings: p.settings.deliveries, Now: time.Now}
	p.events = dispatch.New(dispatch.Options{
		Storage: p.store, Sender: p.sender, Open: p.webhooks.Open, Notify: p.webhooks.Notify,
		Retention: func() time.Duration { return p.settings.config.Load().Retention.Deliveries },
		Now:       time.Now, Observer: p.metrics, Log: p.log,
	})
}

// deliveries is where events may go; in development to this machine, by any port.
func (s *settings) deliveries() deliver.Settings {
	webhooks := s.config.Load().Webhooks
	return deliver.Settings{
		Reach: deliver.Reach{
			Private: webhooks.AllowPrivateAddresses, Ports: webhooks.AllowedPorts,
			Loopback: s.development, AnyPort: s.development,
		},
		Authorities: webhooks.CA,
	}
}
