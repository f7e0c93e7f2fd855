// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
)

// sendPassword hands one-time passwords to the notifier, which sends them later.
func (p *process) sendPassword(ctx context.Context) func(people.Password) {
	return func(password people.Password) {
		message := notify.Message{
			Kind: notify.OneTimePassword, Channel: notify.Email, Recipient: password.To.Email,
			Language: password.Language, Tenant: p.InstanceID, Code: password.Code, Valid: identity.PasswordLifetime,
		}
		if message.Recipient == "" {
			message.Channel, message.Recipient = notify.TextMessage, password.To.Phone
		}
		p.notifier.Notify(ctx, message)
	}
}
