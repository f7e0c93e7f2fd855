// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	icdCodePattern      = regexp.MustCompile(`^[A-Z]\d[0-9A-Z](\.?[0-9A-Z]+)?`)
	icdRangePattern     = regexp.MustCompile(`\s*[-–—]\s*`)
	icdSeparatorPattern = regexp.MustCompile(`[,;/\s]+`)
)

// parseICD10 returns the ICD-10 codes of a condition, without dots. For a range such as
// I20-I25, it returns only the first code.
func parseICD10(field string) []string {
	var codes []string
	for _, word := range icdSeparatorPattern.Split(icdRangePattern.ReplaceAllString(strings.ToUpper(field), "-"), -1) {
		if code := icdCodePattern.FindString(word); code != "" {
			codes = append(codes, stripDots(code))
		}
	}
	return codes
}

func stripDots(code string) string { return strings.ReplaceAll(code, ".", "") }

// matchesICD10 reports whether one of a condition's codes starts with a correct prefix, or
// is the category of the prefix (its first three characters).
func matchesICD10(codes, prefixes []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			prefix = stripDots(prefix)
			return strings.HasPrefix(code, prefix) || len(code) == 3 && strings.HasPrefix(prefix, code)
		})
	})
}
