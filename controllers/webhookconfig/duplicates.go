// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// olderDuplicate returns the WebhookConfig that takes precedence over config: the oldest
// of the WebhookConfigs in all, which belong to the same Instance, with the same
// receiver. It returns nil if that is config itself. A WebhookConfig that is being
// deleted counts until it is gone, because it still has its subscription.
func olderDuplicate(config *v1alpha1.WebhookConfig, all []v1alpha1.WebhookConfig) *v1alpha1.WebhookConfig {
	eldest := config
	for i := range all {
		other := &all[i]
		if normalizedURL(other) == normalizedURL(config) && isOlder(other, eldest) {
			eldest = other
		}
	}
	if eldest.UID == config.UID {
		return nil
	}
	return eldest
}

// isOlder orders resources by creation time, with a stable order within the same second.
func isOlder(one, other *v1alpha1.WebhookConfig) bool {
	return cmp.Or(one.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(one.UID, other.UID)) < 0
}

// normalizedURL returns the URL of a spec in a canonical form, equal for all URLs that
// lead to the same receiver under the rules of https.
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
