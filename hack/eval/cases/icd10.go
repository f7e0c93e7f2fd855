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

// parseICD10 parses the ICD-10 codes of a condition, without dots. Of a range such as
// I20-I25, only the first code counts.
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

// matchesICD10 reports whether one of a condition's codes starts with a correct
// prefix, or is its category: the three characters that the prefix starts with.
func matchesICD10(codes, prefixes []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			prefix = stripDots(prefix)
			return strings.HasPrefix(code, prefix) || len(code) == 3 && strings.HasPrefix(prefix, code)
		})
	})
}
