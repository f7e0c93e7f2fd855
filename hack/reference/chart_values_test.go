// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"testing"
)

// TestEveryChartValueIsDocumented checks that values.yaml describes each value.
func TestEveryChartValueIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/chart-values.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(.+?)` \\|.*\\| *(.*?) *\\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 20 {
		t.Fatalf("got %d values, want at least 20", len(rows))
	}
	for _, row := range rows {
		if row[2] == "" {
			t.Errorf("missing description of %s: add a comment in the form \"# -- ...\" to charts/anamnesis/values.yaml", row[1])
		}
	}
}
