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
	one := &enginev3.Question{Type: enginev3.QuestionTypeGroupSingle, Items: []enginev3.QuestionItem{{ID: "s_2"}, {ID: "s_3"}}}
	several := &enginev3.Question{Type: enginev3.QuestionTypeGroupMultiple, Items: one.Items}
	duration := &enginev3.Question{Type: enginev3.QuestionTypeDuration, EvidenceID: &headache}
	for _, test := range []struct {
		name     string
		question *enginev3.Question
		typed    string
		want     string // evidence added or changed; empty if the answer is rejected
	}{
		{"yes", single, "y", `[{"choice_id":"present","id":"s_2"}]`},
		{"no, in full and capitals", single, "No", `[{"choice_id":"absent","id":"s_2"}]`},
		{"not known", single, "?", `[{"choice_id":"unknown","id":"s_2"}]`},
		{"nothing", single, " ", ""},
		{"something else", single, "perhaps", ""},
		{"a number where there is no list", single, "1", ""},
		{"one of a group", one, "2", `[{"choice_id":"absent","id":"s_2"},{"choice_id":"present","id":"s_3"}]`},
		{"two of which one holds", one, "1 2", ""},
		{"yes to a group", one, "y", ""},
		{"none of a group", several, "none", `[{"choice_id":"absent","id":"s_2"},{"choice_id":"absent","id":"s_3"}]`},
		{"two of a group", several, "1, 2", `[{"choice_id":"present","id":"s_2"},{"choice_id":"present","id":"s_3"}]`},
		{"a number too high", several, "3", ""},
		{"a duration", duration, "3 days", `[{"choice_id":"present","duration":{"unit":"day","value":3},"id":"s_1"}]`},
		{"no duration", duration, "?", `[{"choice_id":"present","duration":null,"id":"s_1"}]`},
		{"a duration without its unit", duration, "3", ""},
		{"a unit that is not one", duration, "3 moons", ""},
		{"no time at all", duration, "0 days", ""},
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
