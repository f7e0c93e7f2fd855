// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// olderDuplicate returns the WebhookConfig that takes precedence over config: the oldest
// WebhookConfig in all with the same receiver. All WebhookConfigs belong to the same
// Instance. It returns nil if config itself is the oldest. A WebhookConfig that is being
// deleted counts until the deletion completes, because it still has its subscription.
func olderDuplicate(config *v1alpha1.WebhookConfig, all []v1alpha1.WebhookConfig) *v1alpha1.WebhookConfig {
	oldest := config
	for i := range all {
		candidate := &all[i]
		if normalizedURL(candidate) == normalizedURL(config) && isOlder(candidate, oldest) {
			oldest = candidate
		}
	}
	if oldest.UID == config.UID {
		return nil
	}
	return oldest
}

// isOlder orders resources by creation time, with a stable order within the same second.
func isOlder(a, b *v1alpha1.WebhookConfig) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID)) < 0
}

// normalizedURL returns the URL of a spec in a canonical form, which is equal for all https
// URLs of the same receiver.
func normalizedURL(config *v1alpha1.WebhookConfig) string {
	parsed, err := url.Parse(string(config.Spec.URL))
	if err != nil {
		return string(config.Spec.URL)
	}
	parsed.Scheme, parsed.Host = strings.ToLower(parsed.Scheme), strings.TrimSuffix(strings.ToLower(parsed.Host), ":443")
	if parsed.Path == "" {
		parsed.Path = "/"
	}
	return parsed.String()
}
