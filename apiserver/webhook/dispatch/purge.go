// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"time"
)

const (
	// purgeInterval is how often expired attempts are deleted.
	purgeInterval = time.Hour
	// purgeBatchSize limits the deletions per transaction.
	purgeBatchSize = 1000
)

// purge deletes expired attempts if purgeInterval has passed.
func (d *Dispatcher) purge(ctx context.Context) error {
	now := d.Now()
	if now.Sub(d.lastPurge) < purgeInterval {
		return nil
	}
	for {
		var deleted int64
		err := d.Storage.Transact(ctx, func(tx Tx) (err error) {
			deleted, err = tx.DeleteWebhookAttempts(ctx, now.Add(-d.Retention()), purgeBatchSize)
			return err
		})
		if err != nil {
			return fmt.Errorf("deleting expired delivery attempts: %w", err)
		}
		if deleted < purgeBatchSize {
			d.lastPurge = now
			return nil
		}
	}
}
