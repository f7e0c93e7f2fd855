// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"
)

// reencryptInterval is how often the server looks for data encrypted with former keys if
// no keys have changed: a replica that learned of new keys late may have used former
// keys in the meantime.
const reencryptInterval = time.Hour

// watchKeyRotation records key changes and re-encrypts data encrypted with former keys,
// when storage becomes available, when keys change, and every reencryptInterval.
func (p *process) watchKeyRotation(ctx context.Context) {
	ticker := time.NewTicker(reencryptInterval)
	defer ticker.Stop()
	noted := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.settings.keysRotated:
			noted = false
		case <-ticker.C:
		}
		if !noted {
			noted = p.recordKeys(ctx)
		}
		p.reencrypt(ctx)
	}
}

// recordKeys records changed keys and reports whether storage accepted the record.
func (p *process) recordKeys(ctx context.Context) bool {
	err := p.users.AuditKeyChanges(ctx, p.settings.persistentKeys())
	if err != nil && ctx.Err() == nil {
		p.log.Warn("failed to record key changes; retrying hourly and when storage recovers", "error", err)
	}
	return err == nil
}

func (p *process) reencrypt(ctx context.Context) {
	switch renewed, err := p.users.Reencrypt(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("failed to re-encrypt contact data; it stays readable with the previous keys", "error", err)
	case renewed > 0:
		p.log.Info("re-encrypted contact data with the current keys", "users", renewed)
	}
	switch renewed, err := p.webhooks.Reencrypt(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("failed to re-encrypt webhook secrets; they stay readable with the previous keys", "error", err)
	case renewed > 0:
		p.log.Info("re-encrypted webhook secrets with the current keys", "webhooks", renewed)
	}
}
