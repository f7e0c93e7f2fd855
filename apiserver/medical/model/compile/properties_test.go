// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// tryCompile compiles files, and returns the release or the problems.
func tryCompile(t *rapid.T, files fstest.MapFS, language string) (*model.Release, source.ValidationError) {
	t.Helper()
	result, err := compile.Compile(files, language)
	var problems source.ValidationError
	if errors.As(err, &problems) {
		return nil, problems
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := model.Decode(result.Release)
	if err != nil {
		t.Fatal(err)
	}
	return r, nil
}

// durationChildren returns edits that add a symptom with children by duration, asked in
// one question, with ranges in hours; 0 means no limit.
func durationChildren(times [][2]int) []edit {
	var core, ids, words, items strings.Builder
	for i, p := range times {
		fmt.Fprintf(&core, "  - {slug: since_%d, kind: symptom, relation: duration, background: 0.0001, lasts: {from: %dh", i, p[0])
		if p[1] > 0 {
			fmt.Fprintf(&core, ", to: %dh", p[1])
		}
		core.WriteString("}}\n")
		fmt.Fprintf(&ids, "  since_%d: s_%d\n", i, 100+i)
		fmt.Fprintf(&words, "  since_%d: {name: Since %d, question: q, question_third_person: t}\n", i, i)
		fmt.Fprintf(&items, "since_%d, ", i)
	}
	return []edit{
		{head, "  - slug: crp_high\n", core.String() + "  - slug: crp_high\n"},
		{head, "groups:\n", "groups:\n  - {slug: since, type: group_single, parent: nausea, ordered: true, items: [" + items.String() + "]}\n"},
		{registry, "  family_migraine: p_1\n", "  family_migraine: p_1\n" + ids.String()},
		{dictionary, "  family_migraine: {", words.String() + "  family_migraine: {"},
		{dictionary, "groups:\n", "groups:\n  since: {question: q, question_third_person: t}\n"},
	}
}

// TestDurationRangesMustNotOverlap checks that successive ranges are accepted, gaps
// included, so that every duration falls into at most one of them. Overlapping ranges are
// rejected on the line of the range that begins too early.
func TestDurationRangesMustNotOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bounds := slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.IntRange(0, 5000), 4, 8, rapid.ID[int]).Draw(t, "bounds")))
		var times [][2]int
		for i := 0; i+1 < len(bounds); i++ {
			if i == 0 || len(times) < 2 || rapid.Bool().Draw(t, "no gap") {
				times = append(times, [2]int{bounds[i], bounds[i+1]})
			}
		}
		if rapid.Bool().Draw(t, "without end") {
			times[len(times)-1][1] = 0
		}
		swapped := rapid.IntRange(0, len(times)-1).Draw(t, "swapped")
		with := rapid.IntRange(0, len(times)-1).Draw(t, "with")
		times[swapped], times[with] = times[with], times[swapped]

		files := applyEdits(t, durationChildren(times)...)
		r, problems := tryCompile(t, files, "en")
		if swapped != with {
			if len(problems) == 0 {
				t.Fatalf("%v was accepted", times)
			}
			for _, p := range problems {
				if line := strings.Split(string(files[head].Data), "\n")[p.Line-1]; p.File != head || !strings.Contains(line, "lasts") || !strings.Contains(p.Reason, " overlaps with ") {
					t.Fatalf("%v: %v", times, p)
				}
			}
			return
		}
		if problems != nil {
			t.Fatalf("%v: %v", times, problems)
		}
		for minutes := range uint32(5001) {
			minutes *= 60
			holds := 0
			for _, o := range r.Observations {
				if o.DurationTo != 0 && o.DurationFrom <= minutes && minutes < o.DurationTo {
					holds++
				}
			}
			if holds > 1 {
				t.Fatalf("%v: %d minutes are in %d periods", times, minutes, holds)
			}
		}
	})
}

// TestCompileArbitraryLabTests checks that results are accepted if their backgrounds sum
// to at most 1, and that they are sorted by type.
func TestCompileArbitraryLabTests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfNDistinct(rapid.IntRange(int(model.VeryLow), int(model.ResultPresent)), 1, 7, rapid.ID[int]).Draw(t, "types")
		types = slices.DeleteFunc(types, func(v int) bool { return model.ResultType(v) == model.High }) // the type used by the sources
		sum := 0.1
		var core, ids, words strings.Builder
		results := "{high: crp_high"
		for i, v := range types {
			background := float64(rapid.IntRange(1, 30).Draw(t, "percent")) / 100
			sum += background
			fmt.Fprintf(&core, "  - {slug: crp_%d, kind: lab_result, background: %v}\n", i, background)
			fmt.Fprintf(&ids, "  crp_%d: lt_%d\n", i, 10+i)
			fmt.Fprintf(&words, "  crp_%d: {name: Result %d}\n", i, i)
			results += fmt.Sprintf(", %v: crp_%d", model.ResultType(v), i)
		}
		r, problems := tryCompile(t, applyEdits(t,
			edit{head, "  - slug: crp_high\n", core.String() + "  - slug: crp_high\n"},
			edit{head, "{high: crp_high", results},
			edit{registry, "  crp_high: lt_1\n", "  crp_high: lt_1\n" + ids.String()},
			edit{dictionary, "  crp_high: {name: High CRP}\n", "  crp_high: {name: High CRP}\n" + words.String()},
		), "en")
		if over := sum > 1+1e-6; over != (problems != nil) && math.Abs(sum-1) > 1e-6 {
			t.Fatalf("backgrounds of %v together: %v", sum, problems)
		}
		if problems != nil {
			if len(problems) != 1 || !strings.Contains(problems[0].Reason, ": mutually exclusive results must add up to at most 1") {
				t.Fatal(problems)
			}
			return
		}
		want := append([]int{int(model.High)}, types...)
		slices.Sort(want)
		var got []int
		group := model.GroupIndex(model.None)
		for _, o := range model.Slice(r.LabResultRefs, r.LabTests[0].Results) {
			got = append(got, int(r.Observations[o].LabResult))
			group = r.Observations[o].Group
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if items := model.Slice(r.GroupItems, r.Groups[group].Items); !slices.Equal(items, model.Slice(r.LabResultRefs, r.LabTests[0].Results)) {
			t.Fatalf("the group of the results has the items %v", items)
		}
	})
}

// TestDerivedLanguageReplacesWords checks that a derived language has all texts of its
// base with the same words replaced throughout, and that an unused replacement is
// rejected.
func TestDerivedLanguageReplacesWords(t *testing.T) {
	t.Parallel()
	plain := []string{"alpha", "beta", "gamma", "delta"}
	other := map[string]string{"alpha": "uno", "beta": "due", "gamma": "tre", "delta": "quattro"}
	rapid.Check(t, func(t *rapid.T) {
		phrase := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(plain), 1, 4).Draw(t, label), rapid.SampledFrom([]string{" ", "-", ", "}).Draw(t, "between"))
		}
		texts := map[string]string{} // expected text by text of the base
		for _, old := range []string{"Rest in a dark room.", "Bleeding under the brain", "At the temples", "How bad is it for them", "Inflammation}", "General Practitioner"} {
			texts[old] = phrase(old)
			if brace := strings.TrimSuffix(old, "}"); brace != old {
				texts[old] += "}"
			}
		}
		replaced := rapid.SliceOfNDistinct(rapid.SampledFrom(plain), 1, len(plain), rapid.ID[string]).Draw(t, "replaced")
		var pairs []string
		content := "model: service-en-us\nlanguage: en-US\nbase: en\nreplace:\n"
		for _, word := range replaced {
			pairs = append(pairs, word, other[word])
			content += "  " + word + ": " + other[word] + "\n"
		}
		files := applyEdits(t, edit{american, "", content})
		all := ""
		for _, name := range []string{dictionary, language} {
			text := string(files[name].Data)
			for old, instead := range texts {
				if strings.Contains(text, ": "+old) {
					text = strings.Replace(text, ": "+old, ": '"+strings.TrimSuffix(instead, "}")+"'"+strings.Repeat("}", strings.Count(old, "}")), 1)
					all += instead + " "
				}
			}
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		base, problems := tryCompile(t, files, "en")
		if problems != nil {
			t.Fatal(problems)
		}
		derived, problems := tryCompile(t, files, "en-us")
		unused := slices.DeleteFunc(slices.Clone(replaced), func(word string) bool { return strings.Contains(all, word) })
		if len(unused) > 0 {
			if len(problems) != len(unused) || !strings.Contains(problems[0].Reason, "\": the word does not occur in language en") {
				t.Fatalf("unused replacements are %v, but the problems are %v", unused, problems)
			}
			return
		}
		if problems != nil {
			t.Fatal(problems)
		}
		want := allTexts(base)
		for i := range want {
			want[i] = strings.NewReplacer(pairs...).Replace(want[i])
		}
		if diff := cmp.Diff(want, allTexts(derived)); diff != "" {
			t.Fatal(diff)
		}
	})
}
