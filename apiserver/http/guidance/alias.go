// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Prefixes of the question flow and the knowledge lists, which are available under both. The
// contract uses the first one.
const (
	canonicalPrefix = "/api/mgp/v1/"
	aliasPrefix     = "/api/v2/"
)

// aliasPattern matches paths that are also available under the other prefix.
var aliasPattern = regexp.MustCompile(`^/api/v2/(surveys/[^/]+/questions(/[^/]+)?|knowledge/[^/]+)$`)

// canonicalPath returns the path used in the contract.
func canonicalPath(path string) string {
	if aliasPattern.MatchString(path) {
		return canonicalPrefix + strings.TrimPrefix(path, aliasPrefix)
	}
	return path
}

type originalPathKey struct{}

// resolveAlias returns the request with its canonical path and records the original one.
func resolveAlias(r *http.Request) *http.Request {
	path := canonicalPath(r.URL.Path)
	if path == r.URL.Path {
		return r
	}
	canonical := r.WithContext(context.WithValue(r.Context(), originalPathKey{}, r.URL.Path))
	canonical.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	return canonical
}

// originalPath returns the path that the caller requested.
func originalPath(r *http.Request) string {
	if path, canonical := r.Context().Value(originalPathKey{}).(string); canonical {
		return path
	}
	return r.URL.Path
}
