// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	codeForm   = regexp.MustCompile(`^[A-Z]\d[0-9A-Z](\.?[0-9A-Z]+)?`)
	rangeDash  = regexp.MustCompile(`\s*[-–—]\s*`)
	betweenICD = regexp.MustCompile(`[,;/\s]+`)
)

// codesOf reads the ICD-10 codes of a condition, without dots. Of a range such
// as I20-I25 only the first code counts.
func codesOf(field string) []string {
	var codes []string
	for _, word := range betweenICD.Split(rangeDash.ReplaceAllString(strings.ToUpper(field), "-"), -1) {
		if code := codeForm.FindString(word); code != "" {
			codes = append(codes, withoutDot(code))
		}
	}
	return codes
}

func withoutDot(code string) string { return strings.ReplaceAll(code, ".", "") }

// right reports whether one of a condition's codes starts with a prefix that is
// right, or is the category of one: three characters that a prefix starts with.
func right(codes, prefixes []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			prefix = withoutDot(prefix)
			return strings.HasPrefix(code, prefix) || len(code) == 3 && strings.HasPrefix(prefix, code)
		})
	})
}
