// SPDX-License-Identifier: Apache-2.0

package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
	"time"

	"golang.org/x/text/language"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

func mustReadMessages(t testing.TB) *i18n.Catalog {
	t.Helper()
	v, err := i18n.Load(content.Texts, "page")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// messageIDFamilies maps a message ID with a * to the words that templates insert.
func messageIDFamilies() map[string][]string {
	levels := formatValues(model.SelfCare, model.Consultation, model.Consultation24, model.Emergency, model.EmergencyAmbulance)
	types := formatValues(record.TypeTriage, record.TypeIntake, record.TypeFollowUp)
	return map[string][]string{
		"section.*": section.Names(), "start.title.*": types, "start.end.*": types, "list.type.*": types,
		"list.*":         append(formatValues(record.StatusNew, record.StatusPending, record.StatusCompleted), "expired"),
		"find.label.*":   {record.SymptomList, record.ChronicDiseaseList, record.DrugList, record.SpecialistList, record.HospitalizationList},
		"result.level.*": levels, "result.do.*": levels, "result.sex.*": {"female", "male"},
		"result.age.*": {"year", "month"}, "result.age.one.*": {"year", "month"},
		"result.channel.*": formatValues(model.PersonalVisit, model.VideoTeleconsultation, model.AudioTeleconsultation, model.TextTeleconsultation),
		"why.*":            formatValues(inference.ReducedByNo, inference.MayBeRelated, inference.ReducedByNone, inference.RuledInOrOut, inference.MayBeCause, inference.RecentInjury, inference.MoreDetail),
		"*.title":          noticePages, "*.text": noticePages,
	}
}

// noticePages are the pages with a single message.
var noticePages = []string{"gone", "expired", "left", "missing", "busy", "broken", "crossed"}

// formatValues formats words as source code.
func formatValues[W any](values ...W) []string {
	words := make([]string, len(values))
	for i, value := range values {
		switch value := any(value).(type) {
		case interface{ String() string }:
			words[i] = value.String()
		case record.Type:
			words[i] = string(value)
		case record.Status:
			words[i] = string(value)
		}
	}
	return words
}

// TestMessagesMatchUsage checks that every message used by a page exists, and that every
// message is used.
func TestMessagesMatchUsage(t *testing.T) {
	t.Parallel()
	english := mustReadMessages(t).Languages()[0]
	asked := append(messageIDsInTemplates(t), messageIDsInCode(t)...)
	unused := map[string]bool{}
	for _, id := range english.IDs() {
		unused[id] = true
	}
	for _, id := range asked {
		if !english.Has(id) && !english.Has(id+".you") {
			t.Errorf("message %s not found", id)
		}
		for _, variant := range []string{"", ".you", ".child", ".other"} {
			delete(unused, id+variant)
		}
	}
	if len(unused) > 0 {
		t.Errorf("unused messages: %v", slices.Sorted(maps.Keys(unused)))
	}
	if len(asked) < 200 {
		t.Errorf("found only %d message IDs in use", len(asked))
	}
}

// messageIDsInTemplates returns the message IDs used in templates.
func messageIDsInTemplates(t *testing.T) (ids []string) {
	t.Helper()
	families := messageIDFamilies()
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		for _, one := range parseTemplateTrees(t, name) {
			walk(one.Root, func(asked []parse.Node) {
				for _, argument := range asked {
					ids = append(ids, resolveMessageIDs(t, argument, families)...)
				}
			})
		}
	}
	return ids
}

// parseTemplateTrees returns the parse trees of a page and its partials.
func parseTemplateTrees(t *testing.T, page string) (trees []*parse.Tree) {
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

// walk finds the message IDs in calls of frame methods that return messages.
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

// resolveMessageIDs returns the message IDs that an argument can have.
func resolveMessageIDs(t *testing.T, argument parse.Node, families map[string][]string) []string {
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
			t.Errorf("unknown message ID pattern %s", pattern.String())
		}
		ids := make([]string, len(words))
		for i, word := range words {
			ids[i] = strings.Replace(pattern.String(), "*", word, 1)
		}
		return ids
	}
	return nil // a field, whose values are in the code
}

// messageIDPattern matches string literals that are message IDs.
var messageIDPattern = regexp.MustCompile(`^[a-z][a-z-]*(\.[a-z][a-z_-]*)+$`)

// messageIDsInCode returns the message IDs used in the code of this package.
func messageIDsInCode(t *testing.T) (ids []string) {
	t.Helper()
	forEachLiteral(t, func(text string) {
		if messageIDPattern.MatchString(text) {
			ids = append(ids, text)
		}
	})
	return append(ids, "date")
}

// forEachLiteral visits the string literals in the code of this package.
func forEachLiteral(t *testing.T, visit func(text string)) {
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
					visit(text)
				}
			}
			return true
		})
	}
}

// TestNoticePages checks that the code renders exactly the known notice pages.
func TestNoticePages(t *testing.T) {
	t.Parallel()
	var variant []string
	forEachLiteral(t, func(text string) {
		if slices.Contains(noticePages, text) {
			variant = append(variant, text)
		}
	})
	for _, note := range noticePages {
		if !slices.Contains(variant, note) {
			t.Errorf("notice page %s is never rendered", note)
		}
	}
}

// TestMessagesForAllAudiences checks that messages with audience variants have one for every
// audience.
func TestMessagesForAllAudiences(t *testing.T) {
	t.Parallel()
	for _, words := range mustReadMessages(t).Languages() {
		for _, id := range words.IDs() {
			variant, toPatients := strings.CutSuffix(id, ".you")
			for _, other := range []string{".child", ".other"} {
				if toPatients && !words.Has(variant+other) {
					t.Errorf("%s: found message %s, but not %s", words.Tag, id, variant+other)
				}
			}
		}
	}
}

func TestFormatDate(t *testing.T) {
	t.Parallel()
	v := mustReadMessages(t)
	evening := time.Date(2027, time.March, 4, 23, 30, 0, 0, time.FixedZone("", -3600)) // the fifth in UTC
	for tag, want := range map[string]string{"en": "5 March 2027", "en-US": "March 5, 2027", "de": "5. März 2027"} {
		if got := formatDate(v.Match(tag), evening); got != want {
			t.Errorf("%s: got %q", tag, got)
		}
		if months := strings.Fields(v.Match(tag).Text("date.months")); len(months) != 12 {
			t.Errorf("%s: got months %q", tag, months)
		}
	}
}

func TestMessageText(t *testing.T) {
	t.Parallel()
	f := frame{Who: "child", Words: i18n.NewTexts(language.English, map[string]string{"a": "{x} of {y}, {x}", "b": "any", "b.child": "yours", "c": "{number}!", "d": "none"})}
	for got, want := range map[string]string{
		f.T("a", "x", 1, "y", "two"): "1 of two, 1", f.T("b"): "yours", f.T("gone"): "[gone]",
		f.Either("112", "c", "d"): "112!", f.Either("", "c", "d"): "none",
		f.Problem(&formError{"c", []string{"number", "7"}}): "7!", string(f.Dial("+49 (30) 12-34")): "tel:+49301234",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
