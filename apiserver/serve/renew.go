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

// renewSeals seals anew what was sealed with former keys: when storage is reached,
// when the keysets are others, and now and then.
func (p *process) renewSeals(ctx context.Context) {
	ticker := time.NewTicker(renewInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.settings.keysTurned:
		case <-ticker.C:
		}
		switch renewed, err := p.people.Renew(ctx); {
		case err != nil && ctx.Err() == nil:
			p.log.Error("contact data cannot be sealed with the present keys; it stays readable with the former ones", "error", err)
		case renewed > 0:
			p.log.Info("contact data is sealed with the present keys", "users", renewed)
		}
	}
}
