// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestDecodeRejectsInvalidReleases covers files with correct checksums and invalid
// content, from another compiler or an attacker. Each case breaks one property that
// readers rely on.
func TestDecodeRejectsInvalidReleases(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		spoil   func(r *Release)
		wantErr string
	}{
		{"no model id", func(r *Release) { r.Meta.ModelID = "" }, "\": expected lowercase letters, digits and dashes"},
		{"a model id that leaves the directory", func(r *Release) { r.Meta.ModelID = "../x" }, "\": expected lowercase letters, digits and dashes"},
		{"a model id like a flag", func(r *Release) { r.Meta.ModelID = "-x" }, "\": expected lowercase letters, digits and dashes"},
		{"a version that is no time", func(r *Release) { r.Meta.Version = "latest" }, "version"},
		{"a version with a fraction", func(r *Release) { r.Meta.Version = "2026-11-21T00:00:00.25Z" }, "version"},
		{"no language", func(r *Release) { r.Meta.Language = "" }, "language"},
		{"a question of the duration of nothing", func(r *Release) { r.Meta.DurationQuestion = "How long?" }, "duration question"},
		{"a question of the duration of two", func(r *Release) { r.Meta.DurationQuestionThirdPerson = "{symptom}, {symptom}?" }, "duration question"},
		{"a course that is no number", func(r *Release) { r.Meta.LeakCourse.Mean = 1e308; r.Meta.LeakCourse.StdDev = 0 }, "deviation 0"},
		{"no label", func(r *Release) { r.Meta.ChoiceUnknown = "" }, "missing language or choice label"},

		{"text over the end", func(r *Release) { r.Conditions[0].Name.Length = math.MaxUint32 }, "exceeds the strings section"},
		{"text behind the end", func(r *Release) { r.Conditions[0].Hint = StringRef{Offset: math.MaxUint32, Length: 1} }, "exceeds the strings section"},
		{"text that is no UTF-8", func(r *Release) { r.strings[r.Observations[0].Name.Offset] = 0xff }, "not UTF-8"},
		{"a specialist's text over the end", func(r *Release) { r.Specialists[0].Name.Offset = math.MaxUint32 }, "exceeds the strings section"},

		{"specialists out of order", func(r *Release) { r.Specialists[0].Number = 0 }, "specialist or category"},
		{"conditions out of order", func(r *Release) { r.Conditions[1].Number = 1 }, "condition number 1 is out of order after 1"},
		{"a condition numbered zero", func(r *Release) { r.Conditions[0].Number = 0 }, "condition number 0"},
		{"a condition without a name", func(r *Release) { r.Conditions[0].Name = StringRef{} }, "condition c_1: missing name"},
		{"a condition of no sex there is", func(r *Release) { r.Conditions[0].Sex = 3 }, "c_1: unknown sex"},
		{"a condition of no channel there is", func(r *Release) { r.Conditions[0].Channel = 4 }, "channel"},
		{"a condition of no severity there is", func(r *Release) { r.Conditions[0].Severity = 3 }, "severity"},
		{"a condition of no acuteness there is", func(r *Release) { r.Conditions[0].Acuteness = 4 }, "acuteness"},
		{"a condition of no prevalence there is", func(r *Release) { r.Conditions[0].Prevalence = 4 }, "prevalence"},
		{"a condition without a triage level", func(r *Release) { r.Conditions[0].Triage = NoTriageLevel }, "triage level"},
		{"a condition of no triage level there is", func(r *Release) { r.Conditions[0].Triage = 6 }, "triage level"},
		{"a condition of no age", func(r *Release) { r.Conditions[0].AgeFrom = MaxAgeMonths + 1 }, "_1: invalid age range from"},
		{"a prior of one", func(r *Release) { r.Conditions[0].Prior[Male][0] = 1 }, "prior 1"},
		{"a negative prior", func(r *Release) { r.Conditions[0].Prior[Male][0] = -0.1 }, "prior -0.1"},
		{"a prior that is no number", func(r *Release) { r.Conditions[0].Prior[Male][0] = math.NaN() }, "prior NaN"},
		{"a course of no mean", func(r *Release) { r.Conditions[0].Course.Mean = math.NaN() }, "c_1: invalid course with mean NaN"},
		{"a course of an endless mean", func(r *Release) { r.Conditions[0].Course.Mean = math.Inf(-1) }, "mean -Inf"},
		{"a course of no deviation", func(r *Release) { r.Conditions[0].Course.StdDev = 0 }, "deviation 0"},
		{"a course of a deviation that is no number", func(r *Release) { r.Conditions[0].Course.StdDev = math.NaN() }, "deviation NaN"},
		{"a course of an endless deviation", func(r *Release) { r.Conditions[0].Course.StdDev = math.Inf(1) }, "deviation +Inf"},
		{"links that overlap", func(r *Release) { r.Conditions[1].Links.Start-- }, "condition c_2: invalid range [2,6) of links by condition: expected a range from 3 that ends by 6"},
		{"links that run backwards", func(r *Release) { r.Conditions[0].Links = Span{0, 0}; r.Conditions[1].Links = Span{0, math.MaxUint32} }, "links by condition"},
		{"unreferenced links", func(r *Release) { r.Conditions[1].Links.End-- }, "section links by condition has 1 unreferenced records"},
		{"a category there is not", func(r *Release) { r.CategoryRefs[0] = 1 }, "category reference 1"},
		{"a specialist there is not", func(r *Release) { r.SpecialistRefs[1] = math.MaxUint32 }, "specialist reference"},
		{"unreferenced categories", func(r *Release) { r.CategoryRefs = append(r.CategoryRefs, 0) }, "section category references has 1 unreferenced records"},

		{"an observation of no kind there is", func(r *Release) { r.Observations[3].Kind = 3 }, "unknown kind"},
		{"observations out of order", func(r *Release) { r.Observations[1].Number = 1 }, "out of order"},
		{"kinds out of order", func(r *Release) { r.Observations[0].Kind = RiskFactor }, "out of order"},
		{"an observation numbered zero", func(r *Release) { r.Observations[3].Number = 0 }, "out of order"},
		{"an observation without a name", func(r *Release) { r.Observations[0].Name = StringRef{} }, "observation s_1: missing name"},
		{"an observation of no seriousness there is", func(r *Release) { r.Observations[0].Seriousness = 4 }, "seriousness"},
		{"an observation of no age", func(r *Release) { r.Observations[0].AgeTo = 0; r.Observations[0].AgeFrom = 1 }, "_1: invalid age range from"},
		{"a leak of zero", func(r *Release) { r.Observations[3].Leak = 0 }, "leak 0"},
		{"a leak of one", func(r *Release) { r.Observations[3].Leak = 1 }, "leak 1"},
		{"a leak that is no number", func(r *Release) { r.Observations[3].Leak = math.NaN() }, "leak NaN"},
		{"a group there is not", func(r *Release) { r.Observations[3].Group = 2 }, "group 2"},
		{"a group before the first", func(r *Release) { r.Observations[3].Group = -2 }, "group -2"},

		{"an alias of nothing", func(r *Release) { r.Aliases[2].Observation = 6 }, "alias 2: observation 6 out of range [0,6)"},
		{"an alias before the first", func(r *Release) { r.Aliases[0].Observation = -1 }, "alias 0: observation -1"},
		{"an alias numbered zero", func(r *Release) { r.Aliases[2].Number = 0 }, "number 0"},
		{"aliases out of order", func(r *Release) { r.Aliases[0].Number = 9 }, "alias 1 is out of order"},
		{"an alias that is an id", func(r *Release) { r.Aliases[0].Number = 2 }, "alias s_2 is already the ID of an observation"},
		{"an alias that is its own id", func(r *Release) { r.Aliases[2].Number = 1 }, "alias p_1 is already the ID of an observation"},

		{"one direction of the links missing", func(r *Release) {
			r.LinksByObservation = r.LinksByObservation[:5]
			for i := range r.Observations {
				s := &r.Observations[i].Links
				s.Start, s.End = min(s.Start, 5), min(s.End, 5)
			}
		}, "found 6 links by condition, but 5 links by observation"},
		{"a link to nothing", func(r *Release) { r.LinksByCondition[2].Other = 6 }, "link to observation 6"},
		{"a link to the wrong side", func(r *Release) { r.LinksByCondition[0].Other = -1 }, "link to observation -1"},
		{"links out of order", func(r *Release) { r.LinksByCondition[1].Other = 0 }, "link to observation 0 after 0"},
		{"a share of one", func(r *Release) { setShare(r, 0, 0, 1) }, "share 1"},
		{"a share under the leak", func(r *Release) { setShare(r, 0, 0, 0.05) }, "share 0.05"},
		{"a share that is no number", func(r *Release) { setShare(r, 0, 0, math.NaN()) }, "share NaN"},
		{"a lambda that does not follow", func(r *Release) { r.LinksByCondition[0].Lambda = 0.5 }, "do not match"},
		{"an entropy that is no number", func(r *Release) { r.LinksByCondition[0].Entropy = math.NaN() }, "do not match"},
		{"directions that differ", func(r *Release) { r.LinksByObservation[0].Probability = 0.91 }, "link by condition does not match the link by observation"},
		{"a link of another condition", func(r *Release) { r.LinksByObservation[0].Other = 1 }, "link by condition does not match the link by observation"},

		{"a factor of no condition", func(r *Release) { r.Factors[1].Condition = 2 }, "factor of condition 2"},
		{"factors out of order", func(r *Release) { r.Factors[1].Condition = 0 }, "factor of condition 0 after 0"},
		{"a factor of zero", func(r *Release) { r.Factors[0].Present = 0 }, "observation p_1: invalid multipliers 0 and 0.8: expected positive numbers"},
		{"fewer carriers than factors", func(r *Release) { r.ConditionFactors = r.ConditionFactors[:1]; r.Conditions[1].Factors = Span{1, 1} }, "found 1 factors by condition, but 2 factors by observation"},
		{"unreferenced carriers", func(r *Release) { r.Conditions[1].Factors.End-- }, "section condition factors has 1 unreferenced records"},
		{"carriers of no observation", func(r *Release) { r.ConditionFactors[0].Observation = 6 }, "condition c_1: factor for observation 6 is out of order (follows -1) or out of range [0,6)"},
		{"carriers of what has no factor", func(r *Release) { r.ConditionFactors[0].Observation = 1 }, "matching factor by observation not found"},
		{"carriers that do not follow", func(r *Release) { r.ConditionFactors[0].Probability = 0.5 }, "do not match"},
		{"carriers whose share is no number", func(r *Release) { r.ConditionFactors[0].Probability = math.NaN() }, "do not match"},
		{"carriers whose entropy is no number", func(r *Release) { r.ConditionFactors[0].Entropy = math.NaN() }, "do not match"},
		{"an endless factor", func(r *Release) { r.Factors[0].Absent = math.Inf(1) }, "and +Inf"},

		{"a parent there is not", func(r *Release) { r.Observations[1].Parent = 6 }, "parent 6"},
		{"a parent before the first", func(r *Release) { r.Observations[1].Parent = -2 }, "parent -2"},
		{"a parent without a relation", func(r *Release) { r.Observations[1].Relation = NoRelation }, "observation s_2: a parent requires a relation, and both parent and child must be symptoms"},
		{"a relation without a parent", func(r *Release) { r.Observations[0].Relation = LocationRelation }, "observation s_1: relation location requires a parent"},
		{"a parent that is no symptom", func(r *Release) { r.Observations[1].Parent = 3 }, "observation s_2: a parent requires a relation, and both parent and child must be symptoms"},
		{"a child of another", func(r *Release) { r.ChildRefs[0] = 3 }, "observation s_1: observation 3 is not a child or is out of order"},
		{"a child there is not", func(r *Release) { r.ChildRefs[1] = 6 }, "observation s_1: observation 6 is not a child or is out of order"},
		{"a child that its parent does not name", func(r *Release) {
			r.ChildRefs = r.ChildRefs[:1]
			for i := range r.Observations {
				s := &r.Observations[i].Children
				s.Start, s.End = min(s.Start, 1), min(s.End, 1)
			}
		}, "expected 2 observations in lists of children, one for each observation with a parent, got 1"},
		{"its own parent", func(r *Release) {
			r.Observations[0].Parent, r.Observations[0].Relation = 0, LocationRelation
			r.ChildRefs = []ObservationIndex{0, 1, 2}
			for i := range r.Observations {
				r.Observations[i].Children = Span{3, 3}
			}
			r.Observations[0].Children = Span{0, 3}
		}, "its own ancestor"},

		{"a group of no type there is", func(r *Release) { r.Groups[0].Type = 2 }, "group 0: unknown group type or invalid ordered flag"},
		{"an order in a group of many", func(r *Release) { r.Groups[0].Type = GroupMultiple }, "ordered"},
		{"a group of another's children", func(r *Release) { r.Groups[0].Parent = 3 }, "group 0: item s_2 has a different parent than the group"},
		{"a group of a parent there is not", func(r *Release) { r.Groups[0].Parent = 9 }, "group 0: parent 9"},
		{"a group of no items", func(r *Release) { r.Groups[0].Items = Span{} }, "group 0: missing items"},
		{"a group over the end", func(r *Release) { r.Groups[1].Items.End = 5 }, "group items"},
		{"an item there is not", func(r *Release) { r.GroupItems[0] = 9 }, "item 9"},
		{"an item twice", func(r *Release) { r.GroupItems[0] = 2 }, "item 2"},
		{"an item of no group", func(r *Release) { r.Observations[1].Group = None }, "item 1"},
		{"a member that is no item", func(r *Release) { r.Observations[3].Group = 0 }, "p_1 is not an item of its group"},

		{"a tuple of nothing there is", func(r *Release) { r.TupleItems[1] = 6 }, "tuple 0: observation 6"},
		{"a tuple out of order", func(r *Release) { r.TupleItems[1] = 0 }, "tuple 0: observation 0 after 0"},
		{"a tuple of one", func(r *Release) { r.Tuples[0].Observations.End = 1; r.TupleItems = r.TupleItems[:1] }, "tuple 0 has 1 observations: expected at least two"},
		{"a tuple of no level", func(r *Release) { r.Tuples[0].Level = NoTriageLevel }, "invalid triage level"},
		{"a tuple's text over the end", func(r *Release) { r.Tuples[0].Reason.Offset = math.MaxUint32 }, "tuple 0: text"},

		{"a wording of nothing there is", func(r *Release) { r.Wordings[0].Concept = 6 }, "wording 0: concept 6"},
		{"a wording of no condition there is", func(r *Release) { r.Wordings[len(r.Wordings)-1].Concept = 2 }, "concept 2"},
		{"a wording before the first", func(r *Release) { r.Wordings[1].Concept = -1 }, "concept -1"},
		{"a wording of no kind there is", func(r *Release) { r.Wordings[1].Kind = LayWording + 1 }, "wording 1: invalid condition flag or unknown wording kind"},
		{"a wording of no text", func(r *Release) { r.Wordings[1].Text = StringRef{} }, "wording 1: missing text"},
		{"a wording's text over the end", func(r *Release) { r.Wordings[0].Text.Length = math.MaxUint32 }, "wording 0: text"},
		{"wordings out of order", func(r *Release) { r.Wordings[0], r.Wordings[2] = r.Wordings[2], r.Wordings[0] }, "wording 1 is out of order"},
		{"kinds of wordings out of order", func(r *Release) { r.Wordings[0].Kind, r.Wordings[1].Kind = SynonymWording, NameWording }, "wording 1 is out of order"},
		{"conditions before observations", func(r *Release) { r.Wordings[0].IsCondition = true }, "wording 1 is out of order"},

		{"a word of no text", func(r *Release) { r.Words[0].Text = StringRef{} }, "word 0 is empty"},
		{"a word's text over the end", func(r *Release) { r.Words[0].Text.Length = math.MaxUint32 }, "word 0: text"},
		{"words out of order", func(r *Release) { r.Words[0].Text, r.Words[1].Text = r.Words[1].Text, r.Words[0].Text }, "word 1 is empty or out of order"},
		{"a word twice", func(r *Release) { r.Words[1].Text = r.Words[0].Text }, "word 1 is empty or out of order"},
		{"a word that nothing uses", func(r *Release) { r.Words = append([]Word{{Text: r.Words[0].Text}}, r.Words...) }, "word 0: not used in any wording"},
		{"a use by nothing there is", func(r *Release) { r.WordPostings[0] = math.MaxUint32 }, "word 0: wording 4294967295 after -1 is out of order or out of range [0,12)"},
		{"uses out of order", func(r *Release) { at := r.postings("headache"); at[0], at[1] = at[1], at[0] }, "after"},
		{"a use twice", func(r *Release) { at := r.postings("headache"); at[1] = at[0] }, "after"},
		{"a wording of more words than it has", func(r *Release) { r.Wordings[0].WordCount++ }, "wording 0: word count is 2, but 1 words refer to the wording"},
		{"uses that overlap", func(r *Release) { r.Words[1].Postings.Start-- }, "word 1: invalid range [1,5) of word postings: expected a range from 2 that ends by 17"},
		{"unreferenced word uses", func(r *Release) { r.WordPostings = append(r.WordPostings, 0) }, "section word postings has 1 unreferenced records"},

		{"a result of no type there is", func(r *Release) { r.Observations[4].LabResult = 8 }, "lt_1: result"},
		{"a result of nothing", func(r *Release) { r.Observations[4].LabResult = NoLabResult }, "lt_1: result none"},
		{"a symptom with a result", func(r *Release) { r.Observations[0].LabResult = High }, "s_1: result high"},
		{"a topic there is not", func(r *Release) { r.Observations[0].Topic = 3 }, "s_1: result none or topic Topic(3)"},
		{"a time that is none", func(r *Release) { r.Observations[1].DurationTo = 0; r.Observations[1].DurationFrom = 1 }, "duration from 1 to 0"},
		{"a time of a severity", func(r *Release) { r.Observations[1].DurationTo = 60 }, "invalid duration from 0 to 60 minutes for relation severity"},

		{"drugs out of order", func(r *Release) { r.Drugs[1].Number = 2 }, "drug number 2 is out of order after 2"},
		{"a drug numbered zero", func(r *Release) { r.Drugs[0].Number = 0 }, "drug number 0 is out of order after 0"},
		{"a drug without a name", func(r *Release) { r.Drugs[0].Name = StringRef{} }, "drug d_2: missing name"},
		{"a drug's text over the end", func(r *Release) { r.Drugs[0].ATC.Offset = math.MaxUint32 }, "d_2: text"},
		{"a drug of no code", func(r *Release) { r.Drugs[0].ATC = r.Drugs[0].Name }, `invalid ATC code "Estradiol": expected a code such as C07AB02`},
		{"brand has an empty name", func(r *Release) { r.DrugBrands[0].Length = 0 }, "brand has an empty name"},
		{"a brand over the end", func(r *Release) { r.DrugBrands[1].Offset = math.MaxUint32 }, "d_7: text"},
		{"brands over the end", func(r *Release) { r.Drugs[1].Brands.End = 3 }, "drug d_7: invalid range [0,3) of drug brands: expected a range from 0 that ends by 2"},
		{"brands that run backwards", func(r *Release) { r.Drugs[1].Brands = Span{1, 0} }, "drug d_7: invalid range [1,0) of drug brands: expected a range from 0 that ends by 2"},
		{"unreferenced brands", func(r *Release) { r.Drugs[1].Brands.End-- }, "section drug brands has 1 unreferenced records"},
		{"a drug's factor there is not", func(r *Release) { r.DrugRiskFactors[0] = 6 }, "d_7: factor 6 is not a risk factor"},
		{"a drug's factor before the first", func(r *Release) { r.DrugRiskFactors[0] = -1 }, "d_7: factor -1 is not a risk factor"},
		{"a drug's factor that is a symptom", func(r *Release) { r.DrugRiskFactors[0] = 0 }, "d_7: factor 0 is not a risk factor"},
		{"a drug's factor twice", func(r *Release) { r.DrugRiskFactors = []ObservationIndex{3, 3}; r.Drugs[1].RiskFactors.End = 2 }, "factor 3 is not a risk factor or is out of order"},
		{"factors of no drug", func(r *Release) { r.Drugs[1].RiskFactors.End-- }, "section drug factors has 1 unreferenced records"},

		{"a chronic disease there is not", func(r *Release) { r.ChronicDiseases[1].Condition = 2 }, "chronic disease 1: condition 2 after 0: out of order or out of range [0,2)"},
		{"a chronic disease without a name", func(r *Release) { r.ChronicDiseases[1].Name = StringRef{} }, "chronic disease c_2: missing name"},
		{"a chronic disease twice", func(r *Release) { r.ChronicDiseases[1].Condition = 0 }, "chronic disease 1: condition 0 after 0"},
		{"a disease's factor that is a symptom", func(r *Release) { r.DiseaseRiskFactors[0] = 1 }, "chronic disease c_2: factor 1 is not a risk factor"},
		{"a disease's factors over the end", func(r *Release) { r.ChronicDiseases[1].RiskFactors.End = 2 }, "chronic disease c_2: invalid range [0,2) of disease factors: expected a range from 0 that ends by 1"},
		{"factors of no disease", func(r *Release) { r.ChronicDiseases[1].RiskFactors.End-- }, "section disease factors has 1 unreferenced records"},
		{"a hospitalization there is not", func(r *Release) { r.Hospitalizations[0] = 6 }, "hospitalization 0: observation 6"},
		{"a hospitalization before the first", func(r *Release) { r.Hospitalizations[0] = -1 }, "hospitalization 0: observation -1"},
		{"a hospitalization for a symptom", func(r *Release) { r.Hospitalizations[0] = 0 }, "hospitalization 0: observation 0"},
		{"a hospitalization twice", func(r *Release) { r.Hospitalizations = append(r.Hospitalizations, 3) }, "hospitalization 1: observation 3 is not a risk factor or is listed twice"},

		{"a name of nothing that is listed", func(r *Release) { r.ListWordings[0].Concept = 5 }, "names of drugs, specialists and chronic diseases: wording 0: concept 5 out of range [0,5)"},
		{"a name of a condition", func(r *Release) { r.ListWordings[0].IsCondition = true }, "names of drugs, specialists and chronic diseases: wording 0: concept 0 out of range [0,0)"},
		{"names out of order", func(r *Release) { r.ListWordings[0].Concept = 2 }, "names of drugs, specialists and chronic diseases: wording 1 is out of order"},
		{"a word of no name", func(r *Release) { r.ListWordPostings[0] = 99 }, "verifying names of drugs, specialists and chronic diseases: word 0: wording 99 after -1 is out of order or out of range [0,10)"},
		{"a name of more words", func(r *Release) { r.ListWordings[0].WordCount = 2 }, "names of drugs, specialists and chronic diseases: wording 0: word count is 2, but 1 words refer to the wording"},

		{"a concept without a rank", func(r *Release) { r.NameRanks = r.NameRanks[1:] }, "found 12 name ranks: expected 13, one for each observation, condition, drug, specialist and chronic disease"},

		{"laboratory tests out of order", func(r *Release) { r.LabTests[0].Number = 0 }, "laboratory test number 0 is out of order after 0"},
		{"a laboratory test without a name", func(r *Release) { r.LabTests[0].Name = StringRef{} }, "laboratory test lab_1: missing name"},
		{"a laboratory test's text over the end", func(r *Release) { r.LabTests[0].Category.Offset = math.MaxUint32 }, "lab_1: text"},
		{"a laboratory test of no results", func(r *Release) { r.LabTests[0].Results = Span{} }, "laboratory test lab_1: missing results"},
		{"results over the end", func(r *Release) { r.LabTests[0].Results.End = 3 }, "laboratory test lab_1: invalid range [0,3) of laboratory results: expected a range from 0 that ends by 2"},
		{"a result there is not", func(r *Release) { r.LabResultRefs[1] = 6 }, "lab_1: result 6"},
		{"a result before the first", func(r *Release) { r.LabResultRefs[1] = -1 }, "lab_1: result -1"},
		{"results out of order", func(r *Release) { r.LabResultRefs[0], r.LabResultRefs[1] = 5, 4 }, "lab_1: result 4"},
		{"the same result twice", func(r *Release) { r.Observations[5].LabResult = Low }, "lab_1: result 5"},
		{"a result of no test", func(r *Release) { r.LabTests, r.LabResultRefs = nil, nil }, "found 2 laboratory results, but the tests list 0"},
		{"a result twice", func(r *Release) {
			r.LabTests = append(r.LabTests, LabTest{Number: 2, Name: r.LabTests[0].Name, Results: Span{2, 4}})
			r.LabResultRefs = append(r.LabResultRefs, r.LabResultRefs...)
		}, "found 2 laboratory results, but the tests list 4"},
		{"results that are no group", func(r *Release) {
			r.Groups, r.GroupItems = r.Groups[:1], r.GroupItems[:2]
			r.Observations[4].Group, r.Observations[5].Group = None, None
		}, "lab_1: results must be the items of one group"},
		{"results in another order than in their group", func(r *Release) { r.GroupItems[2], r.GroupItems[3] = 5, 4 }, "laboratory test lab_1: results must be the items of one group"},
		{"results that do not exclude each other", func(r *Release) { r.Groups[1].Type = GroupMultiple }, "laboratory test lab_1: results must be mutually exclusive and have no question"},
		{"results that are asked for", func(r *Release) { r.Groups[1].Question = r.Groups[0].Question }, "laboratory test lab_1: results must be mutually exclusive and have no question"},

		{"an unreferenced article", func(r *Release) { r.Conditions[1].Article = None }, "article 0: condition 1"},
		{"an article of a condition there is not", func(r *Release) { r.Articles[0].Condition = 2 }, "article 0: condition 2"},
		{"an article before the first", func(r *Release) { r.Articles[0].Condition = -1 }, "article 0: condition -1"},
		{"an article of another", func(r *Release) { r.Conditions[0].Article = 0 }, "c_1: article 0 belongs to another condition"},
		{"an article there is not", func(r *Release) { r.Conditions[0].Article = 1 }, "c_1: article 1"},
		{"an article before none", func(r *Release) { r.Conditions[0].Article = -2 }, "c_1: article -2"},
		{"a section there is not", func(r *Release) { r.ArticleSections[0].Name = 9 }, "article of c_2: section SectionName(9)"},
		{"a section twice", func(r *Release) { r.ArticleSections[0].Name = SourcesSection }, "section sources is unknown or listed twice"},
		{"unreferenced sections", func(r *Release) { r.ArticleSections = append(r.ArticleSections, ArticleSection{}) }, "section article sections has 1 unreferenced records"},
		{"sections over the end", func(r *Release) { r.Articles[0].Sections.End = 3 }, "article of c_2: invalid range [0,3) of article sections: expected a range from 0 that ends by 2"},
		{"a title there is not", func(r *Release) { r.Articles[0].Title = math.MaxUint32 }, "article of c_2: invalid range [4294967295,0) of nodes: expected a range from 0 that ends by 13"},
		{"the title of another", func(r *Release) { r.ArticleSections[0].Title = 0 }, "article of c_2: section summary: invalid range [0,1) of nodes: expected a range from 1 that ends by 13"},
		{"content over the end", func(r *Release) { r.ArticleSections[1].Content.End = 99 }, "article of c_2: section sources: invalid range [5,99) of nodes: expected a range from 5 that ends by 13"},
		{"unreferenced content", func(r *Release) { r.ArticleSections[1].Content.End-- }, "nodes"},
		{"a node of no type there is", func(r *Release) { r.Nodes[0].Type = 9 }, "node 0: unknown node type NodeType(9)"},
		{"a node's text over the end", func(r *Release) { r.Nodes[0].Text.Length = math.MaxUint32 }, "node 0: text"},
		{"a heading with a text", func(r *Release) { r.Nodes[0].Text = r.Nodes[5].Text }, "node 0: node of type heading-1 has 19 bytes of text: expected text in text and link nodes only"},
		{"a text without one", func(r *Release) { r.firstNode(TextNode).Text = StringRef{} }, "node of type text has 0 bytes of text: expected text in text and link nodes only"},
		{"a text that holds others", func(r *Release) { r.Nodes[0].Type, r.Nodes[0].Text = TextNode, r.Groups[0].Question }, "text is not allowed in text"},
		{"a link that leads to a program", func(r *Release) { r.firstNode(LinkNode).Text = r.Groups[0].Question }, "node 5: link target must be an https URL"},
		{"a list of paragraphs", func(r *Release) { r.firstNode(ListItemNode).Type = ParagraphNode }, "paragraph is not allowed in unordered-list"},
		{"a list item in a paragraph", func(r *Release) { r.firstNode(UnorderedListNode).Type = ParagraphNode }, "list-item is not allowed in paragraph"},
		{"a list item for a title", func(r *Release) { r.Nodes[0].Type = ListItemNode }, "article of c_2: unexpected list-item outside a list"},
		{"a list item outside a list", func(r *Release) { r.firstNode(ParagraphNode).Type = ListItemNode }, "unexpected list-item outside a list"},
		{"a node in front of its parent", func(r *Release) { r.Nodes[0].Children = Span{0, 1} }, "node 0: invalid range [0,1) of nodes: expected a range from 6 that ends by 13"},
		{"nodes that hold one another without end", func(r *Release) {
			deep := DraftNode{Type: TextNode, Text: "deep"}
			for range MaxNodeDepth {
				deep = DraftNode{Type: ParagraphNode, Children: []DraftNode{deep}}
			}
			draft := smallDraft()
			draft.Conditions[1].Article.Sections[0].Content[0] = deep
			*r = *draft.Build()
		}, "nested more than 16 levels deep"},
		{"nodes that hold each other", func(r *Release) { r.Articles, r.ArticleSections = nil, nil; r.Conditions[1].Article = None }, "section nodes has 13 unreferenced records"},

		{"a child with a higher leak", func(r *Release) { r.Observations[2].Leak = 0.11; setShare(r, 0, 2, 0.4); setShare(r, 1, 2, 0.4) }, "observation s_3: probability 0.11 in background exceeds the limit of 0.1 set by s_1"},
		{"a child with a higher share", func(r *Release) { setShare(r, 0, 2, 0.95) }, "observation s_3: probability 0.95 in c_1 exceeds the limit of 0.8900000000000001 set by s_1"},
		{"items over their parent", func(r *Release) { setShare(r, 1, 2, 0.65) }, "in c_2 exceeds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := smallDraft().Build()
			test.spoil(r)
			_, err := Decode(mustEncode(t, r))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got error %q, want it to contain %q", err, test.wantErr)
			}
		})
	}
}

// postings returns the wordings that use a word.
func (r *Release) postings(word string) []uint32 {
	for _, w := range r.Words {
		if r.Text(w.Text) == word {
			return Slice(r.WordPostings, w.Postings)
		}
	}
	return nil
}

// firstNode returns the first node of a type.
func (r *Release) firstNode(of NodeType) *Node {
	at := slices.IndexFunc(r.Nodes, func(n Node) bool { return n.Type == of })
	return &r.Nodes[at]
}

// setShare sets a share on both sides of a link, with the values derived from it.
func setShare(r *Release, condition, observation int32, share float64) {
	set := func(links []Link, other int32) {
		for i := range links {
			if links[i].Other == other {
				links[i].Probability = share
				links[i].Lambda = Lambda(share, r.Observations[observation].Leak)
				links[i].Entropy = BinaryEntropy(share)
			}
		}
	}
	set(Slice(r.LinksByCondition, r.Conditions[condition].Links), observation)
	set(Slice(r.LinksByObservation, r.Observations[observation].Links), condition)
}

// TestDecodeToleratesCorruptNumbers changes single numbers of a release. Decode must not
// crash, and accepted releases must be safe to read from end to end.
func TestDecodeToleratesCorruptNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := mustEncode(t, smallDraft().Build())
		section := rapid.IntRange(0, len(sectionCodecs)-1).Draw(t, "section")
		table, err := readSectionTable(file)
		if err != nil {
			t.Fatal(err)
		}
		content := file[table[section].Offset:][:table[section].Size]
		for range rapid.IntRange(1, 4).Draw(t, "spoils") {
			at := rapid.IntRange(0, len(content)-1).Draw(t, "at")
			content[at] = rapid.Byte().Draw(t, "byte")
		}
		if r, err := Decode(updateChecksums(file)); err == nil {
			walkRelease(r)
		}
	})
}

// TestDecodeRejectsInvalidBools covers bools whose byte is neither 0 nor 1. The encoder
// never writes one.
func TestDecodeRejectsInvalidBools(t *testing.T) {
	t.Parallel()
	for section, test := range map[string]struct {
		offset uintptr
		want   string
	}{
		"groups":   {unsafe.Offsetof(Group{}.Ordered), "invalid ordered flag"},
		"wordings": {unsafe.Offsetof(Wording{}.IsCondition), "invalid condition flag"},
		"stems":    {unsafe.Offsetof(Stem{}.IsFiller), "flag other than 0 and 1"},
		"patterns": {unsafe.Offsetof(Pattern{}.AnyOrder), "unknown meaning or invalid flag"},
	} {
		file := mustEncode(t, smallDraft().Build())
		table, err := readSectionTable(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range table {
			if sectionCodecs[i].name == section {
				file[uintptr(table[i].Offset)+test.offset] = 2
			}
		}
		if _, err := Decode(updateChecksums(file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: a bool of 2: %v", section, err)
		}
	}
}

// TestFrequencyViolationLimitIsTight checks that accepted frequencies decompose into
// noisy-OR terms, as package inference needs, without a negative term, and that the limit
// is exact.
func TestFrequencyViolationLimitIsTight(t *testing.T) {
	t.Parallel()
	probability := rapid.Float64Range(0.01, 0.98)
	rapid.Check(t, func(t *rapid.T) {
		r := smallDraft().Build()
		parentLeak := probability.Draw(t, "parent leak")
		childLeak := parentLeak * rapid.Float64Range(0.01, 1).Draw(t, "child leak")
		parentShare := parentLeak + (0.99-parentLeak)*probability.Draw(t, "parent share")
		childShare := childLeak + (0.99-childLeak)*probability.Draw(t, "child share")
		r.Groups = nil
		r.Observations[0].Leak, r.Observations[1].Leak, r.Observations[2].Leak = parentLeak, childLeak, childLeak/2
		setShare(r, 0, 0, parentShare)
		setShare(r, 0, 1, childShare)
		setShare(r, 0, 2, childLeak/2)
		setShare(r, 1, 0, parentShare)
		setShare(r, 1, 1, childLeak)
		setShare(r, 1, 2, childLeak/2)

		p, c := Lambda(parentShare, parentLeak), Lambda(childShare, childLeak)
		fits := c <= p && childShare <= parentShare
		for e := range r.FrequencyViolations() {
			if fits || e.Condition != 0 {
				t.Fatalf("%+v, where the child's share %v and link %v are within the parent's %v and %v", e, childShare, c, parentShare, p)
			}
			const rounding = 1e-12
			if e.Limit > parentShare+rounding || Lambda(e.Limit, childLeak) > p+rounding {
				t.Fatalf("the limit %v does not fit either", e.Limit)
			}
			fits = true // reported, and only once
		}
		if !fits {
			t.Fatal("the excess was not found")
		}
	})
}

func TestLambdaInvertsNoisyOr(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		leak := rapid.Float64Range(0.0001, 0.99).Draw(t, "leak")
		lambda := rapid.Float64Range(0, 0.99).Draw(t, "lambda")
		share := 1 - (1-leak)*(1-lambda)
		if got := Lambda(share, leak); math.Abs(got-lambda) > 1e-9 {
			t.Fatalf("Lambda(%v, %v) = %v, want %v", share, leak, got, lambda)
		}
	})
	if got := Lambda(0.3, 0.3); got != 0 {
		t.Errorf("a share that is all background has the link %v", got)
	}
}

// TestNewCourse checks that the middle 80 % of a course matches the arguments.
func TestNewCourse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(1, 1e6).Draw(t, "from")
		to := from * rapid.Float64Range(1.01, 1e4).Draw(t, "longer")
		c := NewCourse(from, to)
		// under returns the share of the distribution below a duration.
		under := func(minutes float64) float64 {
			return 0.5 * math.Erfc(-(math.Log(minutes)-c.Mean)/c.StdDev/math.Sqrt2)
		}
		if low, high := under(from), under(to); math.Abs(low-0.1) > 1e-9 || math.Abs(high-0.9) > 1e-9 {
			t.Fatalf("%v of patients have had symptoms for less than %v minutes, %v for less than %v", low, from, high, to)
		}
		if err := c.verify(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBinaryEntropy(t *testing.T) {
	t.Parallel()
	for p, want := range map[float64]float64{0: 0, 1: 0, 0.5: math.Ln2, 0.25: 2*math.Ln2 - 0.75*math.Log(3)} {
		if got := BinaryEntropy(p); math.Abs(got-want) > 1e-15 {
			t.Errorf("BinaryEntropy(%v) = %v, want %v", p, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		if h, mirrored := BinaryEntropy(p), BinaryEntropy(1-p); h < 0 || h > math.Ln2 || math.Abs(h-mirrored) > 1e-12 {
			t.Fatalf("BinaryEntropy(%v) = %v, of the opposite %v", p, h, mirrored)
		}
	})
}
