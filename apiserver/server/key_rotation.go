// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"
)

// reencryptInterval is how often the server looks for data encrypted with previous keys if
// no keys have changed. A replica that loaded new keys late may have used the previous keys
// in the meantime.
const reencryptInterval = time.Hour

// watchKeyRotation records key changes and re-encrypts data encrypted with previous keys,
// when storage becomes available, when keys change, and every reencryptInterval.
func (p *process) watchKeyRotation(ctx context.Context) {
	ticker := time.NewTicker(reencryptInterval)
	defer ticker.Stop()
	recorded := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.settings.keysRotated:
			recorded = false
		case <-ticker.C:
		}
		if !recorded {
			recorded = p.recordKeys(ctx)
		}
		p.reencrypt(ctx)
	}
}

// recordKeys records changed keys in the audit log and reports whether it succeeded.
func (p *process) recordKeys(ctx context.Context) bool {
	err := p.users.AuditKeyChanges(ctx, p.settings.persistentKeys())
	if err != nil && ctx.Err() == nil {
		p.log.Warn("failed to record key changes; retrying hourly and when storage recovers", "error", err)
	}
	return err == nil
}

func (p *process) reencrypt(ctx context.Context) {
	switch count, err := p.users.Reencrypt(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("failed to re-encrypt contact data; it stays readable with the previous keys", "error", err)
	case count > 0:
		p.log.Info("re-encrypted contact data with the current keys", "users", count)
	}
	switch count, err := p.webhooks.Reencrypt(ctx); {
	case err != nil && ctx.Err() == nil:
		p.log.Error("failed to re-encrypt webhook secrets; they stay readable with the previous keys", "error", err)
	case count > 0:
		p.log.Info("re-encrypted webhook secrets with the current keys", "webhooks", count)
	}
}
