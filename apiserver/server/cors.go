// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// originSet is a set of allowed web origins. The zero value allows none.
type originSet struct {
	allowAll bool
	origins  map[string]bool
}

// newOriginSet returns a set of origins, each scheme://host or scheme://host:port, or "*"
// for every origin.
func newOriginSet(origins []string) (originSet, error) {
	set := originSet{origins: map[string]bool{}}
	for _, text := range origins {
		if text == configv1alpha1.AnyOrigin {
			set.allowAll = true
			continue
		}
		origin, err := configv1alpha1.NormalizeOrigin(text)
		if err != nil {
			return originSet{}, err
		}
		set.origins[origin] = true
	}
	return set, nil
}

// allows reports whether an origin, as given in the Origin header, may call the
// server.
func (o originSet) allows(origin string) bool {
	if o.allowAll {
		return true
	}
	normalized, err := configv1alpha1.NormalizeOrigin(origin)
	return err == nil && o.origins[normalized]
}

// isLoopbackOrigin reports whether an origin is served from the same machine on localhost
// or 127.0.0.1, on any port.
func isLoopbackOrigin(origin string) bool {
	normalized, err := configv1alpha1.NormalizeOrigin(origin)
	if err != nil {
		return false
	}
	_, hostport, _ := strings.Cut(normalized, "://")
	host, _, _ := strings.Cut(hostport, ":")
	return host == "localhost" || host == "127.0.0.1"
}
