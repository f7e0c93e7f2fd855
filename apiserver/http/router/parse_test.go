// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// formatMentions formats the mentions of a response as "id orth", with a minus if absent.
func formatMentions(parsed enginev3.Parsed) string {
	list := make([]string, len(parsed.Mentions))
	for i, mention := range parsed.Mentions {
		list[i] = mention.ID + " " + mention.Orth
		if mention.ChoiceID == enginev3.MentionChoiceIDAbsent {
			list[i] = "-" + list[i]
		}
	}
	return strings.Join(list, ", ")
}

// mustParseText parses a text, with more fields in the body.
func mustParseText(t *testing.T, r *testServer, text, fields string) enginev3.Parsed {
	t.Helper()
	return decode[enginev3.Parsed](t, r.do(t, post("/v3/parse", fmt.Sprintf(`{"text": %s, %s}`, jsonString(text), fields))))
}

func TestParse(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const woman = `"sex": "female", "age": {"value": 30}`
	for _, test := range []struct{ name, text, fields, want string }{
		{"in order", "Fever, and a runny nose", woman, "s_11 Fever, s_8 runny nose"},
		{"denied", "no fever or nausea but headache", woman, "-s_11 fever, -s_5 nausea, s_1 headache"},
		{"asked", "what if fever", woman, ""},
		{"once", "headache, fever, headache", woman, "s_1 headache, s_11 fever"},
		{"misspelt", "hedache", woman, "s_1 headache"},
		{"misspelt, kept", "hedache", woman + `, "correct_spelling": false`, ""},
		{"misspelt, null", "hedache", woman + `, "correct_spelling": null`, "s_1 headache"},
		{"the most specific", "worst headache in my life", woman, "s_2 worst headache life"},
		{"vague", "on both sides", woman, ""},
		{"vague, in a context", "on both sides", woman + `, "context": ["s_1"]`, "s_3 both sides"},
		{"in another context", "on both sides", woman + `, "context": ["s_10", "lt_1", "p_7", "s_10"]`, ""},
		{"both types", "fever, pregnancy", woman, "s_11 fever, p_30 pregnancy"},
		{"symptoms", "fever, pregnancy", woman + `, "concept_types": ["symptom"]`, "s_11 fever"},
		{"risk factors", "fever, pregnancy", woman + `, "concept_types": ["risk_factor", "risk_factor"]`, "p_30 pregnancy"},
		{"no types", "fever, pregnancy", woman + `, "concept_types": []`, "s_11 fever, p_30 pregnancy"},
		{"of a man", "fever, pregnancy", `"sex": "male", "age": {"value": 30}`, "s_11 fever"},
		{"without a sex", "fever, pregnancy", `"age": {"value": 30}`, "s_11 fever, p_30 pregnancy"},
		{"of a child", "fever, pregnancy, barking cough", `"age": {"value": 30, "unit": "month"}`, "s_11 fever, s_7 barking cough"},
		{"not given", "fever, pregnancy", `"sex": "", "age": {"value": 30, "unit": ""}, "context": null, "concept_types": null, "include_tokens": null, "evidence": 1`,
			"s_11 fever, p_30 pregnancy"},
		{"another case of names", "fever", woman + `, "Text": 1, "CONTEXT": {}, "Concept_Types": ["x"]`, "s_11 fever"},
		{"in capitals", "FEVER!!!", woman, "s_11 FEVER"},
		{"full width", "ｆｅｖｅｒ", woman, "s_11 ｆｅｖｅｒ"},
		{"between emoji", "🤒fever🤒 and 👩🏽‍⚕️headache", woman, "s_11 fever, s_1 headache"},
		{"between right-to-left words", "\u202eחום\u202c fever كحة headache", woman, "s_11 fever, s_1 headache"},
		{"between control characters", "\x00fever\x07\x1b[31m headache\u0085", woman, "s_11 fever, s_1 headache"},
		{"markup", "<b>fever</b> & \"headache\"", woman, "s_11 fever, s_1 headache"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := formatMentions(mustParseText(t, r, test.text, test.fields)); got != test.want {
				t.Errorf("got mentions %q, expected %q", got, test.want)
			}
		})
	}
}

// TestParseTokens checks that every position refers to a token of the response, for any text.
func TestParseTokens(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, test := range []struct {
		text, tokens, mentions string
	}{
		{`"it burns a lot when I pee, hedache 39.5°C"`, "it|burns|a|lot|when|I|pee|,|headache|39.5|°|C", "s_10 1,6 in 1; s_1 8 in 8"},
		{`"headache and headache"`, "headache|and|headache", "s_1 0 in 0; s_1 2 in 2"},
		{`"\ud83d fever \ude00\ud83d\ude00 headache"`, "\uFFFD|fever|\uFFFD|😀|headache", "s_11 1 in 1; s_1 4 in 4"},
		{`"e\u0301e\u0301 fever"`, "e\u0301e\u0301|fever", "s_11 1 in 1"},
		{`"\u0000 fever"`, "fever", "s_11 0 in 0"},
		{`" \n\t "`, "", ""},
		{`""`, "", ""},
	} {
		got := decode[enginev3.Parsed](t, r.do(t, post("/v3/parse", `{"include_tokens": true, "age": {"value": 30}, "text": `+test.text+"}")))
		if got.Tokens == nil {
			t.Errorf("%s has no tokens", test.text)
			continue
		}
		var places []string
		for _, mention := range got.Mentions {
			positions := strings.Trim(strings.ReplaceAll(fmt.Sprint(mention.Positions), " ", ","), "[]")
			places = append(places, fmt.Sprintf("%s %s in %d", mention.ID, positions, *mention.HeadPosition))
		}
		if diff := cmp.Diff([]string{test.tokens, test.mentions}, []string{strings.Join(*got.Tokens, "|"), strings.Join(places, "; ")}); diff != "" {
			t.Errorf("%s: tokens and mentions (-want +got)\n%s", test.text, diff)
		}
	}
}

// TestParseLength checks that the limit counts characters, regardless of how they are
// escaped.
func TestParseLength(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for name, character := range map[string]string{
		"letters": "x", "umlauts": "ä", "umlauts, escaped": `\u00e4`, "emoji": "😀", "emoji, escaped": `\ud83d\ude00`,
		"half pairs": `\ud83d`, "control characters": `\u0000`, "blanks": " ",
	} {
		body := func(count int) string {
			return fmt.Sprintf(`{"text": "%s", "age": {"value": 30}, "include_tokens": true}`, strings.Repeat(character, count))
		}
		if got := r.do(t, post("/v3/parse", body(2048))); got.status != http.StatusOK {
			t.Errorf("2048 %s: got status %d: %.200s", name, got.status, got.body)
		}
		expectError(t, r.do(t, post("/v3/parse", body(2049))), 400, "text: expected at most 2048 characters (Unicode code points), got 2049")
		expectError(t, r.do(t, post("/v3/parse", body(80_000))), 400, "got 80000")
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	with := func(fields string) string { return addFields(parseRequestBody("fever"), fields) }
	for name, test := range map[string]struct{ body, message string }{
		"null":                     {`null`, "text: missing"},
		"a list":                   {`[]`, "the body: expected an object, got a list"},
		"text null":                {`{"text": null, "age": {"value": 30}}`, "text: missing"},
		"text a number":            {`{"text": 39.5, "age": {"value": 30}}`, "text: expected a string, got a number"},
		"text a list":              {`{"text": ["fever"], "age": {"value": 30}}`, "text: expected a string, got a list"},
		"text twice":               {with(`"text": "cough"`), `duplicate object name "text"`},
		"no age":                   {`{"text": "fever"}`, "age.value: missing, expected a whole number from 1 to 130 with the unit year"},
		"age a number":             {`{"text": "fever", "age": 30}`, "age: expected an object, got a number"},
		"age zero years":           {`{"text": "fever", "age": {"value": 0}}`, "age.value: expected a whole number from 1 to 130 with the unit year, got 0"},
		"age in weeks":             {`{"text": "fever", "age": {"value": 3, "unit": "week"}}`, `age.unit: expected year or month, got "week"`},
		"age of empty text":        {`{"text": ""}`, "age.value: missing"},
		"sex a number":             {`{"text": "fever", "age": {"value": 30}, "sex": 1}`, "sex: expected a string, got a number"},
		"sex in capitals":          {`{"text": "fever", "age": {"value": 30}, "sex": "Female"}`, `sex: expected female or male, got "Female"`},
		"context a string":         {with(`"context": "s_1"`), "context: expected a list, got a string"},
		"context of numbers":       {with(`"context": [1]`), "context[0]: expected a string, got a number"},
		"context of objects":       {with(`"context": [{"id": "s_1"}]`), "context[0]: expected a string, got an object"},
		"context with null":        {with(`"context": ["s_1", null]`), "context[1]: missing, expected the id of an observation"},
		"context with nothing":     {with(`"context": [""]`), "context[0]: missing, expected the id of an observation"},
		"context of tests":         {with(`"context": ["lab_1"]`), `context[0]: expected the id of an observation, such as s_21, got "lab_1"`},
		"context in capitals":      {with(`"context": ["S_1"]`), `got "S_1"`},
		"include_tokens a string":  {with(`"include_tokens": "true"`), "include_tokens: expected true or false, got a string"},
		"correct_spelling 0":       {with(`"correct_spelling": 0`), "correct_spelling: expected true or false, got a number"},
		"concept_types a string":   {with(`"concept_types": "symptom"`), "concept_types: expected a list, got a string"},
		"concept_types of numbers": {with(`"concept_types": [1]`), "concept_types[0]: expected a string, got a number"},
		"concept_types with null":  {with(`"concept_types": [null]`), "concept_types[0]: missing, expected symptom or risk_factor"},
		"concept_types, results":   {with(`"concept_types": ["lab_test_result"]`), `concept_types[0]: expected symptom or risk_factor, got "lab_test_result"`},
		"not UTF-8":                {"{\"text\": \"fever \xff\", \"age\": {\"value\": 30}}", "the body: invalid JSON at byte 16: invalid UTF-8"},
		"a line break as it is":    {"{\"text\": \"a\nb\"}", "the body: invalid JSON at byte 11"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectError(t, r.do(t, post("/v3/parse", test.body)), 400, test.message)
		})
	}
}

// TestParseUsesModelLanguage checks that each model parses its own language.
func TestParseUsesModelLanguage(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for model, want := range map[string]string{
		"": "no fever: -s_11 fever", "service-en": "kein kopfweh: ", "service-de": "ich habe kopfweh und kein fieber: s_1 kopfweh, -s_11 fieber",
		"infermedica-de": "kein Fieber: -s_11 Fieber",
	} {
		input, says, _ := strings.Cut(want, ": ")
		got := r.do(t, post("/v3/parse", parseRequestBody(input)).withHeader(map[string]string{"Model": model}))
		if found := formatMentions(decode[enginev3.Parsed](t, got)); found != says {
			t.Errorf("%q with model %q: got mentions %q, expected %q", input, model, found, says)
		}
	}
}

// TestParseDoesNotLeakText checks that the patient's text appears in no log line, metric or
// error, regardless of the outcome of the call.
func TestParseDoesNotLeakText(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	const secret = "hushhush"
	long := secret + strings.Repeat(" x", 2048)
	answers := []testResponse{
		r.do(t, post("/v3/parse", parseRequestBody("headache "+secret))),
		r.do(t, post("/v3/parse", addFields(parseRequestBody("headache "+secret), `"context": ["s_99"]`))),
		r.do(t, post("/v3/parse", parseRequestBody(long))),
		r.do(t, post("/v3/parse", `{"text": ["`+secret+`"]}`)),
		r.do(t, post("/v3/parse", `{"text": "`+secret+`" "`+secret+`"}`)),
		r.do(t, post("/v3/parse", parseRequestBody(secret)).withHeader(map[string]string{"Model": "service-xx"})),
	}
	fault := func() error { panic(secret) }
	r.models.err.Store(&fault)
	answers = append(answers, r.do(t, post("/v3/parse", parseRequestBody(secret))))
	recorder := httptest.NewRecorder()
	r.metrics.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for i, got := range answers {
		if strings.Contains(got.body, secret) {
			t.Errorf("response %d reveals the text: %s", i, got.body)
		}
	}
	for where, written := range map[string]string{"the log": r.log.String(), "the metrics": recorder.Body.String()} {
		if strings.Contains(written, secret) || !strings.Contains(written, "POST /v3/parse") {
			t.Errorf("%s: %s", where, written)
		}
	}
}
