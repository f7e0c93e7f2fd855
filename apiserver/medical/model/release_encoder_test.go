// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// familyBuilder returns a builder of a release with content in every section.
func familyBuilder() *modeltest.Builder {
	return modeltest.New().
		Condition("c_2", 0.02, func(c *model.DraftCondition) {
			c.ICD10, c.Hint, c.Synonyms = "G43.9", "Rest.", []string{"megrim", "sick headache"}
		}).
		Condition("c_1", 0.1).
		Symptom("s_1", 0.05, func(o *model.DraftObservation) { o.Synonyms = []string{"head pain"} }).
		Child("s_2", "s_1", model.SeverityRelation, 0.03).
		Child("s_3", "s_1", model.SeverityRelation, 0.004).
		Symptom("s_4", 0.02).
		RiskFactor("p_7", 0.2).
		Alias("p_3", "p_7").Alias("s_9", "s_4").Alias("s_8", "s_1").
		LabResult("lt_1", 0.01).LabResult("lt_2", 0.3).LabResult("lt_3", 0.1).
		LabTest("lab_1", "Ketones", map[string]model.ResultType{"lt_1": model.ResultPresent}).
		LabTest("lab_2", "Sodium", map[string]model.ResultType{"lt_2": model.Low, "lt_3": model.VeryLow}).
		Drug("d_7", "Nicotine", "N07BA01", []string{"p_7"}).Drug("d_2", "Estradiol", "G03CA03", nil).
		ChronicDisease("c_2", "p_7").ChronicDisease("c_1").Hospitalizations("p_7").
		Article("c_1", "Migraine", modeltest.Section(model.SummarySection, "In short", modeltest.Text("It hurts."))).
		Article("c_2", "Influenza", modeltest.Section(model.SummarySection, "In short", modeltest.Link("https://example.org", "It hurts too."))).
		OrderedGroup("s_2", "s_3").
		Group(model.GroupMultiple, "s_4").
		Tuple(model.Emergency, "s_4", "s_1").
		Link("c_2", "s_1", 0.99).Link("c_2", "s_3", 0.6).Link("c_2", "s_2", 0.2).
		Link("c_1", "s_1", 0.3).Link("c_1", "lt_1", 0.9).
		Factor("c_2", "p_7", 2, 0.8).Factor("c_1", "p_7", 1.5, 0.9).Factor("c_1", "s_4", 0.3, 1.2)
}

func TestBuildSortsAndLinksBothDirections(t *testing.T) {
	t.Parallel()
	r := familyBuilder().Build(t)

	if got := []string{r.ConditionID(0), r.ConditionID(1)}; !slices.Equal(got, []string{"c_1", "c_2"}) {
		t.Errorf("conditions are in order %v", got)
	}
	headache, _ := r.ObservationByID("s_1")
	mild, _ := r.ObservationByID("s_2")
	severe, _ := r.ObservationByID("s_3")
	o := r.Observations[headache]
	if got := model.Slice(r.ChildRefs, o.Children); !slices.Equal(got, []model.ObservationIndex{mild, severe}) {
		t.Errorf("children of s_1 are %v", got)
	}
	if r.Observations[severe].Parent != headache || r.Observations[severe].Relation != model.SeverityRelation {
		t.Errorf("s_3 has parent %d by %v", r.Observations[severe].Parent, r.Observations[severe].Relation)
	}
	var conditions []int32
	for _, link := range model.Slice(r.LinksByObservation, o.Links) {
		conditions = append(conditions, link.Other)
	}
	if !slices.Equal(conditions, []int32{0, 1}) {
		t.Errorf("s_1 is linked to conditions %v", conditions)
	}
	overweight, _ := r.ObservationByID("p_7")
	factors := model.Slice(r.Factors, r.Observations[overweight].Factors)
	want := []model.Factor{{Condition: 0, Present: 1.5, Absent: 0.9}, {Condition: 1, Present: 2, Absent: 0.8}}
	for i, f := range want {
		carriers := model.Slice(r.ConditionFactors, r.Conditions[f.Condition].Factors)
		share := model.FactorProbability(0.2, f.Present, f.Absent)
		at := slices.IndexFunc(carriers, func(c model.ConditionFactor) bool { return c.Observation == overweight })
		if at < 0 || carriers[at].Probability != share || carriers[at].Entropy != model.BinaryEntropy(share) {
			t.Errorf("factor %d: the carriers are %v, want a share of %v", i, carriers, share)
		}
	}
	if !slices.Equal(factors, want) {
		t.Errorf("factors of p_7 are %v, want %v", factors, want)
	}
	group := r.Groups[r.Observations[severe].Group]
	if got := model.Slice(r.GroupItems, group.Items); !group.Ordered || group.Parent != headache || !slices.Equal(got, []model.ObservationIndex{mild, severe}) {
		t.Errorf("the group of s_3 is %+v with items %v", group, got)
	}
	nausea, _ := r.ObservationByID("s_4")
	if got := model.Slice(r.TupleItems, r.Tuples[0].Observations); !slices.Equal(got, []model.ObservationIndex{headache, nausea}) {
		t.Errorf("the tuple is of %v", got)
	}
}

func TestBuildDerivesLinkNumbers(t *testing.T) {
	t.Parallel()
	r := familyBuilder().Build(t)
	migraine, _ := r.ConditionByID("c_2")
	link := model.Slice(r.LinksByCondition, r.Conditions[migraine].Links)[0]
	if want := (0.99 - 0.05) / 0.95; math.Abs(link.Lambda-want) > 1e-15 {
		t.Errorf("lambda %v, want %v", link.Lambda, want)
	}
	if want := -0.99*math.Log(0.99) - 0.01*math.Log(0.01); math.Abs(link.Entropy-want) > 1e-15 {
		t.Errorf("entropy %v, want %v", link.Entropy, want)
	}
}

func TestBuildKeepsTexts(t *testing.T) {
	t.Parallel()
	r := familyBuilder().Build(t)
	migraine, _ := r.ConditionByID("c_2")
	headache, _ := r.ObservationByID("s_1")
	c, o := r.Conditions[migraine], r.Observations[headache]
	got := []string{r.Text(c.Name), r.Text(c.ICD10), r.Text(c.Hint), r.Text(o.Question), r.Text(r.Specialists[0].Name)}
	want := []string{"c_2", "G43.9", "Rest.", "s_1?", "General practitioner"}
	if !slices.Equal(got, want) {
		t.Errorf("the words are %q, want %q", got, want)
	}
	if got := r.Text(model.StringRef{}); got != "" {
		t.Errorf("text of the empty reference is %q", got)
	}
}

// wordingTexts returns the wordings of a concept, each with its kind.
func wordingTexts(r *model.Release, concept int32, condition bool) []string {
	var list []string
	for _, w := range r.Wordings {
		if w.Concept == concept && w.IsCondition == condition {
			list = append(list, w.Kind.String()+" "+r.Text(w.Text))
		}
	}
	return list
}

func TestBuildKeepsWordings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, commonName string
		synonyms         []string
		want             []string
	}{
		{"Migraine", "", nil, []string{"name Migraine"}},
		{"Migraine", "Migraine", nil, []string{"common_name Migraine"}},
		{"Migraine", "Sick headache", []string{"megrim"}, []string{"common_name Sick headache", "name Migraine", "synonym megrim"}},
		{"Migraine", "Migraine", []string{"b", "a", "b", "Migraine"}, []string{"common_name Migraine", "synonym b", "synonym a"}},
	} {
		r := modeltest.New().
			Condition("c_1", 0.1, func(c *model.DraftCondition) {
				c.Name, c.CommonName, c.Synonyms = test.name, test.commonName, test.synonyms
			}).
			Symptom("s_1", 0.1, func(o *model.DraftObservation) {
				o.Name, o.CommonName, o.Synonyms = test.name, test.commonName, test.synonyms
			}).
			Build(t)
		for _, condition := range []bool{false, true} {
			if diff := cmp.Diff(test.want, wordingTexts(r, 0, condition)); diff != "" {
				t.Errorf("%+v, of a condition %t: %s", test, condition, diff)
			}
		}
		if r.Wordings[0].IsCondition || !r.Wordings[len(r.Wordings)-1].IsCondition {
			t.Error("the wordings of conditions do not stand behind those of observations")
		}
	}
}

// TestWordPostings checks that exactly the words of a wording refer to it.
func TestWordPostings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wording := rapid.OneOf(rapid.StringN(1, 12, -1), rapid.StringMatching(`[A-Ea-eé'’-]{1,3}( [A-Ea-eé]{1,3}){0,3}`))
		b := modeltest.New().Symptom("s_1", 0.1).Condition("c_1", 0.1)
		b.Draft().Observations[0].Synonyms = rapid.SliceOfN(wording, 0, 6).Draw(t, "of the symptom")
		b.Draft().Conditions[0].Synonyms = rapid.SliceOfN(wording, 0, 6).Draw(t, "of the condition")
		r := b.Build(t)
		want := map[string][]uint32{}
		for i, w := range r.Wordings {
			for word := range token.Words(r.Text(w.Text)) {
				if !slices.Contains(want[word], uint32(i)) {
					want[word] = append(want[word], uint32(i))
				}
			}
		}
		got := map[string][]uint32{}
		for _, w := range r.Words {
			got[r.Text(w.Text)] = model.Slice(r.WordPostings, w.Postings)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBuildLabTests(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		LabResult("lt_9", 0.1).LabResult("lt_2", 0.1).LabResult("lt_3", 0.7).LabResult("lt_4", 0.05).
		LabTest("lab_7", "Sodium", map[string]model.ResultType{"lt_3": model.Normal, "lt_2": model.High, "lt_9": model.Low}).
		LabTest("lab_2", "Ketones", map[string]model.ResultType{"lt_4": model.ResultPresent}).
		Build(t)
	var got []string
	for i, test := range r.LabTests {
		line := r.LabTestID(i) + " " + r.Text(test.Name)
		for _, o := range model.Slice(r.LabResultRefs, test.Results) {
			line += " " + r.ObservationID(o) + " " + r.Observations[o].LabResult.String()
			if g := r.Groups[r.Observations[o].Group]; g.Type != model.GroupSingle || g.Parent != model.None || g.Question.Length != 0 || g.Items.Len() != test.Results.Len() {
				t.Errorf("the group of %s is %+v", r.ObservationID(o), g)
			}
		}
		got = append(got, line)
	}
	want := []string{"lab_2 Ketones lt_4 present", "lab_7 Sodium lt_9 low lt_3 normal lt_2 high"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(r.Groups) != 2 {
		t.Errorf("there are %d groups", len(r.Groups))
	}
}

// drawNodes draws article nodes, a few levels deep.
func drawNodes(t *rapid.T, depth int, lists bool) []model.DraftNode {
	var nodes []model.DraftNode
	for range rapid.IntRange(0, 3).Draw(t, "nodes") {
		of := model.ListItemNode
		if !lists {
			of = model.NodeType(rapid.IntRange(int(model.ParagraphNode), int(model.OrderedListNode)).Draw(t, "type"))
		}
		switch {
		case of == model.TextNode || depth == 0 && !lists:
			nodes = append(nodes, modeltest.Text(rapid.StringN(1, 9, -1).Draw(t, "text")))
		case of == model.LinkNode:
			nodes = append(nodes, modeltest.Link("https://example.org", "there"))
		default:
			nodes = append(nodes, modeltest.Node(of, drawNodes(t, max(depth-1, 0), of == model.UnorderedListNode || of == model.OrderedListNode)...))
		}
	}
	return nodes
}

// draftNode converts a node of a release back to its draft.
func draftNode(r *model.Release, at uint32) model.DraftNode {
	n := r.Nodes[at]
	return model.DraftNode{Type: n.Type, Text: r.Text(n.Text), Children: draftNodes(r, n.Children)}
}

func draftNodes(r *model.Release, span model.Span) []model.DraftNode {
	var nodes []model.DraftNode
	for at := span.Start; at < span.End; at++ {
		nodes = append(nodes, draftNode(r, at))
	}
	return nodes
}

func TestArticlesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := modeltest.New().Condition("c_1", 0.1).Condition("c_2", 0.1).Condition("c_3", 0.1)
		want := map[string]*model.DraftArticle{}
		for _, id := range []string{"c_3", "c_1"} {
			var sections []model.DraftSection
			for _, name := range rapid.SliceOfDistinct(rapid.Uint8Range(0, uint8(model.SourcesSection)), rapid.ID[uint8]).Draw(t, "sections") {
				sections = append(sections, modeltest.Section(model.SectionName(name), "About", drawNodes(t, 3, false)...))
			}
			b.Article(id, "Article of "+id, sections...)
		}
		for _, c := range b.Draft().Conditions {
			if c.Article != nil {
				want[model.FormatID("c_", c.Number)] = c.Article
			}
		}
		r := b.Build(t)
		got := map[string]*model.DraftArticle{}
		for i, c := range r.Conditions {
			if c.Article == model.None {
				continue
			}
			a := r.Articles[c.Article]
			draft := &model.DraftArticle{Title: draftNode(r, a.Title)}
			for _, s := range model.Slice(r.ArticleSections, a.Sections) {
				draft.Sections = append(draft.Sections, model.DraftSection{Name: s.Name, Title: draftNode(r, s.Title), Content: draftNodes(r, s.Content)})
			}
			got[r.ConditionID(model.ConditionIndex(i))] = draft
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBuildIsIndependentOfInputOrder(t *testing.T) {
	t.Parallel()
	turned := familyBuilder()
	slices.Reverse(turned.Draft().Conditions)
	slices.Reverse(turned.Draft().Observations)
	slices.Reverse(turned.Draft().LabTests)
	slices.Reverse(turned.Draft().Drugs)
	slices.Reverse(turned.Draft().ChronicDiseases)
	for _, c := range turned.Draft().Conditions {
		slices.Reverse(c.Findings)
		slices.Reverse(c.Factors)
	}
	if !bytes.Equal(familyBuilder().Bytes(t), turned.Bytes(t)) {
		t.Error("the order of the draft shows in the bytes")
	}
}

func TestBuildPanicsOnUnlistedConcept(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.1)
	b.Draft().Conditions[0].Findings = []model.DraftFinding{{Observation: &model.DraftObservation{}, Probability: 0.5}}
	defer func() {
		if recover() == nil {
			t.Error("the draft was laid out")
		}
	}()
	b.Draft().Build()
}

// TestBuildArbitraryLabTests checks that every result ends up in its own test, sorted,
// and mutually exclusive with the other results of the test.
func TestBuildArbitraryLabTests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := modeltest.New().Symptom("s_1", 0.1).Symptom("s_2", 0.1).Group(model.GroupMultiple, "s_1", "s_2")
		want := map[string]map[string]model.ResultType{}
		next := 0
		for _, number := range rapid.SliceOfNDistinct(rapid.Uint32Range(1, 50), 0, 5, rapid.ID[uint32]).Draw(t, "tests") {
			results := map[string]model.ResultType{}
			for _, of := range rapid.SliceOfNDistinct(rapid.Uint8Range(uint8(model.VeryLow), uint8(model.ResultPresent)), 1, 7, rapid.ID[uint8]).Draw(t, "results") {
				next += rapid.IntRange(1, 9).Draw(t, "step")
				id := model.FormatID(model.LabResultPrefix, uint32(next))
				b.LabResult(id, 0.1)
				results[id] = model.ResultType(of)
			}
			id := model.FormatID(model.LabTestPrefix, number)
			b.LabTest(id, "Test", results)
			want[id] = results
		}
		slices.Reverse(b.Draft().Observations)
		r := b.Build(t)
		got := map[string]map[string]model.ResultType{}
		for i, test := range r.LabTests {
			refs := model.Slice(r.LabResultRefs, test.Results)
			results := map[string]model.ResultType{}
			for k, o := range refs {
				results[r.ObservationID(o)] = r.Observations[o].LabResult
				if k > 0 && r.Observations[refs[k-1]].LabResult >= r.Observations[o].LabResult {
					t.Fatalf("the results of %s are out of order", r.LabTestID(i))
				}
				if g := r.Groups[r.Observations[o].Group]; g.Type != model.GroupSingle || !slices.Equal(model.Slice(r.GroupItems, g.Items), refs) {
					t.Fatalf("the results of %s are in the group %+v", r.LabTestID(i), g)
				}
			}
			got[r.LabTestID(i)] = results
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestBuildPanicsOnUnlistedLabResult checks that Build panics on a reference to a result
// that the draft does not list.
func TestBuildPanicsOnUnlistedLabResult(t *testing.T) {
	t.Parallel()
	b := modeltest.New().LabResult("lt_1", 0.1).LabTest("lab_1", "Iron", map[string]model.ResultType{"lt_1": model.Low})
	b.Draft().LabTests[0].Results = []*model.DraftObservation{{Kind: model.LabResult, Number: 2, LabResult: model.High}}
	defer func() {
		if recover() == nil {
			t.Error("the draft was laid out")
		}
	}()
	b.Draft().Build()
}

// TestDurationsRoundTrip checks that duration ranges and courses survive a round trip
// through a file.
func TestDurationsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Uint32Range(0, model.NoUpperBound-1).Draw(t, "from")
		to := rapid.Uint32Range(from+1, model.NoUpperBound).Draw(t, "to")
		course := model.Course{Mean: rapid.Float64Range(-50, 50).Draw(t, "mean"), StdDev: rapid.Float64Range(1e-9, 50).Draw(t, "deviation")}
		b := modeltest.New().
			Condition("c_1", 0.1, func(c *model.DraftCondition) { c.Course = course }).
			Symptom("s_1", 0.1, modeltest.WithTopic(model.Injury)).
			Child("s_2", "s_1", model.DurationRelation, 0.1, func(o *model.DraftObservation) { o.DurationFrom, o.DurationTo = from, to })
		b.Draft().Meta.LeakCourse = course
		r := b.Build(t)
		if o := r.Observations[1]; o.DurationFrom != from || o.DurationTo != to || r.Observations[0].Topic != model.Injury {
			t.Fatalf("it lasts from %d to %d, want %d to %d", o.DurationFrom, o.DurationTo, from, to)
		}
		if r.Conditions[0].Course != course || r.Meta.LeakCourse != course {
			t.Fatalf("the courses are %v and %v, want %v", r.Conditions[0].Course, r.Meta.LeakCourse, course)
		}
	})
}
