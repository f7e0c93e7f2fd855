// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"
	"unsafe"
)

// Text reads a piece of the strings section without a copy. The string must
// not outlive the lease of the release; strings.Clone it to keep it.
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

// Part is the part of a section that a span covers, as in
// Part(r.LinksByCondition, condition.Links).
func Part[T any](section []T, span Span) []T {
	return section[span.Start:span.End:span.End]
}
