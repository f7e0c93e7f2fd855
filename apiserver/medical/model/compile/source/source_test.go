// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func mapFS(named map[string]string) fstest.MapFS {
	content := fstest.MapFS{}
	for name, text := range named {
		content[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return content
}

func problemLines(p *Problems) []string {
	var lines []string
	for _, problem := range p.List() {
		lines = append(lines, problem.Error())
	}
	return lines
}

func TestReadCoreKeepsFileAndLine(t *testing.T) {
	t.Parallel()
	var problems Problems
	core, err := ReadCore(mapFS(map[string]string{
		ReleaseFile:  "version: now\ncourse: {from: 6h,\n  to: 1y}\n",
		RegistryFile: "conditions:\n  flu: c_1\nremoved:\n  - c_2\nlab_tests: {iron: lab_1}\naliases: {s_9: fever}\nreserved: {s_8: Why.}\n",
		"core/b/deep.yaml": `# a comment
conditions:
  - slug: flu
    ages: {from: 5y}
    course: {to: 2d}
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
    topic: injury
    lasts: {from: 3w}
  -
groups:
  - {slug: heat, items: [fever,
      chill]}
tuples: [{slug: both}]
lab_tests:
  - slug: iron
    category: blood
    results:
      low: iron_low
  -
`,
		"core/notes.txt": "not read",
	}), &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	want := &Core{
		Version:    Scalar{"now", 1},
		LeakCourse: Range{From: Scalar{"6h", 2}, To: Scalar{"1y", 3}},
		Registry: Registry{
			Conditions: map[Scalar]Scalar{{"flu", 2}: {"c_1", 2}},
			Removed:    []Scalar{{"c_2", 4}},
			LabTests:   map[Scalar]Scalar{{"iron", 5}: {"lab_1", 5}},
			Aliases:    map[Scalar]Scalar{{"s_9", 6}: {"fever", 6}},
			Reserved:   map[Scalar]Scalar{{"s_8", 7}: {"Why.", 7}},
		},
		Observations: []*Observation{{File: "core/a.yaml", Slug: Scalar{"fever", 2}, Professional: Bool{true, 3}, Topic: Scalar{"injury", 4}, Duration: Range{From: Scalar{"3w", 5}}}},
		Groups:       []*Group{{File: "core/a.yaml", Slug: Scalar{"heat", 8}, Items: []Scalar{{"fever", 8}, {"chill", 9}}}},
		Tuples:       []*Tuple{{File: "core/a.yaml", Slug: Scalar{"both", 10}}},
		LabTests:     []*LabTest{{File: "core/a.yaml", Slug: Scalar{"iron", 12}, Category: Scalar{"blood", 13}, Results: map[Scalar]Scalar{{"low", 15}: {"iron_low", 15}}}},
		Conditions: []*Condition{{
			File: "core/b/deep.yaml", Slug: Scalar{"flu", 3}, Ages: Range{From: Scalar{"5y", 4}}, Course: Range{To: Scalar{"2d", 5}}, Prior: Prior{Per10000: Number{3, 7}},
			Findings:   map[Scalar]Number{{"fever", 9}: {0.9, 9}},
			Protective: map[Scalar]ProtectiveFactor{{"calm", 11}: {Number{0.5, 11}, Number{1, 12}}},
		}},
	}
	if diff := cmp.Diff(want, core); diff != "" {
		t.Error(diff)
	}
}

func TestReadLanguageInLineOrder(t *testing.T) {
	t.Parallel()
	var problems Problems
	words, err := ReadLanguage(mapFS(map[string]string{
		"lang/en/language.yaml":        "model: service-en\nlanguage: en\nchoices: {present: Yes, absent: No, unknown: Maybe}\nspecialists: {gp: Doctor}\nlab_categories: {blood: Blood}\nquestions: {duration: d, duration_third_person: t}\n",
		"lang/en/z.yaml":               "observations:\n  b: {name: B}\n  a: {name: A, synonyms: [x, no]}\n",
		"lang/en/c/c.yaml":             "conditions:\n  flu: {name: Flu, hint: Rest}\ngroups:\n  g: {question: q, question_third_person: t}\nlab_tests:\n  iron: {name: Iron, common_name: Fe}\n",
		"lang/en/articles/flu.md":      "# Flu\n## Sources {#sources}\nA book.\n",
		"lang/en/notes.md":             "not read",
		"lang/en/articles/more/flu.md": "not read",
		"lang/de/language.yaml":        "model: service-de\n",
	}), "en", &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	want := &Language{
		File:    "lang/en/language.yaml",
		ModelID: Scalar{"service-en", 1},
		Tag:     Scalar{"en", 2},
		// Yes and No are read as text, not as YAML bools.
		Choices:       Choices{Present: Scalar{"Yes", 3}, Absent: Scalar{"No", 3}, Unknown: Scalar{"Maybe", 3}},
		Specialists:   map[Scalar]Scalar{{"gp", 4}: {"Doctor", 4}},
		Questions:     Questions{Duration: Scalar{"d", 6}, DurationThirdPerson: Scalar{"t", 6}},
		LabCategories: map[Scalar]Scalar{{"blood", 5}: {"Blood", 5}},
		LabTests:      []*Localization{{File: "lang/en/c/c.yaml", Slug: Scalar{"iron", 6}, Name: Scalar{"Iron", 6}, CommonName: Scalar{"Fe", 6}}},
		Articles: []*Article{{
			File: "lang/en/articles/flu.md", Slug: Scalar{"flu", 1}, Title: []model.DraftNode{{Type: model.TextNode, Text: "Flu"}},
			Sections: []*Section{{
				Name: Scalar{"sources", 2}, Title: []model.DraftNode{{Type: model.TextNode, Text: "Sources"}},
				Content: []model.DraftNode{{Type: model.ParagraphNode, Children: []model.DraftNode{{Type: model.TextNode, Text: "A book."}}}},
			}},
		}},
		Conditions: []*Localization{{File: "lang/en/c/c.yaml", Slug: Scalar{"flu", 2}, Name: Scalar{"Flu", 2}, Hint: Scalar{"Rest", 2}}},
		Observations: []*Localization{
			{File: "lang/en/z.yaml", Slug: Scalar{"b", 2}, Name: Scalar{"B", 2}},
			{File: "lang/en/z.yaml", Slug: Scalar{"a", 3}, Name: Scalar{"A", 3}, Synonyms: []Scalar{{"x", 3}, {"no", 3}}},
		},
		Groups: []*Localization{{File: "lang/en/c/c.yaml", Slug: Scalar{"g", 4}, Question: Scalar{"q", 4}, QuestionThirdPerson: Scalar{"t", 4}}},
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

// TestDerivedLanguageKeepsFileAndLine checks that texts inherited by an entry of the
// derived language or by its language.yaml are at a line of its own files; other entries
// keep their position in the base.
func TestDerivedLanguageKeepsFileAndLine(t *testing.T) {
	t.Parallel()
	var problems Problems
	words, err := ReadLanguage(mapFS(map[string]string{
		"lang/en/language.yaml":    "model: service-en\nlanguage: en\n\nchoices: {present: Yes, absent: No}\nspecialists: {gp: Doctor, ent: Ear doctor}\n",
		"lang/en/a.yaml":           "observations:\n  a: {name: Colour A, question: What colour, synonyms: [colours, colour]}\n  b: {name: B}\nlab_tests:\n  d: {name: D}\n",
		"lang/en-us/language.yaml": "model: service-en-us\nlanguage: en-US\nbase: en\nreplace: {colour: color}\nchoices: {absent: Nope}\nspecialists: {gp: Physician}\n",
		"lang/en-us/x.yaml":        "observations:\n  c: {name: C}\n  a: {common_name: Shade}\n",
	}), "en-us", &problems)
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems.Err())
	}
	const own = "lang/en-us/x.yaml"
	want := &Language{
		File:         "lang/en-us/language.yaml",
		ModelID:      Scalar{"service-en-us", 1},
		Tag:          Scalar{"en-US", 2},
		Base:         Scalar{"en", 3},
		Replacements: map[Scalar]Scalar{{"colour", 4}: {"color", 4}},
		Choices:      Choices{Present: Scalar{"Yes", 3}, Absent: Scalar{"Nope", 5}},
		Specialists:  map[Scalar]Scalar{{"gp", 6}: {"Physician", 6}, {"ent", 3}: {"Ear doctor", 3}},
		Observations: []*Localization{
			{File: own, Slug: Scalar{"a", 3}, Name: Scalar{"Color A", 3}, CommonName: Scalar{"Shade", 3}, Question: Scalar{"What color", 3}, Synonyms: []Scalar{{"colours", 3}, {"color", 3}}},
			{File: "lang/en/a.yaml", Slug: Scalar{"b", 3}, Name: Scalar{"B", 3}},
			{File: own, Slug: Scalar{"c", 2}, Name: Scalar{"C", 2}},
		},
		LabTests:       []*Localization{{File: "lang/en/a.yaml", Slug: Scalar{"d", 5}, Name: Scalar{"D", 5}}},
		InheritedCount: 2,
	}
	if diff := cmp.Diff(want, words, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestReadReportsMalformedFiles(t *testing.T) {
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
			`core/x.yaml:3: expected a number, got "x"`, `core/x.yaml:4: expected true or false, got "2"`,
		}, false},
		{"a list for a number", "observations:\n  - background: [1]\n", []string{`core/x.yaml:2: expected a number, got ""`}, false},
		{"a mapping for a word", "observations:\n  - slug: {a: b}\n", []string{"core/x.yaml:2: expected a word or a sentence, got a list or a mapping"}, false},
		{"a word for a list", "observations: none\n", []string{"core/x.yaml:1: expected a list"}, false},
		{"a key twice", "observations: []\nobservations: []\n", []string{`core/x.yaml:2: mapping key "observations" already defined at line 1`}, true},
		{"no YAML", "observations:\n\t- slug: a\n", []string{"core/x.yaml:2: found character that cannot start any token"}, true},
		{"a second document", "observations: []\n---\ngroups: []\n", []string{"core/x.yaml: unexpected second document after a line of three dashes: move it to a separate file"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var problems Problems
			_, err := ReadCore(mapFS(map[string]string{ReleaseFile: "", RegistryFile: "", "core/x.yaml": test.text}), &problems)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wants, problemLines(&problems)); diff != "" {
				t.Error(diff)
			}
			if problems.Unreadable() != test.broken {
				t.Errorf("Broken is %t", problems.Unreadable())
			}
		})
	}
}

func TestReadReportsMissingFiles(t *testing.T) {
	t.Parallel()
	var problems Problems
	if _, err := ReadCore(mapFS(map[string]string{"core/x.yaml": ""}), &problems); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLanguage(mapFS(map[string]string{"lang/en/x.yaml": ""}), "en", &problems); err != nil {
		t.Fatal(err)
	}
	want := []string{"core/registry.yaml: file is missing", "core/release.yaml: file is missing", "lang/en/language.yaml: file is missing"}
	if diff := cmp.Diff(want, problemLines(&problems)); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadLanguage(mapFS(nil), "en", &problems); err == nil {
		t.Error("a language without a folder was read")
	}
}

func TestListLanguages(t *testing.T) {
	t.Parallel()
	got, err := ListLanguages(mapFS(map[string]string{"lang/pl/language.yaml": "", "lang/en/language.yaml": "", "lang/README.md": ""}))
	if err != nil || !slices.Equal(got, []string{"en", "pl"}) {
		t.Errorf("the languages are %v, %v", got, err)
	}
	if _, err := ListLanguages(mapFS(nil)); err == nil {
		t.Error("content without a folder of languages has some")
	}
}

func TestProblemsSortedByFileAndLine(t *testing.T) {
	t.Parallel()
	var problems Problems
	if problems.Err() != nil {
		t.Error("no problems are an error")
	}
	problems.Addf(Position{"b.yaml", 2}, "%d is wrong", 7)
	problems.Addf(Position{"b.yaml", 0}, "empty")
	problems.Addf(Position{"a.yaml", 10}, "late")
	problems.Addf(Position{"a.yaml", 9}, "first of two")
	problems.Addf(Position{"a.yaml", 9}, "second of two")
	err := problems.Err()
	want := "a.yaml:9: first of two\na.yaml:9: second of two\na.yaml:10: late\nb.yaml: empty\nb.yaml:2: 7 is wrong"
	if err == nil || err.Error() != want {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
	var list ValidationError
	if !errors.As(err, &list) {
		t.Fatalf("the error is a %T", err)
	}
	if got := list.WithBaseDir("my/content").Error(); !strings.HasPrefix(got, "my/content/a.yaml:9: ") || list.Error() != want {
		t.Errorf("with a base directory, the error is\n%s", got)
	}
}
