// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func files(named map[string]string) fstest.MapFS {
	content := fstest.MapFS{}
	for name, text := range named {
		content[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return content
}

func told(p *Problems) []string {
	var lines []string
	for _, problem := range p.List() {
		lines = append(lines, problem.Error())
	}
	return lines
}

func TestReadCoreKeepsFileAndLine(t *testing.T) {
	t.Parallel()
	var problems Problems
	core, err := ReadCore(files(map[string]string{
		ReleaseFile:  "version: now\n",
		RegistryFile: "conditions:\n  flu: c_1\nremoved:\n  - c_2\n",
		"core/b/deep.yaml": `# a comment
conditions:
  - slug: flu
    ages: {from: 5y}
    prior:
      per_10000: 3
    findings:
      fever: 0.9
    protective:
      calm: {present: 0.5,
        absent: 1}
`,
		"core/a.yaml": `observations:
  - slug: fever
    professional: true
  -
groups:
  - {slug: heat, items: [fever,
      chill]}
tuples: [{slug: both}]
`,
		"core/notes.txt": "not read",
	}), &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	want := &Core{
		Version: Word{"now", 1},
		Registry: Registry{
			Conditions: map[Word]Word{{"flu", 2}: {"c_1", 2}},
			Removed:    []Word{{"c_2", 4}},
		},
		Observations: []*Observation{{File: "core/a.yaml", Slug: Word{"fever", 2}, Professional: Flag{true, 3}}},
		Groups:       []*Group{{File: "core/a.yaml", Slug: Word{"heat", 6}, Items: []Word{{"fever", 6}, {"chill", 7}}}},
		Tuples:       []*Tuple{{File: "core/a.yaml", Slug: Word{"both", 8}}},
		Conditions: []*Condition{{
			File: "core/b/deep.yaml", Slug: Word{"flu", 3}, Ages: Range{From: Word{"5y", 4}}, Prior: Prior{Per10000: Number{3, 6}},
			Findings:   map[Word]Number{{"fever", 8}: {0.9, 8}},
			Protective: map[Word]ProtectiveOf{{"calm", 10}: {Number{0.5, 10}, Number{1, 11}}},
		}},
	}
	if diff := cmp.Diff(want, core); diff != "" {
		t.Error(diff)
	}
}

func TestReadLanguageInOrderOfLines(t *testing.T) {
	t.Parallel()
	var problems Problems
	words, err := ReadLanguage(files(map[string]string{
		"lang/en/language.yaml": "model: service-en\nlanguage: en\nchoices: {present: Yes, absent: No, unknown: Maybe}\nspecialists: {gp: Doctor}\n",
		"lang/en/z.yaml":        "observations:\n  b: {name: B}\n  a: {name: A, synonyms: [x, no]}\n",
		"lang/en/c/c.yaml":      "conditions:\n  flu: {name: Flu, hint: Rest}\ngroups:\n  g: {question: q, question_third_person: t}\n",
		"lang/de/language.yaml": "model: service-de\n",
	}), "en", &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	want := &Language{
		File:     "lang/en/language.yaml",
		Model:    Word{"service-en", 1},
		Language: Word{"en", 2},
		// Yes and No are words here, not the guesses that YAML makes of them.
		Choices:     Choices{Present: Word{"Yes", 3}, Absent: Word{"No", 3}, Unknown: Word{"Maybe", 3}},
		Specialists: map[Word]Word{{"gp", 4}: {"Doctor", 4}},
		Conditions:  []*Words{{File: "lang/en/c/c.yaml", Slug: Word{"flu", 2}, Name: Word{"Flu", 2}, Hint: Word{"Rest", 2}}},
		Observations: []*Words{
			{File: "lang/en/z.yaml", Slug: Word{"b", 2}, Name: Word{"B", 2}},
			{File: "lang/en/z.yaml", Slug: Word{"a", 3}, Name: Word{"A", 3}, Synonyms: []Word{{"x", 3}, {"no", 3}}},
		},
		Groups: []*Words{{File: "lang/en/c/c.yaml", Slug: Word{"g", 4}, Question: Word{"q", 4}, QuestionThirdPerson: Word{"t", 4}}},
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

func TestReadTellsWhatHasAnotherForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		wants      []string
		broken     bool
	}{
		{"an empty file", "", nil, false},
		{"only a comment", "# later\n", nil, false},
		{"an unknown key", "observation: []\n", []string{"core/x.yaml:1: unknown key observation"}, false},
		{"unknown keys at every depth", "conditions:\n  - slug: a\n    prior: {per_1000: 1}\n    protective:\n      b: {persent: 1}\n", []string{
			"core/x.yaml:3: unknown key per_1000", "core/x.yaml:5: unknown key persent",
		}, false},
		{"words for numbers and flags", "observations:\n  - slug: a\n    background: x\n    professional: 2\n", []string{
			`core/x.yaml:3: expected a number, not "x"`, `core/x.yaml:4: expected true or false, not "2"`,
		}, false},
		{"a list for a number", "observations:\n  - background: [1]\n", []string{`core/x.yaml:2: expected a number, not ""`}, false},
		{"a mapping for a word", "observations:\n  - slug: {a: b}\n", []string{"core/x.yaml:2: expected a word or a sentence, not a list or a mapping"}, false},
		{"a word for a list", "observations: none\n", []string{"core/x.yaml:1: cannot unmarshal !!str `none` into []*source.Observation"}, false},
		{"a key twice", "observations: []\nobservations: []\n", []string{`core/x.yaml:2: mapping key "observations" already defined at line 1`}, true},
		{"no YAML", "observations:\n\t- slug: a\n", []string{"core/x.yaml:2: found character that cannot start any token"}, true},
		{"a second document", "observations: []\n---\ngroups: []\n", []string{"core/x.yaml: a second document, behind a line of three dashes, is not read: make it a file of its own"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var problems Problems
			_, err := ReadCore(files(map[string]string{ReleaseFile: "", RegistryFile: "", "core/x.yaml": test.text}), &problems)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wants, told(&problems)); diff != "" {
				t.Error(diff)
			}
			if problems.Broken() != test.broken {
				t.Errorf("Broken is %t", problems.Broken())
			}
		})
	}
}

func TestReadTellsMissingFiles(t *testing.T) {
	t.Parallel()
	var problems Problems
	if _, err := ReadCore(files(map[string]string{"core/x.yaml": ""}), &problems); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLanguage(files(map[string]string{"lang/en/x.yaml": ""}), "en", &problems); err != nil {
		t.Fatal(err)
	}
	want := []string{"core/registry.yaml: this file is missing", "core/release.yaml: this file is missing", "lang/en/language.yaml: this file is missing"}
	if diff := cmp.Diff(want, told(&problems)); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadLanguage(files(nil), "en", &problems); err == nil {
		t.Error("a language without a folder was read")
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	got, err := Languages(files(map[string]string{"lang/pl/language.yaml": "", "lang/en/language.yaml": "", "lang/README.md": ""}))
	if err != nil || !slices.Equal(got, []string{"en", "pl"}) {
		t.Errorf("the languages are %v, %v", got, err)
	}
	if _, err := Languages(files(nil)); err == nil {
		t.Error("content without a folder of languages has some")
	}
}

func TestProblemsAreToldByFileAndLine(t *testing.T) {
	t.Parallel()
	var problems Problems
	if problems.Err() != nil {
		t.Error("no problems are an error")
	}
	problems.Add(Position{"b.yaml", 2}, "%d is wrong", 7)
	problems.Add(Position{"b.yaml", 0}, "empty")
	problems.Add(Position{"a.yaml", 10}, "late")
	problems.Add(Position{"a.yaml", 9}, "first of two")
	problems.Add(Position{"a.yaml", 9}, "second of two")
	err := problems.Err()
	want := "a.yaml:9: first of two\na.yaml:9: second of two\na.yaml:10: late\nb.yaml: empty\nb.yaml:2: 7 is wrong"
	if err == nil || err.Error() != want {
		t.Errorf("told are\n%v\nwant\n%s", err, want)
	}
	var list Error
	if !errors.As(err, &list) {
		t.Fatalf("the error is a %T", err)
	}
	if got := list.In("my/content").Error(); !strings.HasPrefix(got, "my/content/a.yaml:9: ") || list.Error() != want {
		t.Errorf("from outside they are told as\n%s", got)
	}
}
