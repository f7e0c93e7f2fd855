// SPDX-License-Identifier: Apache-2.0

package enginev3

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// requestBody returns a body with a list of evidence.
func requestBody(list string) []byte {
	return []byte(`{"sex": "female", "age": {"value": 30}, "evidence": ` + list + `, "extras": {}}`)
}

func repeatedList(count int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", count), ",") + "]"
}

// TestUnmarshalEvidence checks that any list is decoded as by the standard library, or
// rejected with its length.
func TestUnmarshalEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(MaxEvidence-1, MaxEvidence+2)).Draw(t, "items")
		item := rapid.SampledFrom([]string{
			`{"id": "s_1", "choice_id": "present", "source": "initial", "duration": {"value": 2, "unit": "day"}}`,
			`{"id": "s_1", "choice_id": "absent", "duration": null, "more": [{}, []]}`, `{}`, `null`,
		}).Draw(t, "item")
		list := repeatedList(count, item)
		var got Interview
		err := json.Unmarshal(requestBody(list), &got)
		var tooLong *EvidenceLengthError
		if count > MaxEvidence {
			if !errors.As(err, &tooLong) || tooLong.Items != count {
				t.Fatalf("%d items: %v", count, err)
			}
			return
		}
		var want []Evidence
		if err := json.Unmarshal([]byte(list), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got.Evidence); diff != "" || err != nil {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestUnmarshalEvidenceRejectsNonLists(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{"null": "", `"s_1"`: "/evidence", `{"id": "s_1"}`: "/evidence", `[{"id": "s_1"}, {"id": 2}]`: "/evidence/1/id", `[1]`: "/evidence/0"} {
		var got Interview
		err := json.Unmarshal(requestBody(list), &got)
		if want == "" {
			if err != nil || got.Evidence != nil {
				t.Errorf("%s: got evidence %v, error %v", list, got.Evidence, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", want)) {
			t.Errorf("%s: got error %v, want one at %s", list, err, want)
		}
	}
}

// TestUnmarshalLongEvidenceBoundsMemory checks that the longest list that fits into a body is
// not decoded into memory.
func TestUnmarshalLongEvidenceBoundsMemory(t *testing.T) {
	const items = 349_000
	body := requestBody(repeatedList(items, "{}"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var interview Interview
	err := json.Unmarshal(body, &interview)
	runtime.ReadMemStats(&after)
	var tooLong *EvidenceLengthError
	if !errors.As(err, &tooLong) || tooLong.Items != items {
		t.Errorf("%d items: %v", items, err)
	}
	if allocated, limit := after.TotalAlloc-before.TotalAlloc, uint64(len(body)/2); allocated > limit {
		t.Errorf("decoding a body of %d bytes allocated %d bytes, want at limit %d", len(body), allocated, limit)
	}
}
