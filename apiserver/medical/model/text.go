// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"
	"unsafe"
)

// Text returns a string from the strings section without copying it. The string must
// not outlive the lease of the release; use strings.Clone to keep it.
func (r *Release) Text(ref StringRef) string {
	if ref.Length == 0 {
		return ""
	}
	text := r.strings[ref.Offset:][:ref.Length]
	return unsafe.String(&text[0], len(text))
}

func compareText(r *Release, a, b StringRef) int {
	return strings.Compare(r.Text(a), r.Text(b))
}

// Slice returns the part of a section that a span covers, as in Slice(r.LinksByCondition,
// condition.Links).
func Slice[T any](section []T, span Span) []T {
	return section[span.Start:span.End:span.End]
}
