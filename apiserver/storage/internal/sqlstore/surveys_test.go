// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

// TestLocatePage checks that the start position is never past the page and at most a
// block before it, unless the page starts after the last row.
func TestLocatePage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var counts []queries.SurveyCountsRow
		var positions []int64 // one per survey
		block := int64(0)
		for range rapid.IntRange(0, 8).Draw(t, "blocks") {
			block += rapid.Int64Range(1, 3).Draw(t, "next block")
			count := rapid.Int64Range(0, 4).Draw(t, "count")
			counts = append(counts, queries.SurveyCountsRow{Block: block, Total: count})
			for i := range count {
				positions = append(positions, block<<blockBits+i*7)
			}
		}
		skipped := rapid.Int64Range(0, 40).Draw(t, "skipped")
		position, left, total := locatePage(counts, skipped)
		if total != int64(len(positions)) {
			t.Fatalf("%d in all, want %d", total, len(positions))
		}
		var from []int64
		for _, at := range positions {
			if at >= position {
				from = append(from, at)
			}
		}
		want, got := positions[min(skipped, total):], from[min(left, int64(len(from))):]
		if len(want) != len(got) || len(want) > 0 && want[0] != got[0] {
			t.Fatalf("the page has %v, want %v", got, want)
		}
		if skipped < total && left >= 4 {
			t.Fatalf("%d to skip, with at most 4 in a block", left)
		}
	})
}

// TestUnmarshalDocumentsErrors checks that errors do not quote the document.
func TestUnmarshalDocumentsErrors(t *testing.T) {
	t.Parallel()
	_, err := unmarshalDocuments[struct{ Name int }]("survey", []string{`{"Name": "Ada"}`})
	if err == nil || strings.Contains(err.Error(), "Ada") || !strings.Contains(err.Error(), "survey") {
		t.Errorf("got %v", err)
	}
}
