// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

const (
	// purgeInterval is how often attempts are erased that were kept for long enough.
	purgeInterval = time.Hour
	// purgedAtOnce is how many are in one transaction.
	purgedAtOnce = 1000
)

// purge erases attempts that were kept for long enough, if it is time to.
func (d *Dispatcher) purge(ctx context.Context) error {
	now := d.Now()
	if now.Sub(d.purged) < purgeInterval {
		return nil
	}
	for {
		var deleted int64
		err := d.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
			deleted, err = tx.DeleteWebhookAttempts(ctx, now.Add(-d.Retention()), purgedAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("erase old attempts to tell receivers: %w", err)
		}
		if deleted < purgedAtOnce {
			d.purged = now
			return nil
		}
	}
}
