// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// The prefixes under which the question flow and the knowledge lists answer alike. The
// contract has them under the first.
const (
	prefix      = "/api/mgp/v1/"
	aliasPrefix = "/api/v2/"
)

// aliased are the paths that have the other prefix too.
var aliased = regexp.MustCompile(`^/api/v2/(surveys/[^/]+/questions(/[^/]+)?|knowledge/[^/]+)$`)

// canonical is the path under which the contract has another.
func canonical(path string) string {
	if aliased.MatchString(path) {
		return prefix + strings.TrimPrefix(path, aliasPrefix)
	}
	return path
}

type calledPathKey struct{}

// asContract is a call as the contract has it, which remembers how it was written.
func asContract(r *http.Request) *http.Request {
	path := canonical(r.URL.Path)
	if path == r.URL.Path {
		return r
	}
	renamed := r.WithContext(context.WithValue(r.Context(), calledPathKey{}, r.URL.Path))
	renamed.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	return renamed
}

// calledPath is the path as the caller wrote it.
func calledPath(r *http.Request) string {
	if path, renamed := r.Context().Value(calledPathKey{}).(string); renamed {
		return path
	}
	return r.URL.Path
}
