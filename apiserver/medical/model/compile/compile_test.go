// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"bytes"
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

// mustCompile compiles the sources with edits and decodes the release.
func mustCompile(t *testing.T, edits ...edit) *model.Release {
	t.Helper()
	return mustDecode(t, compileFiles(t, applyEdits(t, edits...)))
}

func compileFiles(t *testing.T, files fstest.MapFS) *compile.Result {
	t.Helper()
	result, err := compile.Compile(files, "en")
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustDecode(t *testing.T, result *compile.Result) *model.Release {
	t.Helper()
	r, err := model.Decode(result.Release)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func condition(t *testing.T, r *model.Release, id string) model.Condition {
	t.Helper()
	i, ok := r.ConditionByID(id)
	if !ok {
		t.Fatalf("no condition %s", id)
	}
	return r.Conditions[i]
}

func observation(t *testing.T, r *model.Release, id string) model.Observation {
	t.Helper()
	i, ok := r.ObservationByID(id)
	if !ok {
		t.Fatalf("no observation %s", id)
	}
	return r.Observations[i]
}

func TestCompileMeta(t *testing.T) {
	t.Parallel()
	result := compileFiles(t, applyEdits(t))
	want := model.Meta{
		ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en", Stemmer: "english",
		ChoicePresent: "Yes", ChoiceAbsent: "No", ChoiceUnknown: "Don't know",
		DurationQuestion: "How long have you had this: {symptom}?", DurationQuestionThirdPerson: "How long have they had this: {symptom}?",
		LeakCourse: model.NewCourse(6*60, 365*24*60),
	}
	if diff := cmp.Diff(want, result.Meta); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, mustDecode(t, result).Meta); diff != "" {
		t.Error(diff)
	}
}

// TestCompileICD10Codes checks that the codes become one text, in list order.
func TestCompileICD10Codes(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"    icd10: G43.9\n":               "G43.9",
		"    icd10: [G43.9]\n":             "G43.9",
		"    icd10: [G43.9, G43.1, G44]\n": "G43.9, G43.1, G44",
		"":                                 "",
	} {
		r := mustCompile(t, edit{neurology, "    icd10: G43.9\n", written})
		if got := r.Text(condition(t, r, "c_1").ICD10); got != want {
			t.Errorf("%q gives %q, want %q", written, got, want)
		}
	}
}

func TestCompileCondition(t *testing.T) {
	t.Parallel()
	r := mustCompile(t)
	c := condition(t, r, "c_1")
	got := []string{
		r.Text(c.Name), r.Text(c.CommonName), r.Text(c.ICD10), r.Text(c.Hint), c.Sex.String(), c.Prevalence.String(),
		c.Acuteness.String(), c.Severity.String(), c.Triage.String(), c.Channel.String(), fmt.Sprint(c.AgeFrom, c.AgeTo),
	}
	want := []string{
		"Migraine", "Migraine", "G43.9", "Rest in a dark room.", "both", "common",
		"chronic_with_exacerbations", "moderate", "consultation", "audio_teleconsultation", "60 1571",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var specialists []string
	for _, ref := range model.Slice(r.SpecialistRefs, c.Specialists) {
		specialists = append(specialists, r.SpecialistID(ref)+" "+r.Text(r.Specialists[ref].Name))
	}
	if diff := cmp.Diff([]string{"sp_17 Neurologist", "sp_1 General Practitioner"}, specialists); diff != "" {
		t.Errorf("the preferred specialist must stay first: %s", diff)
	}
	if refs := model.Slice(r.CategoryRefs, c.Categories); len(refs) != 1 || r.Text(r.Categories[refs[0]].Name) != "Neurology" {
		t.Errorf("the categories are %v", refs)
	}
	if bleed := condition(t, r, "c_2"); r.Text(bleed.CommonName) != "Bleeding under the brain" || bleed.Prevalence != model.Rare {
		t.Errorf("c_2 is %q, %v", r.Text(bleed.CommonName), bleed.Prevalence)
	}
}

func TestCompilePrior(t *testing.T) {
	t.Parallel()
	prior := condition(t, mustCompile(t), "c_1").Prior
	for _, test := range []struct {
		sex  model.Sex
		age  int // months
		want float64
	}{
		{model.Female, 30 * 12, 0.012 * 1.5},
		{model.Male, 30 * 12, 0.012 * 0.5},
		{model.Female, 80 * 12, 0.012 * 1.5 * 0.3},
		{model.Male, 5 * 12, 0.012 * 0.5 * 0.1}, // the band begins before the condition does
		{model.Female, 12, 0},                   // the band ends before the condition does
	} {
		if got := prior[test.sex][model.AgeBand(test.age)]; math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%v of %d months: %v, want %v", test.sex, test.age, got, test.want)
		}
	}
	prior = condition(t, mustCompile(t, edit{neurology, "    ages: {from: 5y}", "    sex: female\n    ages: {to: 17y}"}), "c_1").Prior
	for band := range model.NumAgeBands {
		if prior[model.Male][band] != 0 {
			t.Errorf("a female condition has the prior %v for males", prior[model.Male][band])
		}
		from, _ := model.AgeBandRange(band)
		if occurs := prior[model.Female][band] > 0; occurs != (from < 18*12) {
			t.Errorf("a condition up to 17 years has the prior %v in band %s", prior[model.Female][band], model.AgeBandNames[band])
		}
	}
}

func TestCompileAliases(t *testing.T) {
	t.Parallel()
	r := mustCompile(t)
	for alias, id := range map[string]string{"p_12": "p_1", "s_13": "s_1"} {
		if got, ok := r.ObservationByID(alias); !ok || r.ObservationID(got) != id {
			t.Errorf("%s is found: %t, at %d, want %s", alias, ok, got, id)
		}
	}
	if got, ok := r.ObservationByID("s_14"); ok {
		t.Errorf("the reserved s_14 is found at %d", got)
	}
}

func TestCompileObservation(t *testing.T) {
	t.Parallel()
	r := mustCompile(t)
	o := observation(t, r, "s_7")
	got := []string{r.Text(o.Name), r.Text(o.CommonName), r.Text(o.Question), r.Text(o.QuestionThirdPerson), o.Sex.String(), o.Seriousness.String(), fmt.Sprint(o.AgeFrom, o.AgeTo, o.Leak)}
	want := []string{"Amenorrhoea", "Amenorrhoea", "Did you miss a period", "Did she miss a period", "female", "none", "120 671 0.05"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if o := observation(t, r, "s_11"); o.Question.Length != 0 || o.QuestionThirdPerson.Length != 0 {
		t.Error("a professional symptom has a question")
	}
	if o := observation(t, r, "s_8"); o.Seriousness != model.SeriousnessEmergencyAmbulance {
		t.Errorf("s_8 is %v", o.Seriousness)
	}
	synonyms := slices.DeleteFunc(slices.Clone(r.Wordings), func(w model.Wording) bool { return w.Kind != model.SynonymWording })
	if len(synonyms) != 2 || r.Text(synonyms[0].Text) != "head pain" || synonyms[0].IsCondition || !synonyms[1].IsCondition {
		t.Errorf("the synonyms are %+v", synonyms)
	}
}

// TestCompileFamilies checks that items get their parent from their own entry or their
// group.
func TestCompileFamilies(t *testing.T) {
	t.Parallel()
	r := mustCompile(t)
	headache, _ := r.ObservationByID("s_1")
	for _, id := range []string{"s_2", "s_3", "s_4", "s_5"} {
		if parent := observation(t, r, id).Parent; parent != headache {
			t.Errorf("the parent of %s is %d, want %d", id, parent, headache)
		}
	}
	if children := model.Slice(r.ChildRefs, r.Observations[headache].Children); len(children) != 4 {
		t.Errorf("the children of s_1 are %v", children)
	}
	severity := r.Groups[observation(t, r, "s_3").Group]
	if !severity.Ordered || severity.Type != model.GroupSingle || severity.Parent != headache || r.Text(severity.Question) != "How bad is it" || r.Text(severity.QuestionThirdPerson) != "How bad is it for them" {
		t.Errorf("the group of s_3 is %+v, %q", severity, r.Text(severity.Question))
	}
	location := r.Groups[observation(t, r, "s_4").Group]
	if location.Ordered || location.Type != model.GroupMultiple || location.Items.Len() != 2 {
		t.Errorf("the group of s_4 is %+v", location)
	}
	if tuple := r.Tuples[0]; tuple.Level != model.Emergency || tuple.Observations.Len() != 2 || r.Text(tuple.Reason) != "Pressure in the head." {
		t.Errorf("the tuple is %+v, %q", tuple, r.Text(tuple.Reason))
	}
}

func TestCompileFactors(t *testing.T) {
	t.Parallel()
	r := mustCompile(t)
	migraine, _ := r.ConditionByID("c_1")
	protective := model.Slice(r.Factors, observation(t, r, "s_11").Factors)
	if diff := cmp.Diff([]model.Factor{{Condition: migraine, Present: 0.3, Absent: 1.2}}, protective, cmp.AllowUnexported(model.Factor{})); diff != "" {
		t.Error(diff)
	}
	family := model.Slice(r.Factors, observation(t, r, "p_1").Factors)
	mean := 1 - 0.15 + 0.15*2.5
	if len(family) != 1 || math.Abs(family[0].Present-2.5/mean) > 1e-15 || math.Abs(family[0].Absent-1/mean) > 1e-15 {
		t.Errorf("the factors of p_1 are %+v, want %v and %v", family, 2.5/mean, 1/mean)
	}
	for _, link := range r.LinksByCondition {
		if o := r.Observations[link.Other]; o.Kind == model.RiskFactor || o.Number == 11 {
			t.Errorf("%s is a factor and has a link", r.ObservationID(model.ObservationIndex(link.Other)))
		}
	}
}

func TestTupleProvidesEmergencyPath(t *testing.T) {
	t.Parallel()
	mustCompile(t, edit{neurology, "sudden_onset: 0.8, ", "nausea: 0.8, "})
	// A tuple may contain a risk factor.
	mustCompile(t, edit{neurology, "sudden_onset: 0.8, ", ""}, edit{head, "[headache, nausea]", "[headache, smoking]"})
}

func TestGroupWithoutParent(t *testing.T) {
	t.Parallel()
	r := mustCompile(t,
		edit{head, "    type: group_multiple\n    parent: headache\n", "    type: group_multiple\n"},
		edit{head, "    relation: location\n    background: 0.01", "    background: 0.01"},
		edit{head, "    relation: location\n    background: 0.02", "    background: 0.02"})
	if g := r.Groups[observation(t, r, "s_4").Group]; g.Parent != model.None {
		t.Errorf("the group has the parent %d", g.Parent)
	}
}

// TestCompileIsDeterministic checks that the release does not depend on the order of the
// content or its distribution over files.
func TestCompileIsDeterministic(t *testing.T) {
	t.Parallel()
	first := compileFiles(t, applyEdits(t)).Release
	for range 5 {
		if !bytes.Equal(first, compileFiles(t, applyEdits(t)).Release) {
			t.Fatal("the same content gave other bytes")
		}
	}
	files := applyEdits(t)
	text := string(files[neurology].Data)
	at := strings.Index(text, "  - slug: brain_bleed")
	files[neurology] = &fstest.MapFile{Data: []byte("conditions:\n" + text[at:])}
	files["core/z.yaml"] = &fstest.MapFile{Data: []byte(text[:at])}
	if !bytes.Equal(first, compileFiles(t, files).Release) {
		t.Error("the same content in other files gave other bytes")
	}
}

// TestCompileAlwaysProducesDecodableReleases checks that the compiler either rejects
// numbers with a line or produces a release that servers accept.
func TestCompileAlwaysProducesDecodableReleases(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string) string {
			return fmt.Sprint(rapid.OneOf(rapid.Float64Range(0.001, 0.999), rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(-1, 20000)).Draw(t, label))
		}
		edits := []edit{
			{head, "slug: headache\n    kind: symptom\n    background: 0.05", "slug: headache\n    kind: symptom\n    background: " + number("parent")},
			{head, "relation: severity\n    background: 0.004", "relation: severity\n    background: " + number("child")},
			{neurology, "headache: 0.95", "headache: " + number("parent share")},
			{neurology, "headache_severe: 0.6", "headache_severe: " + number("child share")},
			{neurology, "headache_mild: 0.1", "headache_mild: " + number("other share")},
			{neurology, "family_migraine: 2.5", "family_migraine: " + number("risk")},
			{neurology, "per_10000: 120", "per_10000: " + number("prior")},
			{neurology, "75+: 0.3", "75+: " + number("multiplier")},
			{neurology, "present: 0.3", "present: " + number("present")},
			{neurology, "    acuteness: acute\n", "    acuteness: acute\n    course: {from: " + number("from") + "d, to: " + number("to") + "d}\n"},
			{release, "{from: 6h, to: 1y}", "{from: " + fmt.Sprint(rapid.IntRange(0, 70000).Draw(t, "hours")) + "h, to: " + fmt.Sprint(rapid.IntRange(0, 9000).Draw(t, "years")) + "y}"},
			{head, "slug: crp_high\n    kind: lab_result\n    background: 0.1", "slug: crp_high\n    kind: lab_result\n    background: " + number("result")},
		}
		for range rapid.IntRange(0, len(edits)).Draw(t, "kept") {
			drop := rapid.IntRange(0, len(edits)-1).Draw(t, "drop")
			edits = append(edits[:drop:drop], edits[drop+1:]...)
		}
		_, err := compile.Compile(applyEdits(t, edits...), "en")
		var problems source.ValidationError
		if err != nil && !errors.As(err, &problems) {
			t.Fatal(err)
		}
		for _, p := range problems {
			if p.Line == 0 {
				t.Fatalf("a problem without a line: %v", p)
			}
		}
	})
}

// withGerman adds a second language with the same texts as the first.
func withGerman(files fstest.MapFS) fstest.MapFS {
	german := strings.NewReplacer("service-en", "service-de", "language: en", "language: de").Replace(string(files[language].Data))
	files["lang/de/language.yaml"] = &fstest.MapFile{Data: []byte(german)}
	files["lang/de/alles.yaml"] = files[dictionary]
	return files
}

func TestAllCompilesEveryLanguage(t *testing.T) {
	t.Parallel()
	results, err := compile.All(withGerman(applyEdits(t)))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, result := range results {
		ids = append(ids, mustDecode(t, result).Meta.ModelID)
	}
	if diff := cmp.Diff([]string{"service-de", "service-en"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestAllReportsEachProblemOnce(t *testing.T) {
	t.Parallel()
	files := withGerman(applyEdits(t, edit{neurology, "nausea: 0.7", "nausia: 0.7"}))
	files["lang/de/alles.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(string(files[dictionary].Data), "question: Do you smoke, ", "", 1))}
	_, err := compile.All(files)
	want := "core/conditions/neurology.yaml:19: unknown observation nausia\nlang/de/alles.yaml:15: smoking has no question"
	if err == nil || err.Error() != want {
		t.Errorf("All returned\n%v\nwant\n%s", err, want)
	}
}

func TestAllRequiresALanguage(t *testing.T) {
	t.Parallel()
	if _, err := compile.All(fstest.MapFS{"core/release.yaml": {}}); err == nil {
		t.Error("content without a folder of languages compiled")
	}
	if _, err := compile.All(fstest.MapFS{"lang/README.md": {}}); err == nil || !strings.Contains(err.Error(), "lang/en") {
		t.Errorf("content without a language: %v", err)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(sources[head]), []byte(sources[dictionary]), []byte(sources[registry]), []byte(migraineArticle), []byte(americanContent))
	f.Add([]byte(sources[neurology]), []byte(sources[language]), []byte(sources[release]), []byte("## A {#b}"), []byte("base: en-us"))
	f.Add([]byte("observations: [null, {slug: [a]}]"), []byte("conditions: {? [a] : b}"), []byte("removed: {a: b}"), []byte("> c"), []byte("replace: {a: b}"))
	f.Fuzz(func(t *testing.T, core, words, ids, article, derived []byte) {
		files := applyEdits(t)
		for name, data := range map[string][]byte{head: core, dictionary: words, registry: ids, migraineArticleFile: article, american: derived} {
			files[name] = &fstest.MapFile{Data: data}
		}
		_, err := compile.All(files)
		var problems source.ValidationError
		if err != nil && !errors.As(err, &problems) {
			t.Fatal(err)
		}
	})
}
