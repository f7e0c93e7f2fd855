// SPDX-License-Identifier: Apache-2.0

package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"text/template/parse"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

func readWordsOfPage(t testing.TB) *vocabulary {
	t.Helper()
	v, err := readVocabulary(wordFiles)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// families are the words that a template puts into an id in the place of a *, by the id.
func families() map[string][]string {
	levels := spelled(model.SelfCare, model.Consultation, model.Consultation24, model.Emergency, model.EmergencyAmbulance)
	types := spelled(guidance.Triage, guidance.Intake, guidance.FollowUp)
	return map[string][]string{
		"section.*": section.Names(), "start.title.*": types, "start.end.*": types, "list.type.*": types,
		"list.*":         append(spelled(guidance.New, guidance.Pending, guidance.Completed), "expired"),
		"find.label.*":   {guidance.SymptomList, guidance.ChronicDiseaseList, guidance.DrugList, guidance.SpecialistList, guidance.HospitalizationList},
		"result.level.*": levels, "result.do.*": levels, "result.sex.*": {"female", "male"},
		"result.age.*": {"year", "month"}, "result.age.one.*": {"year", "month"},
		"result.channel.*": spelled(model.PersonalVisit, model.VideoTeleconsultation, model.AudioTeleconsultation, model.TextTeleconsultation),
		"why.*":            spelled(engine.ReducedByNo, engine.MayBeRelated, engine.ReducedByNone, engine.RuledInOrOut, engine.MayBeCause, engine.RecentInjury, engine.MoreDetail),
		"*.title":          notes, "*.text": notes,
	}
}

// notes are the pages that say one thing.
var notes = []string{"gone", "expired", "left", "missing", "busy", "broken", "crossed"}

// spelled are words as they are written.
func spelled[W any](values ...W) []string {
	words := make([]string, len(values))
	for i, value := range values {
		switch value := any(value).(type) {
		case interface{ String() string }:
			words[i] = value.String()
		case guidance.Type:
			words[i] = string(value)
		case guidance.Status:
			words[i] = string(value)
		}
	}
	return words
}

// Every text that a page asks for is there, and every text is asked for by some page.
func TestWordsAreThoseOfThePages(t *testing.T) {
	t.Parallel()
	english := readWordsOfPage(t).words[0]
	asked := append(askedByTemplates(t), askedByCode(t)...)
	unsaid := maps.Clone(english.texts)
	for _, id := range asked {
		if !english.has(id) && !english.has(id+".you") {
			t.Errorf("%s is asked for and is not there", id)
		}
		for _, said := range []string{"", ".you", ".child", ".other"} {
			delete(unsaid, id+said)
		}
	}
	if len(unsaid) > 0 {
		t.Errorf("nobody asks for %v", slices.Sorted(maps.Keys(unsaid)))
	}
	if len(asked) < 200 {
		t.Errorf("only %d are asked for: this does not see how", len(asked))
	}
}

// askedByTemplates are the ids of the texts that templates name.
func askedByTemplates(t *testing.T) (ids []string) {
	t.Helper()
	families := families()
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		for _, one := range parsedAnew(t, name) {
			walk(one.Root, func(asked []parse.Node) {
				for _, argument := range asked {
					ids = append(ids, idsOf(t, argument, families)...)
				}
			})
		}
	}
	return ids
}

// parsedAnew are the trees of a page and of what it shares, as they are written.
func parsedAnew(t *testing.T, page string) (trees []*parse.Tree) {
	t.Helper()
	read, err := template.New("").Funcs(template.FuncMap{"first": first, "rest": rest}).ParseFS(templateFiles,
		"templates/frame.html", "templates/parts.html", "templates/"+page+".html")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range read.Templates() {
		if one.Tree != nil {
			trees = append(trees, one.Tree)
		}
	}
	return trees
}

// walk finds the ids in calls of the methods of a frame that give texts.
func walk(node parse.Node, found func(ids []parse.Node)) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				walk(child, found)
			}
		}
	case *parse.ActionNode:
		walk(node.Pipe, found)
	case *parse.IfNode:
		walkBranch(&node.BranchNode, found)
	case *parse.RangeNode:
		walkBranch(&node.BranchNode, found)
	case *parse.WithNode:
		walkBranch(&node.BranchNode, found)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			walkCommand(command, found)
		}
	}
}

func walkBranch(branch *parse.BranchNode, found func(ids []parse.Node)) {
	walk(branch.Pipe, found)
	walk(branch.List, found)
	walk(branch.ElseList, found)
}

func walkCommand(command *parse.CommandNode, found func(ids []parse.Node)) {
	switch called := command.Args[0].String(); {
	case strings.HasSuffix(called, ".T"):
		found(command.Args[1:2])
	case strings.HasSuffix(called, ".Either"):
		found(command.Args[2:4])
	}
	for _, argument := range command.Args {
		walk(argument, found)
	}
}

// idsOf are the ids that an argument stands for.
func idsOf(t *testing.T, argument parse.Node, families map[string][]string) []string {
	t.Helper()
	switch argument := argument.(type) {
	case *parse.StringNode:
		return []string{argument.Text}
	case *parse.PipeNode:
		var pattern strings.Builder
		for _, part := range argument.Cmds[0].Args[1:] { // of print
			if text, ok := part.(*parse.StringNode); ok {
				pattern.WriteString(text.Text)
			} else {
				pattern.WriteString("*")
			}
		}
		words, known := families[pattern.String()]
		if !known {
			t.Errorf("nothing is known of the words in %s", pattern.String())
		}
		ids := make([]string, len(words))
		for i, word := range words {
			ids[i] = strings.Replace(pattern.String(), "*", word, 1)
		}
		return ids
	}
	return nil // a field, whose values are in the code
}

// anID is what a literal of the code looks like that is the id of a text.
var anID = regexp.MustCompile(`^[a-z][a-z-]*(\.[a-z][a-z_-]*)+$`)

// askedByCode are the ids of texts that the code of this package names.
func askedByCode(t *testing.T) (ids []string) {
	t.Helper()
	eachLiteral(t, func(text string) {
		if anID.MatchString(text) {
			ids = append(ids, text)
		}
	})
	return append(ids, "date")
}

// eachLiteral sees the strings of the code of this package.
func eachLiteral(t *testing.T, see func(text string)) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					see(text)
				}
			}
			return true
		})
	}
}

// The pages that say one thing are those that the code writes.
func TestNotes(t *testing.T) {
	t.Parallel()
	var said []string
	eachLiteral(t, func(text string) {
		if slices.Contains(notes, text) {
			said = append(said, text)
		}
	})
	for _, note := range notes {
		if !slices.Contains(said, note) {
			t.Errorf("nobody writes %s", note)
		}
	}
}

// A text that depends on to whom it is said is there for all of them.
func TestWordsForEverybody(t *testing.T) {
	t.Parallel()
	for _, words := range readWordsOfPage(t).words {
		for id := range words.texts {
			said, toPatients := strings.CutSuffix(id, ".you")
			for _, other := range []string{".child", ".other"} {
				if toPatients && !words.has(said+other) {
					t.Errorf("%s: there is %s and no %s", words.Tag, id, said+other)
				}
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	v := readWordsOfPage(t)
	for wanted, want := range map[string]string{
		"": "en", "de": "de", "de-AT": "de", "en": "en", "en-US": "en-US", "en-GB": "en", "fr": "en", "fr;q=0.9, de;q=0.5": "de", "*": "en", "\x00;;q": "en",
		"en-US,en;q=0.5": "en-US", "pl, en-US;q=0.1": "en-US",
	} {
		if got := v.In(wanted); got.Tag != want || got.Direction() != "ltr" {
			t.Errorf("%q: got %s, %s", wanted, got.Tag, got.Direction())
		}
	}
	for tag, want := range map[string]string{"ar": "rtl", "he": "rtl", "fa-IR": "rtl", "ur": "rtl", "az-Arab": "rtl", "az": "ltr", "uk": "ltr", "zh": "ltr"} {
		if got := (&Words{Tag: tag}).Direction(); got != want {
			t.Errorf("%s is written %s", tag, got)
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	v := readWordsOfPage(t)
	evening := time.Date(2027, time.March, 4, 23, 30, 0, 0, time.FixedZone("", -3600)) // the fifth in UTC
	for tag, want := range map[string]string{"en": "5 March 2027", "en-US": "March 5, 2027", "de": "5. März 2027"} {
		if got := v.In(tag).date(evening); got != want {
			t.Errorf("%s: got %q", tag, got)
		}
		if months := strings.Fields(v.In(tag).text("date.months")); len(months) != 12 {
			t.Errorf("%s has the months %q", tag, months)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	f := frame{Who: "child", Words: &Words{texts: map[string]string{"a": "{x} of {y}, {x}", "b": "any", "b.child": "yours", "c": "{number}!", "d": "none"}}}
	for got, want := range map[string]string{
		f.T("a", "x", 1, "y", "two"): "1 of two, 1", f.T("b"): "yours", f.T("gone"): "[gone]",
		f.Either("112", "c", "d"): "112!", f.Either("", "c", "d"): "none",
		f.Problem(&problem{"c", []string{"number", "7"}}): "7!", string(f.Dial("+49 (30) 12-34")): "tel:+49301234",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What does not fit together is refused when a program starts, with the file and the id.
func TestUnfinishedWords(t *testing.T) {
	t.Parallel()
	const english = "a: one\nb: \"{count} of them\"\n"
	for _, test := range []struct{ name, content, says string }{
		{"de", "a: eins\n", "reading the words of the page in words/de.yaml: b: missing"},
		{"de", "a: eins\nb: \"{count} davon\"\nc: drei\n", "words/de.yaml: c: expected an id that English has"},
		{"de", "a: eins\nb: zwei\n", "words/de.yaml: b: expected places for [count], as in English, got []"},
		{"de", "a: eins\nb: \"{zahl} davon\"\n", "b: expected places for [count], as in English, got [zahl]"},
		{"en-us", "a: one\n", "words/en-us.yaml: a: it says what the language says anyway"},
		{"de", "a: [eins\n", "reading the words of the page in words/de.yaml: "},
		{"de", "a: eins\na: zwei\n", "reading the words of the page in words/de.yaml: "},
		{"en", "a: [", "reading the words of the page in words/en.yaml: "},
	} {
		files := fstest.MapFS{"words/en.yaml": {Data: []byte(english)}}
		files["words/"+test.name+".yaml"] = &fstest.MapFile{Data: []byte(test.content)}
		if _, err := readVocabulary(files); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s, %q: got %v\nwant %s", test.name, test.content, err, test.says)
		}
	}
	if _, err := readVocabulary(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "words/en.yaml") {
		t.Errorf("without English: got %v", err)
	}
}

// A kind of a language says only what it says otherwise.
func TestKindsOfALanguage(t *testing.T) {
	t.Parallel()
	var files fs.FS = fstest.MapFS{
		"words/en.yaml": {Data: []byte("a: colour\nb: \"{n}\"\n")}, "words/en-us.yaml": {Data: []byte("a: color\n")},
		"words/de.yaml": {Data: []byte("a: Farbe\nb: \"{n}.\"\n")}, "words/de-at.yaml": {Data: []byte("a: Farb\n")},
	}
	v, err := readVocabulary(files)
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"en": "colour 1", "en-US": "color 1", "de": "Farbe 1.", "de-AT": "Farb 1."} {
		words := v.In(tag)
		if got := words.text("a") + " " + words.text("b", "n", "1"); got != want || words.Tag != tag {
			t.Errorf("%s: got %q in %s", tag, got, words.Tag)
		}
	}
}
