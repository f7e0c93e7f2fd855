// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// elderOf gives the WebhookConfig that counts instead of one, out of all of its
// Instance: the oldest of those that lead to the same receiver; nil when it is the
// one itself. One that is being deleted counts until it is gone, since it still has
// its subscription.
func elderOf(config *v1alpha1.WebhookConfig, all []v1alpha1.WebhookConfig) *v1alpha1.WebhookConfig {
	eldest := config
	for i := range all {
		other := &all[i]
		if receiverOf(other) == receiverOf(config) && isOlder(other, eldest) {
			eldest = other
		}
	}
	if eldest.UID == config.UID {
		return nil
	}
	return eldest
}

// isOlder orders resources in time, and those of one second in one way.
func isOlder(one, other *v1alpha1.WebhookConfig) bool {
	return cmp.Or(one.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(one.UID, other.UID)) < 0
}

// receiverOf is the URL of a spec in one form for all that lead to the same
// receiver by the rules of https.
func receiverOf(config *v1alpha1.WebhookConfig) string {
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
