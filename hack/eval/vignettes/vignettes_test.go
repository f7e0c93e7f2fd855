// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// runnerOutput is sample output of a runner: one hit and one miss of each kind.
const runnerOutput = `
{"line": 1, "diagnosis": "Flu", "in_catalogue": true, "initial": ["s_1"], "asked": [], "rank": 1, "top5": [["c_1", "Flu", 0.9, ["J11"]]], "errors": []}
{"line": 2, "diagnosis": "Cold", "in_catalogue": true, "initial": ["s_1"], "asked": [{}], "rank": 2, "top5": [["c_1", "Flu", 0.9, []], ["c_2", "Cold", 0.1, []]], "errors": []}
{"line": 3, "diagnosis": "Gout", "in_catalogue": true, "initial": ["s_2"], "asked": [{}, {}], "rank": null, "top5": [["c_1", "Flu", 0.9, []]], "errors": []}
{"line": 4, "diagnosis": "Rare thing", "in_catalogue": false, "initial": ["s_2"], "rank": null, "top5": [], "errors": []}
{"line": 5, "diagnosis": "Odd thing", "age": {"value": 3, "unit": "month"}, "sex": "male", "in_catalogue": false, "initial": [], "rank": null, "top5": [], "errors": []}
{"line": 6, "diagnosis": "Measles", "in_catalogue": true, "initial": [], "rank": null, "top5": [], "errors": ["POST /parse: 500 oh"]}
{"line": 7, "diagnosis": "Mumps", "in_catalogue": true, "initial": ["s_3"], "asked": [], "rank": null, "top5": [], "errors": []}
`

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrintMisses(t *testing.T) {
	t.Parallel()
	results, err := readResults(writeFile(t, "results.jsonl", runnerOutput))
	if err != nil {
		t.Fatal(err)
	}
	complaints := []string{"", "", "", "", "Green ears", "", ""}
	unknown := func(_ context.Context, r result, text string) ([]string, error) {
		if r.Age.Value != 3 || *r.Age.Unit != enginev3.AgeUnitMonth || r.Sex != enginev3.SexMale {
			t.Errorf("got age %v and sex %v", r.Age, r.Sex)
		}
		return strings.Fields(text), nil
	}
	var out strings.Builder
	if err := classifyMisses(results).print(t.Context(), &out, 2, complaints, unknown); err != nil {
		t.Fatal(err)
	}
	want := `
errors: 1
    6  Measles: POST /parse: 500 oh

in the catalog but not first: 3
    3  Gout: not ranked after 2 questions, behind Flu
    7  Mumps: not ranked after 0 questions
`
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
	if got := out.String(); !strings.HasSuffix(got, `
no initial evidence: 1
    5  Odd thing (not in the catalog): "Green ears"
       not understood: Green ears

not in the catalog: 1
    4  Rare thing
`) {
		t.Errorf("got %s", got)
	}
	if got := describeRanking(results[1]); got != "Cold: ranked 2 after 1 questions, behind Flu" {
		t.Errorf("got %q", got)
	}
}

func TestPrintMissesReturnsParseError(t *testing.T) {
	t.Parallel()
	parseErr := errors.New("server unavailable")
	unknown := func(context.Context, result, string) ([]string, error) { return nil, parseErr }
	err := misses{complaintNotUnderstood: []result{{Line: 1}}}.print(t.Context(), &strings.Builder{}, 1, []string{""}, unknown)
	if !errors.Is(err, parseErr) {
		t.Errorf("got %v", err)
	}
}

func TestPrintMissesRejectsUnknownLine(t *testing.T) {
	t.Parallel()
	for _, line := range []int{0, 2} {
		err := misses{complaintNotUnderstood: []result{{Line: line}}}.print(t.Context(), &strings.Builder{}, 1, []string{""}, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("invalid line %d in the results: expected 1 to 1", line)) {
			t.Errorf("line %d: got %v", line, err)
		}
	}
}

func TestReadResultsRejectsInvalidFile(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"line": 1} {"line": `:              "reading object 2 of",
		`{"top5": [["c_1", 7]]}`:             "reading object 1 of",
		`{"line": 1}` + "\n" + `{"line":""}`: "reading object 2 of",
	} {
		if _, err := readResults(writeFile(t, "results.jsonl", content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}

func TestComplaints(t *testing.T) {
	t.Parallel()
	got, err := readComplaints(writeFile(t, "vignettes.jsonl", `
{"chief_complaints": "Fever, cough", "presentation": "A man. With fever."}
{"chief_complaints": "", "presentation": "Came with fever. And a cough."}
{"case_description": "A woman with fever"}`))
	if diff := cmp.Diff([]string{"Fever, cough", "Came with fever", "A woman with fever"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestValidatePaths checks that a missing runner or vignette file is reported together
// with its source.
func TestValidatePaths(t *testing.T) {
	t.Parallel()
	existing := writeFile(t, "existing", "")
	for _, test := range []struct {
		command command
		want    string
	}{
		{command{Runner: existing, Vignettes: existing}, "<nil>"},
		{command{Runner: existing + "-missing", Vignettes: existing}, "--runner: "},
		{command{Runner: existing, Vignettes: existing + "-missing"}, "--vignettes: "},
	} {
		got := fmt.Sprint(test.command.validatePaths())
		if !strings.Contains(got, test.want) || strings.Contains(got, "shared/eval") != (test.want != "<nil>") {
			t.Errorf("got %s, want %q", got, test.want)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/parse" || r.Header.Get("App-Id") != "dev" || r.Header.Get("Dev-Mode") != "true" {
			t.Errorf("got request %s with headers %v", r.URL, r.Header)
		}
		_, _ = w.Write([]byte(`{"tokens": ["Green", "ears", ",", "7", "bad", "cough"], "obvious": false, "mentions": [{"positions": [4, 5]}]}`))
	}))
	defer server.Close()
	parser, err := newParseClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parser.unknownWords(t.Context(), result{}, "")
	if diff := cmp.Diff([]string{"Green", "ears"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestUnknownWordsReturnsServerError(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	parser, err := newParseClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if words, err := parser.unknownWords(t.Context(), result{}, ""); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v, %v", words, err)
	}
}
