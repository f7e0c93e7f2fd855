// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

func TestAddAnswer(t *testing.T) {
	t.Parallel()
	headache := "s_1"
	single := &enginev3.Question{Type: enginev3.QuestionTypeSingle, Items: []enginev3.QuestionItem{{ID: "s_2"}}}
	singleChoice := &enginev3.Question{Type: enginev3.QuestionTypeGroupSingle, Items: []enginev3.QuestionItem{{ID: "s_2"}, {ID: "s_3"}}}
	multipleChoice := &enginev3.Question{Type: enginev3.QuestionTypeGroupMultiple, Items: singleChoice.Items}
	duration := &enginev3.Question{Type: enginev3.QuestionTypeDuration, EvidenceID: &headache}
	for _, test := range []struct {
		name     string
		question *enginev3.Question
		typed    string
		want     string // evidence added or changed; empty if the answer is rejected
	}{
		{"yes", single, "y", `[{"choice_id":"present","id":"s_2"}]`},
		{"no, capitalized", single, "No", `[{"choice_id":"absent","id":"s_2"}]`},
		{"unknown", single, "?", `[{"choice_id":"unknown","id":"s_2"}]`},
		{"empty", single, " ", ""},
		{"invalid", single, "perhaps", ""},
		{"number for a yes/no question", single, "1", ""},
		{"one item of a group", singleChoice, "2", `[{"choice_id":"absent","id":"s_2"},{"choice_id":"present","id":"s_3"}]`},
		{"two items of a single-choice group", singleChoice, "1 2", ""},
		{"yes for a group", singleChoice, "y", ""},
		{"none of a group", multipleChoice, "none", `[{"choice_id":"absent","id":"s_2"},{"choice_id":"absent","id":"s_3"}]`},
		{"two items of a group", multipleChoice, "1, 2", `[{"choice_id":"present","id":"s_2"},{"choice_id":"present","id":"s_3"}]`},
		{"number out of range", multipleChoice, "3", ""},
		{"duration", duration, "3 days", `[{"choice_id":"present","duration":{"unit":"day","value":3},"id":"s_1"}]`},
		{"unknown duration", duration, "?", `[{"choice_id":"present","duration":null,"id":"s_1"}]`},
		{"duration without unit", duration, "3", ""},
		{"invalid unit", duration, "3 moons", ""},
		{"zero duration", duration, "0 days", ""},
	} {
		evidence := []enginev3.Evidence{{ID: headache, ChoiceID: enginev3.ChoicePresent}}
		before := len(evidence)
		if test.question == duration {
			before = 0
		}
		got := ""
		if addAnswer(&evidence, test.question, strings.Fields(test.typed)) {
			content, err := json.Marshal(evidence[before:])
			if err != nil {
				t.Fatal(err)
			}
			got = string(content)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}
