// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/notify"
)

// oneTimePasswordSender returns a function that queues one-time passwords with the
// notifier.
func (p *process) oneTimePasswordSender(ctx context.Context) func(users.OneTimePassword) {
	return func(password users.OneTimePassword) {
		message := notify.Message{
			Kind: notify.OneTimePassword, Channel: notify.Email, Recipient: password.To.Email,
			Language: password.Language, TenantName: p.InstanceID, Code: password.Code, ValidFor: identity.OneTimePasswordLifetime,
		}
		if message.Recipient == "" {
			message.Channel, message.Recipient = notify.TextMessage, password.To.Phone
		}
		p.notifier.Notify(ctx, message)
	}
}
