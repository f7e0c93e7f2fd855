// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// syntheticDraft returns a synthetic draft with numbers that sources can express: priors
// in episodes per 10,000, factors as relative risks, courses in minutes. Drafts do not
// keep the risks, so they are returned by condition, in the order of its factors.
func syntheticDraft(size modeltest.Size, seed uint64) (draft *model.Draft, risks [][]float64) {
	draft = modeltest.Synthetic(size, seed).Draft()
	addVariations(draft)
	for _, c := range draft.Conditions {
		c.Triage = model.Consultation // emergencies need a path, which synthetic drafts lack
		per10000 := c.Prior[model.Female][0] * 10000
		c.Prevalence = prevalenceClass(per10000)
		c.Course = defaultCourses[c.Acuteness]
		if c.Number%2 == 0 {
			c.Course = model.NewCourse(sourceCourse(c))
		}
		for sex := range c.Prior {
			for band := range c.Prior[sex] {
				c.Prior[sex][band] = per10000 / 10000
			}
		}
		var own []float64
		for i := range c.Factors {
			f := &c.Factors[i]
			own = append(own, f.Present)
			f.Present, f.Absent = oddsMultipliers(f.Present, f.Observation.Leak)
		}
		risks = append(risks, own)
	}
	return draft, risks
}

// sourceCourse returns the middle 80 % of a condition's course, as written in the
// sources, in minutes.
func sourceCourse(c *model.DraftCondition) (from, to float64) {
	return float64(c.Number), float64(100*c.Number + 1)
}

// addVariations adds features that sources can express but a synthetic draft lacks:
// laboratory results, children with other relations, and ordered groups.
func addVariations(draft *model.Draft) {
	parents := map[*model.DraftObservation]bool{}
	for _, o := range draft.Observations {
		parents[o.Parent] = true
	}
	for _, o := range draft.Observations {
		if o.Kind == model.Symptom && o.Parent == nil && !parents[o] && o.Number%3 == 0 {
			o.Kind = model.LabResult
			addToLabTest(draft, o)
		}
	}
	for _, g := range draft.Groups {
		relation := model.LocationRelation
		if g.Ordered = g.Type == model.GroupSingle; g.Ordered {
			relation = model.SeverityRelation
		}
		for _, item := range g.Items {
			item.Relation, item.DurationFrom, item.DurationTo = relation, 0, 0
		}
	}
	for i, o := range draft.Observations {
		o.Topic = model.Topic(i % 2)
		if o.Relation == model.DurationRelation && i%3 == 0 {
			o.DurationFrom, o.DurationTo = uint32(i), uint32(2*i+1)
		}
	}
}

// addToLabTest makes an observation the next result of the last test, or of a new test if
// the last one has three results.
func addToLabTest(draft *model.Draft, o *model.DraftObservation) {
	const results = 3
	last := len(draft.LabTests) - 1
	if last < 0 || len(draft.LabTests[last].Results) >= results {
		last++
		draft.LabTests = append(draft.LabTests, &model.DraftLabTest{
			Number: uint32(last + 1), Name: fmt.Sprintf("Laboratory test %d", last+1), CommonName: fmt.Sprintf("Test %d", last+1), Category: "Blood",
		})
	}
	t := draft.LabTests[last]
	t.Results = append(t.Results, o)
	o.LabResult = model.ResultType(len(t.Results))
}

// draftSlug returns a slug made of the kind and number of an observation.
func draftSlug(o *model.DraftObservation) string { return fmt.Sprintf("%v_%d", o.Kind, o.Number) }

// renderSources returns a draft as sources.
func renderSources(draft *model.Draft, risks [][]float64) fstest.MapFS {
	var registry, core, words, categories strings.Builder
	registry.WriteString("specialists: {gp: sp_1}\n")
	writeCategories(draft, &registry, &categories)
	writeObservations(draft, &registry, &core, &words)
	writeGroups(draft, &core, &words)
	writeLabTests(draft, &registry, &core, &words)
	writeConditions(draft, risks, &registry, &core, &words)
	files := fstest.MapFS{}
	writeArticles(draft, files)
	m := draft.Meta
	language := fmt.Sprintf("model: %s\nlanguage: %s\nchoices: {present: %q, absent: %q, unknown: %q}\nspecialists: {gp: %s}\ncategories: {%s}\n",
		m.ModelID, m.Language, m.ChoicePresent, m.ChoiceAbsent, m.ChoiceUnknown, draft.Specialists[0].Name, categories.String())
	language += fmt.Sprintf("lab_categories: {blood: Blood}\nquestions: {duration: %q, duration_third_person: %q}\n", m.DurationQuestion, m.DurationQuestionThirdPerson)
	for name, text := range map[string]string{
		"core/release.yaml":     "version: " + m.Version + "\ncourse: {from: 6h, to: 1y}\n",
		"core/registry.yaml":    registry.String(),
		"core/all.yaml":         core.String(),
		"lang/en/language.yaml": language,
		"lang/en/all.yaml":      words.String(),
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func writeCategories(draft *model.Draft, registry, words *strings.Builder) {
	registry.WriteString("categories:\n")
	for _, category := range draft.Categories {
		fmt.Fprintf(registry, "  category_%d: cc_%d\n", category.Number, category.Number)
		fmt.Fprintf(words, "category_%d: %q, ", category.Number, category.Name)
	}
}

func writeObservations(draft *model.Draft, registry, core, words *strings.Builder) {
	registry.WriteString("observations:\n")
	core.WriteString("observations:\n")
	words.WriteString("observations:\n")
	for _, o := range draft.Observations {
		fmt.Fprintf(registry, "  %s: %s\n", draftSlug(o), model.FormatID(o.Kind.Prefix(), o.Number))
		fmt.Fprintf(core, "  - slug: %s\n    kind: %v\n    background: %v\n    sex: %v\n    seriousness: %v\n", draftSlug(o), o.Kind, o.Leak, o.Sex, o.Seriousness)
		if o.Parent != nil {
			fmt.Fprintf(core, "    parent: %s\n    relation: %v\n", draftSlug(o.Parent), o.Relation)
		}
		fmt.Fprintf(core, "    topic: %v\n", o.Topic)
		switch o.DurationTo {
		case 0:
		case model.NoUpperBound:
			fmt.Fprintf(core, "    lasts: {from: %dmin}\n", o.DurationFrom)
		default:
			fmt.Fprintf(core, "    lasts: {from: %dmin, to: %dmin}\n", o.DurationFrom, o.DurationTo)
		}
		fmt.Fprintf(words, "  %s:\n    name: %q\n    common_name: %q\n    question: %q\n    question_third_person: %q\n    synonyms: [%s]\n",
			draftSlug(o), o.Name, o.CommonName, o.Question, o.QuestionThirdPerson, quoteList(o.Synonyms))
	}
}

func quoteList(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(list, ", ")
}

// writeArticles writes the articles, with the kinds of nodes that synthetic articles use.
func writeArticles(draft *model.Draft, files fstest.MapFS) {
	for _, c := range draft.Conditions {
		if c.Article == nil {
			continue
		}
		text := "# " + renderMarkdown(c.Article.Title.Children) + "\n"
		for _, s := range c.Article.Sections {
			text += fmt.Sprintf("\n## %s {#%v}\n\n%s", renderMarkdown(s.Title.Children), s.Name, renderMarkdown(s.Content))
		}
		files[fmt.Sprintf("lang/en/articles/condition_%d.md", c.Number)] = &fstest.MapFile{Data: []byte(text)}
	}
}

func renderMarkdown(nodes []model.DraftNode) string {
	var b strings.Builder
	for _, n := range nodes {
		words := renderMarkdown(n.Children)
		switch n.Type {
		case model.TextNode:
			b.WriteString(n.Text)
		case model.LinkNode:
			b.WriteString("[" + words + "](" + n.Text + ")")
		case model.Heading1Node:
			b.WriteString("### " + words + "\n\n")
		case model.ListItemNode:
			b.WriteString("- " + words + "\n")
		default:
			b.WriteString(words + "\n\n")
		}
	}
	return b.String()
}

func writeGroups(draft *model.Draft, core, words *strings.Builder) {
	core.WriteString("groups:\n")
	words.WriteString("groups:\n")
	for i, g := range draft.Groups {
		fmt.Fprintf(core, "  - slug: group_%d\n    type: %v\n    ordered: %t\n    parent: %s\n    items:\n", i, g.Type, g.Ordered, draftSlug(g.Parent))
		for _, item := range g.Items {
			fmt.Fprintf(core, "      - %s\n", draftSlug(item))
		}
		fmt.Fprintf(words, "  group_%d: {question: %q, question_third_person: %q}\n", i, g.Question, g.QuestionThirdPerson)
	}
}

func writeLabTests(draft *model.Draft, registry, core, words *strings.Builder) {
	registry.WriteString("lab_tests:\n")
	core.WriteString("lab_tests:\n")
	words.WriteString("lab_tests:\n")
	for _, t := range draft.LabTests {
		fmt.Fprintf(registry, "  test_%d: lab_%d\n", t.Number, t.Number)
		fmt.Fprintf(core, "  - slug: test_%d\n    category: blood\n    results:\n", t.Number)
		for _, o := range t.Results {
			fmt.Fprintf(core, "      %v: %s\n", o.LabResult, draftSlug(o))
		}
		fmt.Fprintf(words, "  test_%d: {name: %q, common_name: %q}\n", t.Number, t.Name, t.CommonName)
	}
}

func writeConditions(draft *model.Draft, risks [][]float64, registry, core, words *strings.Builder) {
	registry.WriteString("conditions:\n")
	core.WriteString("conditions:\n")
	words.WriteString("conditions:\n")
	for i, c := range draft.Conditions {
		fmt.Fprintf(registry, "  condition_%d: c_%d\n", c.Number, c.Number)
		fmt.Fprintf(words, "  condition_%d: {name: %q, common_name: %q, hint: %q, synonyms: [%s]}\n", c.Number, c.Name, c.CommonName, c.Hint, quoteList(c.Synonyms))
		fmt.Fprintf(core, "  - slug: condition_%d\n    categories: [category_%d]\n    specialists: [gp]\n    sources: [made up]\n", c.Number, c.Categories[0].Number)
		if c.Number%2 == 0 {
			from, to := sourceCourse(c)
			fmt.Fprintf(core, "    course: {from: %vmin, to: %vmin}\n", from, to)
		}
		fmt.Fprintf(core, "    acuteness: %v\n    severity: %v\n    triage_level: %v\n    channel: %v\n", c.Acuteness, c.Severity, c.Triage, c.Channel)
		fmt.Fprintf(core, "    prior: {per_10000: %v}\n    findings:\n", c.Prior[model.Female][0]*10000)
		for _, f := range c.Findings {
			fmt.Fprintf(core, "      %s: %v\n", draftSlug(f.Observation), f.Probability)
		}
		core.WriteString("    risk_factors:\n")
		for k, f := range c.Factors {
			fmt.Fprintf(core, "      %s: %v\n", draftSlug(f.Observation), risks[i][k])
		}
	}
}

// TestCompileRoundTripsSyntheticDraft checks that rendering a draft as sources and
// compiling it returns the same draft with default details added: YAML loses, swaps and
// rounds nothing.
func TestCompileRoundTripsSyntheticDraft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := modeltest.Size{
			Conditions:   rapid.IntRange(1, 12).Draw(t, "conditions"),
			Observations: rapid.IntRange(20, 80).Draw(t, "observations"),
		}
		size.Links = size.Conditions * rapid.IntRange(1, 8).Draw(t, "links of each condition")
		draft, risks := syntheticDraft(size, rapid.Uint64().Draw(t, "seed"))
		content := renderSources(draft, risks)
		// per_10000 is written as text: 1.23e-05*10000/10000 may differ from the drawn number in
		// the last bit, in the sources and the draft alike.
		for _, c := range draft.Conditions {
			base := c.Prior[model.Female][0] * 10000 / 10000
			for sex := range c.Prior {
				for band := range c.Prior[sex] {
					c.Prior[sex][band] = base
				}
			}
		}
		result, err := Compile(content, "en")
		if err != nil {
			t.Fatal(err)
		}
		addDefaultDetails(draft)
		drawNames(t, draft)
		want, err := model.Encode(draft.Build())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(result.Release, want) {
			t.Fatal("the sources of the draft compile to something else")
		}
	})
}

// drawNames draws names for the observations of a draft that free text can match.
func drawNames(t *rapid.T, draft *model.Draft) {
	var concepts []lexicon.Concept
	for _, o := range draft.Observations {
		if o.Kind != model.LabResult {
			words := &source.Localization{Name: source.Scalar{Text: o.Name}, CommonName: source.Scalar{Text: o.CommonName}}
			for _, synonym := range o.Synonyms {
				words.Synonyms = append(words.Synonyms, source.Scalar{Text: synonym})
			}
			concepts = append(concepts, lexicon.Concept{Slug: model.FormatID(o.Kind.Prefix(), o.Number), Observation: o, Localization: words})
		}
	}
	var problems source.Problems
	lexicon.Compile(draft, concepts, nil, &problems)
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
}

// BenchmarkCompileFullSize compiles sources of the size of a full catalog.
func BenchmarkCompileFullSize(b *testing.B) {
	content := renderSources(syntheticDraft(modeltest.FullSize, modeltest.Seed))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(content, "en"); err != nil {
			b.Fatal(err)
		}
	}
}
