// SPDX-License-Identifier: Apache-2.0

package record

// Page selects part of a list.
type Page struct{ Offset, Limit int64 }

// Slice returns the part of a complete list that the page selects.
func Slice[T any](list []T, page Page) []T {
	total := int64(len(list))
	from := min(page.Offset, total)
	return list[from:min(from+page.Limit, total)]
}
