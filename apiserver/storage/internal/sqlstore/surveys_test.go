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
		offset := rapid.Int64Range(0, 40).Draw(t, "offset")
		position, remaining, total := locatePage(counts, offset)
		if total != int64(len(positions)) {
			t.Fatalf("got total %d, want %d", total, len(positions))
		}
		var from []int64
		for _, at := range positions {
			if at >= position {
				from = append(from, at)
			}
		}
		want, got := positions[min(offset, total):], from[min(remaining, int64(len(from))):]
		if len(want) != len(got) || len(want) > 0 && want[0] != got[0] {
			t.Fatalf("got page %v, want %v", got, want)
		}
		if offset < total && remaining >= 4 {
			t.Fatalf("remaining offset is %d, want less than the block size of 4", remaining)
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
