// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func TestParseFindsWordings(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"":                              "",
		" \n\t":                         "",
		"🤮":                             "",
		"Hello, how are you?":           "",
		"I have a headache":             "s_1",
		"HEADACHE":                      "s_1",
		"my head is killing me":         "s_1",
		"head hurts, tummy aches":       "s_1 s_5",
		"headache headache":             "s_1",
		"no, really, my mother is fine": "",
		// Gaps.
		"pain in my lower right tummy":                       "s_6",
		"right lower belly pain":                             "s_6",
		"pain that nobody understands in my belly":           "s_5",
		"pain that nobody else ever understands in my belly": "",
		"pain. My belly":                                     "",
		"pain\nbelly":                                        "",
		"pain... belly":                                      "s_5",
		"pain (belly)":                                       "s_5",
		"the worst headache of my whole life":                "s_2",
		"my nose on day 3. running":                          "",
		"my nose in the 3. week running":                     "s_10",
		// Numbers and units.
		"temperature of 39.5": "s_7",
		"39,5 °C":             "s_7",
		"39.5C":               "s_7",
		"it is 38℃":           "s_7",
		"103 F":               "s_7",
		"103F":                "s_7",
		"temperature of 36.5": "",
		"36.6 C":              "",
		"98.6 F":              "",
		"103":                 "",
		"lungs are clear":     "-s_8",
	})
}

func TestParseSpelling(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"hedache":             "s_1",
		"headahce and nausia": "s_1 s_15",
		"stomachache":         "s_5",
		"head ache":           "s_1",
		"head-ache":           "s_1",
		"dont have a cough":   "-s_8",
		"don't have a cough":  "-s_8",
		"don`t have a cough":  "-s_8",
		"couhg":               "s_8",
		"coghs":               "",
		"xqzzy fevr":          "s_7",
		"hefdxche":            "s_1",
		// Word forms, and ordinary words that are closer.
		"head paains":  "s_1",
		"sore thronet": "",
		"sore thorate": "s_9",
		"heafxxche":    "",
	})
}

func TestParseKeepsSpelling(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, text := range []string{"hedache", "stomachache", "nausia"} {
		q := adultQuery(text)
		q.KeepSpelling = true
		got := Parse(r, q)
		if diff := cmp.Diff(Result{Tokens: []string{text}}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestParseOverlaps(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"sore throat and runny nose":         "s_9 s_10",
		"runny nose and sore throat":         "s_10 s_9",
		"pain in my chest and left arm":      "s_11 s_12",
		"pain in my chest, left arm and jaw": "s_11 s_12 s_14",
		// A standalone list item takes nothing from the others.
		"sore throat or headache":                    "s_9 s_1",
		"a sore headache and fever":                  "s_2 s_7",
		"chest, arm and jaw pain":                    "s_11 s_12 s_14",
		"chest, arm, jaw, head and belly pain":       "s_11 s_12 s_14 s_1 s_5",
		"pain in my chest, fever and my arm is fine": "s_11 s_7",
		"no cough and no belly pain":                 "-s_8 -s_5",
		"no pain and no fever and no belly":          "-s_7",
		// Narrower numbers, then more literal words, then the more general observation.
		"39 C":                          "s_7",
		"42 C":                          "s_22",
		"right lower belly cramps":      "s_6 s_24",
		"belly ache":                    "s_23",
		"belly pain":                    "s_5",
		"terrible headache":             "s_2",
		"terrible pain in the chest":    "s_18",
		"no terrible chest ache":        "-s_18",
		"headache, a terrible headache": "s_2",
		"sore throat but no sore belly": "s_9 -s_5",
		"throat is fine but sore head":  "s_1",
	})
}

func TestParseContext(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		// A negation at the start of a negated wording also negates the list after it.
		"no sickness, headache or fever":        "-s_15 -s_1 -s_7",
		"no sickness but a headache":            "-s_15 s_1",
		"no fever but a bad cough":              "-s_7 s_8",
		"denies chest pain, nausea or vomiting": "-s_11 -s_15",
		"nil fever, cough":                      "-s_7 -s_8",
		"headache w/o fever":                    "s_1 -s_7",
		"headache w/o fever/cough":              "s_1 -s_7 -s_8",
		"no fever/cough":                        "-s_7 -s_8",
		"never had diabetes":                    "-p_3",
		"not only headache but fever":           "s_1 s_7",
		"the headache has gone":                 "-s_1",
		"headache we have no":                   "-s_1",
		"headache and we have no car":           "s_1", // starts another statement
		"headache and my throat has gone sore":  "s_1 s_9",
		"no change in my lungs":                 "-s_8",
		"no change, headache":                   "s_1",
		"could it be a stroke?":                 "",
		"last year I had a headache":            "",
		"last year I had a stroke":              "p_1",
		"my father had a stroke":                "p_2",
		"my father had diabetes and a stroke":   "p_2",
		"no mother had a stroke or diabetes":    "-p_2",
		"no fever and I feel sick":              "-s_7 s_26",
		"no fever and me is bad":                "-s_7 s_26",
		"no fever and is bad for me":            "-s_7 -s_26",
		"my father has a headache":              "",
		"no appetite":                           "s_13",
		"my head doesn't hurt":                  "-s_1",
		"it doesn't burn when I wee":            "-s_25",
		"no headache when I wee it burns":       "-s_1 s_25",
		"no fever\nheadache":                    "-s_7 s_1",
	})
}

// TestParseDashAsNegation checks that dashes in clinical notes negate, while dashes in
// sentences do not.
func TestParseDashAsNegation(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"fever -":                      "s_7", // unfinished sentence
		"fever (-), cough (+)":         "-s_7 s_8",
		"fever [-], cough [+]":         "-s_7 s_8",
		"(-) fever, (-) cough":         "-s_7 -s_8",
		"fever -, cough -":             "-s_7 -s_8",
		"fever-, cough-":               "-s_7 -s_8",
		"fever −; cough":               "-s_7 s_8",
		"fever -\ncough":               "-s_7 s_8",
		"fever -.":                     "-s_7",
		"fever (no), cough (no), head": "-s_7 -s_8",
		"fever (no) cough":             "s_7 -s_8",
		"fever - cough":                "s_7 s_8",
		"fever-cough":                  "s_7 s_8",
		"fever +, cough -":             "s_7 -s_8",
		"fever (no idea)":              "s_7",
		"- fever\n- cough":             "s_7 s_8",
		"-":                            "",
		"fever\n-":                     "s_7",
	})
}

// TestParseNegatedDetail checks that the finding before a negated detail is kept.
func TestParseNegatedDetail(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"headache but not severe":               "s_1 -s_2",
		"headache, not severe":                  "s_1",
		"no headache, not severe":               "-s_1",
		"severe headache":                       "s_2",
		"fever and a headache without terrible": "s_7 s_1 -s_2",
		"cramp but not in my belly":             "-s_24",
	})
}

// TestParseDoubleNegationWithFinding checks that two negations affirm if the first one
// belongs to a finding.
func TestParseDoubleNegationWithFinding(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"not without fever":                   "s_7",
		"not my voice without fever":          "s_8 s_7",
		"not my voice, without fever":         "s_8 -s_7",
		"not often a headache without nausea": "s_1 s_15",
	})
}

// TestParseNegatedListWithAside checks that words after a comma do not remove a
// finding from a negated list.
func TestParseNegatedListWithAside(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"no sickness or vomiting, my nose":     "-s_15",
		"no cough, fever or nausea nor stroke": "-s_8 -s_7 -s_15 -p_1",
		"she doesnt cough up, fever nor rash":  "-s_8 -s_7",
	})
}

// TestParseSkippedWordsLowerScore checks that one more word does not outweigh all
// words skipped to reach it.
func TestParseSkippedWordsLowerScore(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"vomiting the dish":                      "s_26",
		"vomiting a whole dish":                  "s_26",
		"vomiting, fever and then washed a dish": "s_15 s_7",
	})
}

// TestParseTrailingConjunction checks that a conjunction with nothing after it joins
// nothing, and may be the answer on a form.
func TestParseTrailingConjunction(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"headache n nausea":         "s_1 s_15",
		"headache n, nausea, fever": "-s_1 s_15 s_7",
		"headache - n, cough: n":    "-s_1 -s_8",
		"no headache or, fever":     "-s_1 s_7",
	})
}

// TestParseNegatedClauseEndsMatch checks that no wording extends into a negated
// clause.
func TestParseNegatedClauseEndsMatch(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"my nose, running is easy":          "s_10",
		"my nose, running doesnt bother me": "",
		"ache in my chest, arm doesnt ache": "s_11 -s_12",
		"nausea, no fever":                  "s_15 -s_7",
	})
}

func TestParseSeverityAppliesToNextMention(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"headache and severe nausea":         "s_1 s_15",
		"headache and a very severe nausea":  "s_1 s_15",
		"headache, severe":                   "s_2",
		"headache, severe, nausea":           "s_2 s_15",
		"headache, severe. Nausea":           "s_2 s_15",
		"severe headache and nausea":         "s_2 s_15",
		"headache and nausea":                "s_1 s_15",
		"a headache and a severe chest ache": "s_1 s_18",
		"pain in my chest and arm":           "s_11 s_12",
	})
}

func TestParseDurations(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"headache for three days":                     "s_3",
		"headache for 3 weeks":                        "s_4",
		"headache since yesterday":                    "s_3",
		"for a couple of days I have had a headache":  "s_3",
		"headache for one and a half years":           "s_4",
		"headache for half a day":                     "s_3",
		"headache for 2-3 days":                       "s_3",
		"headache for two or three weeks":             "s_4",
		"a terrible headache for three days":          "s_2 s_3",
		"headache and cough for 3 days":               "s_3 s_19",
		"headache for 3 days and a cough for 5 weeks": "s_3 s_20",
		"I have a headache. It began 2 days ago":      "s_3",
		"since yesterday, for 3 days":                 "",
		"no headache for three days":                  "-s_1",
		"no headache all day":                         "-s_1",
		"headache all day":                            "s_3",
		"a headache, but no headache all day":         "s_1 -s_3",
		"sore throat for three days":                  "s_9",
		"for 5 weeks cough and headache":              "s_20 s_4",
		// a duration does not apply to a finding with its own duration
		"since 4 weeks headache and since yesterday cough": "s_4 s_19",
		"headache for 5 weeks, cough since yesterday":      "s_4 s_19",
		"headache on and off":                              "s_4",
		"for 5 weeks headache, cough since yesterday":      "s_4 s_19",
	})
}

func TestParseVagueWordings(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"it is worse when I move":                            "",
		"belly pain, worse when I move":                      "s_6",
		"chest pain. It is worse when I move":                "s_18",
		"belly pain and chest pain. It is worse when I move": "s_5 s_18",
		"It is worse when I move. belly pain":                "s_5",
		"no belly pain. It is worse when I move":             "-s_5",
		"tummy ache on the lower right side":                 "s_6",
	})
	r := newRelease(t)
	belly, _ := r.ObservationByID("s_5")
	q := adultQuery("it is worse when I move")
	for _, id := range []string{"s_5", "s_7", "s_8", "s_9", "s_10", "s_12"} {
		o, _ := r.ObservationByID(id)
		q.Context = append(q.Context, o)
	}
	if got := formatMentions(r, Parse(r, q)); got != "s_6" {
		t.Errorf("with belly pain and much else in the context: got %q, want s_6", got)
	}
	q = adultQuery("it is worse when I move, for 3 days")
	q.Context = []model.ObservationIndex{belly}
	if got := formatMentions(r, Parse(r, q)); got != "s_6" {
		t.Errorf("with belly pain in the context: got %q, want s_6", got)
	}
	q.Text = "for 3 days"
	headache, _ := r.ObservationByID("s_1")
	q.Context = append(q.Context, headache)
	if got := formatMentions(r, Parse(r, q)); got != "s_3" {
		t.Errorf("with belly pain and headache in the context: got %q, want s_3", got)
	}
	cough, _ := r.ObservationByID("s_8")
	q.Context = append(q.Context, cough)
	if got := formatMentions(r, Parse(r, q)); got != "" {
		t.Errorf("with two possible referents in the context: got %q, want no mention", got)
	}
}

func TestParseOnePerObservation(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for text, want := range map[string][2]string{
		"headache, my head hurts":            {"s_1", "s_1 s_1"},
		"no headache. headache":              {"s_1", "-s_1 s_1"},
		"headache. no headache":              {"s_1", "s_1 -s_1"},
		"no headache, no headache":           {"-s_1", "-s_1 -s_1"},
		"headache, terrible headache":        {"s_2", "s_2"},
		"no headache, no terrible headache":  {"-s_1", "-s_1"},
		"headache but no terrible headache":  {"s_1 -s_2", "s_1 -s_2"},
		"no headache but terrible headache":  {"s_2", "s_2"},
		"a terrible headache for 3 days":     {"s_2 s_3", "s_2 s_3"}, // "headache for days" and "terrible headache", for 3 days
		"headache, my head hurts, 3 days":    {"s_1", "s_1 s_1"},
		"headache, my head hurts for 3 days": {"s_3", "s_3 s_3"},
	} {
		q := adultQuery(text)
		once := formatMentions(r, Parse(r, q))
		q.AllMentions = true
		if diff := cmp.Diff(want, [2]string{once, formatMentions(r, Parse(r, q))}); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

func TestParseFiltersBySexAndAge(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	male := model.Male
	for _, c := range []struct {
		change func(*Query)
		want   string
	}{
		{func(*Query) {}, "s_16 p_3"},
		{func(q *Query) { q.Sex = &male }, "p_3"},
		{func(q *Query) { q.Sex = nil }, "s_16 p_3"},
		{func(q *Query) { q.AgeMonths = 11 }, "s_16 s_17 p_3"},
		{func(q *Query) { q.RiskFactors = false }, "s_16"},
		{func(q *Query) { q.Symptoms = false }, "p_3"},
		{func(q *Query) { q.Symptoms, q.RiskFactors = false, false }, ""},
	} {
		q := adultQuery("missed period, colic, diabetes")
		c.change(&q)
		if got := formatMentions(r, Parse(r, q)); got != c.want {
			t.Errorf("%+v: got %q, want %q", q, got, c.want)
		}
	}
}

// TestParseFiltersByKind checks that the words of observations that are not requested
// do not match other observations.
func TestParseFiltersByKind(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	q := adultQuery("my father had a stroke")
	q.RiskFactors = false
	if got := formatMentions(r, Parse(r, q)); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestParseResult(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	index := func(id string) model.ObservationIndex {
		o, ok := r.ObservationByID(id)
		if !ok {
			t.Fatal(id)
		}
		return o
	}
	for text, want := range map[string]Result{
		"Pain, in my Lower right Tummy!": {
			Tokens:   []string{"Pain", ",", "in", "my", "Lower", "right", "Tummy", "!"},
			Mentions: []Mention{{Observation: index("s_6"), Orth: "Pain Lower right Tummy", Positions: []int{0, 4, 5, 6}, Head: 5}},
			Obvious:  true,
		},
		"No FEVRE 🤮": {
			Tokens:   []string{"No", "FEVER", "🤮"},
			Mentions: []Mention{{Observation: index("s_7"), Absent: true, Orth: "FEVER", Positions: []int{1}, Head: 1}},
		},
		"Stomachache since\nyesterday": {
			Tokens:   []string{"Stomach", "ache", "since", "yesterday"},
			Mentions: []Mention{{Observation: index("s_5"), Orth: "Stomach ache", Positions: []int{0, 1}, Head: 0}},
		},
		"39.5C, headache for 3 weeks": {
			Tokens: []string{"39.5", "C", ",", "headache", "for", "3", "weeks"},
			Mentions: []Mention{
				{Observation: index("s_7"), Orth: "39.5 C", Positions: []int{0, 1}, Head: 1},
				{Observation: index("s_4"), Orth: "headache for 3 weeks", Positions: []int{3, 4, 5, 6}, Head: 3},
			},
			Obvious: true,
		},
		"headache for 3 days": { // "headache for days" states the same less precisely
			Tokens:   []string{"headache", "for", "3", "days"},
			Mentions: []Mention{{Observation: index("s_3"), Orth: "headache for 3 days", Positions: []int{0, 1, 2, 3}, Head: 3}},
			Obvious:  true,
		},
		"a headache tomorrow": {
			Tokens:   []string{"a", "headache", "tomorrow"},
			Mentions: []Mention{{Observation: index("s_1"), Orth: "headache", Positions: []int{1}, Head: 1}},
		},
		"it is": {Tokens: []string{"it", "is"}},
	} {
		if diff := cmp.Diff(want, Parse(r, adultQuery(text))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}
