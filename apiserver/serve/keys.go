// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"time"
)

// renewInterval is how often what was sealed with former keys is looked for when
// nothing has changed: a replica that learnt of new keys late may have sealed with
// the former ones meanwhile.
const renewInterval = time.Hour

// followKeys records which keys came and went, and seals anew what was sealed with
// former ones: when storage is reached and when keys are others. Now and then it
// looks whether something is left to be sealed.
func (p *process) followKeys(ctx context.Context) {
	ticker := time.NewTicker(renewInterval)
	defer ticker.Stop()
	noted := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.settings.keysTurned:
			noted = false
		case <-ticker.C:
		}
		if !noted {
			noted = p.noteKeys(ctx)
		}
		p.renewSeals(ctx)
	}
}

// noteKeys records changed keys, and says whether storage took it.
func (p *process) noteKeys(ctx context.Context) bool {
	err := p.people.NoteKeys(ctx, p.settings.guards())
	if err != nil && ctx.Err() == nil {
		p.log.Warn("it cannot be recorded which keys came and went; it is tried again when storage is back, and every hour", "error", err)
	}
	return err == nil
}

func (p *process) renewSeals(ctx context.Context) {
	switch renewed, err := p.people.Renew(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("contact data cannot be sealed with the present keys; it stays readable with the former ones", "error", err)
	case renewed > 0:
		p.log.Info("contact data is sealed with the present keys", "users", renewed)
	}
	switch renewed, err := p.webhooks.Renew(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("secrets of webhooks cannot be sealed with the present keys; they stay readable with the former ones", "error", err)
	case renewed > 0:
		p.log.Info("secrets of webhooks are sealed with the present keys", "webhooks", renewed)
	}
}
