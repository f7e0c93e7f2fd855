// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// runCommand runs the command with the given arguments and returns its output.
func runCommand(t *testing.T, arguments ...string) string {
	t.Helper()
	var c command
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommandPrintsSelectedSet(t *testing.T) {
	t.Parallel()
	got := runCommand(t, "--part", "work", "--language", "en", "--style", "chat")
	for _, want := range []string{"work en: ", " all ", " chat ", "mentions P", "negation P"} {
		if !strings.Contains(got, want) {
			t.Errorf("output does not contain %q:\n%s", want, got)
		}
	}
	for _, unwanted := range []string{"measure", "work de", "forum"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("output contains %q:\n%s", unwanted, got)
		}
	}
}

// TestHoldoutSentencesStayHidden checks that the command does not show the misses of the
// held-out set unless explicitly requested.
func TestHoldoutSentencesStayHidden(t *testing.T) {
	t.Parallel()
	output := runCommand(t, "--part", "measure", "--language", "en", "--style", "chat", "--worst", "1000")
	for _, s := range filterSentences(loadSet(t, dataset.Holdout), "en", "chat") {
		if strings.Contains(output, s.ID) || strings.Contains(output, s.Text) {
			t.Errorf("output contains %s", s.ID)
		}
	}
}

func TestPrintScores(t *testing.T) {
	t.Parallel()
	outcomes := []outcome{
		evaluate(sentence{ID: "a", Style: "forum", Mentions: parseMentions("fever -cough")}, parseMentions("fever cough")),
		evaluate(sentence{ID: "b", Style: "chat", Mentions: parseMentions("-rash")}, parseMentions("-rash")),
	}
	var out strings.Builder
	if err := printScores(&out, "work en", outcomes); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	fields := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	for i, want := range []string{
		"work en: 2 sentences, 1 exact",
		"n mentions P R F1 right/wrong/missing concepts P R F1 right/wrong/missing negation P R F1 right/wrong/missing choices P R F1 right/wrong/missing",
		"all 2 0.667 0.667 0.667 2/1/1 1.000 1.000 1.000 3/0/0 1.000 0.500 0.667 1/0/1 1.000 0.500 0.667 1/0/1",
		"chat 1 1.000 1.000 1.000 1/0/0 1.000 1.000 1.000 1/0/0 1.000 1.000 1.000 1/0/0 1.000 1.000 1.000 1/0/0",
		"forum 1 0.500 0.500 0.500 1/1/1 1.000 1.000 1.000 2/0/0 1.000 0.000 0.000 0/0/1 1.000 0.000 0.000 0/0/1",
	} {
		if i >= len(lines) || fields(lines[i]) != want {
			t.Fatalf("line %d differs from %q:\n%s", i+1, want, out.String())
		}
	}
}

func TestPrintMisses(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printMisses(&out, []outcome{evaluate(sentence{
		ID: "en-1", Style: "chat", Text: "hot, no cough", Age: dataset.Age{Value: 34, Unit: "year"}, Sex: "male",
		Context: []string{"chills"}, Mentions: parseMentions("fever -cough"),
	}, parseMentions("-cough rash"))})
	want := `
en-1 chat 34 year male
  hot, no cough
  context   chills
  missing   fever
  wrong     rash
  right     -cough
`
	if got := out.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
