// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// wantProblem is an expected problem: the file, a text on the line (see lineOf), or none,
// and a part of the reason.
type wantProblem struct {
	file, line, reason string
}

// A rejectionTest is an error in the content with all expected problems.
type rejectionTest struct {
	name  string
	edits []edit
	wants []wantProblem
}

var rejectionTests = []rejectionTest{
	// File syntax.
	{"an unknown key", []edit{{head, "background: 0.03", "backgrnd: 0.03"}}, []wantProblem{
		{head, "background: 0.03", "unknown key backgrnd"},
		{head, "slug: nausea", "background 0 of nausea"},
	}},
	{"an unknown key of words", []edit{{dictionary, "question: Do you smoke", "Question: Do you smoke"}}, []wantProblem{
		{dictionary, "smoking:", "unknown key Question"},
		{dictionary, "smoking:", "smoking has no question"},
	}},
	{"a key twice", []edit{{head, "    background: 0.03\n", "    background: 0.03\n    background: 0.04\n"}}, []wantProblem{
		{head, "background: 0.04", `mapping key "background" already defined at line 24`},
	}},
	{"a finding twice", []edit{{neurology, "      headache_mild: 0.1\n", "      headache: 0.1\n"}}, []wantProblem{
		{neurology, "headache_mild: 0.1", `mapping key "headache" already defined at line 16`},
	}},
	{"a word for a number", []edit{{head, "background: 0.03", "background: often"}}, []wantProblem{
		{head, "background: 0.03", `expected a number, got "often"`},
		{head, "slug: nausea", "background 0 of nausea"},
	}},
	{"a word for true or false", []edit{{head, "ordered: true", "ordered: maybe"}}, []wantProblem{
		{head, "ordered: true", `expected true or false, got "maybe"`},
	}},
	{"a list for a word", []edit{{head, "    background: 0.03\n    seriousness: serious", "    background: 0.03\n    seriousness: [serious]"}}, []wantProblem{
		{head, "seriousness: serious", "expected a word or a sentence"},
	}},
	{"a file that is no YAML", []edit{{neurology, "    icd10: G43.9", "    icd10: [G43.9"}}, []wantProblem{
		{neurology, "    categories: [neurology]\n    icd10", "did not find expected ',' or ']'"},
	}},
	{"unexpected second document after a line of three dashes: move it to a separate file", []edit{{dictionary, "", "---\nconditions: {}\n"}}, []wantProblem{
		{dictionary, "", "unexpected second document after a line of three dashes: move it to a separate file"},
	}},

	// Release and language.
	{"no version", []edit{{release, `version: "2026-11-21T00:00:00Z"`, ""}}, []wantProblem{{release, "", `invalid version ""`}}},
	{"a version in another zone", []edit{{release, "00Z", "00+01:00"}}, []wantProblem{{release, "version", "expected a UTC time"}}},
	{"a model id with a space", []edit{{language, "service-en", "service en"}}, []wantProblem{{language, "model", `invalid model ID "service en": expected lowercase letters, digits and dashes, such as service-en`}}},
	{"no label for unknown", []edit{{language, `, unknown: "Don't know"`, ""}}, []wantProblem{{language, "", "choices.unknown is missing"}}},
	{"no course of what no condition brings", []edit{{release, "course: {from: 6h, to: 1y}\n", ""}}, []wantProblem{{release, "", "course is missing"}}},
	{"no question of the duration", []edit{{language, "  duration: \"How long have you had this: {symptom}?\"\n", ""}}, []wantProblem{{language, "", "questions.duration is missing"}}},
	{"a question of the duration of nothing", []edit{{language, "you had this: {symptom}?", "you had this?"}}, []wantProblem{{language, "  duration:", `invalid questions.duration "How long have you had this?": expected {symptom} exactly once, in place of the symptom`}}},
	{"a question of the duration of two", []edit{{language, "they had this: {symptom}?", "they had {symptom} and {symptom}?"}}, []wantProblem{{language, "  duration_third_person:", "expected {symptom} exactly once"}}},
	{"a specialist without a name", []edit{{language, "  neurologist: Neurologist\n", ""}}, []wantProblem{{language, "", "specialist neurologist has no name"}}},
	{"a category that the registry does not have", []edit{{language, "", "  cardiology: Cardiology\n"}}, []wantProblem{{language, "cardiology", "unknown category cardiology"}}},

	// Slugs and ids.
	{"a slug in capitals", []edit{
		{head, "slug: nausea", "slug: Nausea"}, {neurology, "      nausea: 0.7\n", ""}, {head, "[headache, nausea]", "[headache, sudden_onset]"},
		{registry, "  nausea: s_6\n", ""}, {dictionary, "  nausea: ", "  reflex_sign_two: "},
	}, []wantProblem{
		{head, "slug: nausea", `observation slug "Nausea"`},
		{dictionary, "  nausea: ", "unknown observation reflex_sign_two"},
	}},
	{"an observation twice", []edit{{head, "slug: smoking", "slug: nausea"}, {neurology, "{smoking: 2}", "{family_migraine: 2}"}, {registry, "  smoking: p_2\n", ""}, {dictionary, "  smoking: {name: Smoking, question: Do you smoke, question_third_person: Do they smoke}\n", ""}}, []wantProblem{
		{head, "slug: smoking", "observation nausea is defined twice"},
	}},
	{"a condition twice", []edit{{neurology, "", "  - slug: migraine # again\n"}}, []wantProblem{{neurology, "migraine # again", "condition migraine is defined twice"}}},
	{"a group twice", []edit{{head, "slug: headache_location", "slug: headache_severity"}, {dictionary, "  headache_location: {question: Where does it hurt, question_third_person: Where does it hurt them}\n", ""}}, []wantProblem{
		{head, "slug: headache_location", "group headache_severity is defined twice"},
	}},
	{"a slug without an id", []edit{{registry, "  nausea: s_6\n", ""}}, []wantProblem{
		{head, "slug: nausea", "observation nausea has no ID in core/registry.yaml: assign one with `go run ./hack/registry`"},
	}},
	{"a condition without an id", []edit{{registry, "  migraine: c_1\n", ""}}, []wantProblem{{neurology, "slug: migraine", "condition migraine has no ID in core/registry.yaml: assign one with `go run ./hack/registry`"}}},
	{"an id of another kind", []edit{{registry, "nausea: s_6", "nausea: p_6"}}, []wantProblem{{registry, "nausea: s_6", `invalid ID of observation nausea: expected an ID such as s_1, got "p_6"`}}},
	{"an id twice", []edit{{registry, "nausea: s_6", "nausea: s_5"}}, []wantProblem{{registry, "nausea: s_6", "ID s_5 of nausea is already assigned or removed"}}},
	{"an id that was removed", []edit{{registry, "nausea: s_6", "nausea: s_9"}}, []wantProblem{{registry, "nausea: s_6", "ID s_9 of nausea is already assigned or removed"}}},
	{"an id that is reserved", []edit{{registry, "nausea: s_6", "nausea: s_14"}}, []wantProblem{{registry, "nausea: s_14", "ID s_14 of nausea is already assigned or removed"}}},
	{"an id that is an alias", []edit{{registry, "nausea: s_6", "nausea: s_13"}}, []wantProblem{{registry, "nausea: s_13", "ID s_13 of nausea is already assigned or removed"}}},
	{"an alias that was removed", []edit{{registry, "s_13: headache", "s_10: headache"}}, []wantProblem{{registry, "s_10: headache", "ID s_10 is already removed, reserved or an alias"}}},
	{"an alias that is reserved", []edit{{registry, "s_13: headache", "s_14: headache"}}, []wantProblem{{registry, "s_14: headache", "ID s_14 is already removed, reserved or an alias"}}},
	{"an alias of another kind", []edit{{registry, "p_12: family_migraine", "s_12: family_migraine"}}, []wantProblem{{registry, "s_12: family_migraine", "invalid alias s_12 of family_migraine: expected an ID such as p_1 for a risk_factor"}}},
	{"an alias of nothing", []edit{{registry, "p_12: family_migraine", "p_12: drinking"}}, []wantProblem{{registry, "p_12: drinking", "alias p_12 refers to unknown observation drinking"}}},
	{"an id reserved for no reason", []edit{{registry, "s_14: A sign without a condition.", "s_14:"}}, []wantProblem{{registry, "s_14:", "reserved ID s_14 has no reason"}}},
	{"an id of nothing", []edit{{registry, "  nausea: s_6\n", "  nausea: s_6\n  vertigo: s_12\n"}}, []wantProblem{{registry, "vertigo", "unknown observation vertigo"}}},
	{"an id of no condition", []edit{{registry, "  brain_bleed: c_2\n", "  brain_bleed: c_2\n  flu: c_4\n"}}, []wantProblem{{registry, "flu", "unknown condition flu"}}},

	// Observations.
	{"an unknown kind", []edit{{head, "kind: lab_result", "kind: lab"}, {registry, "lt_1", "s_12"}, {dictionary, "{name: High CRP}", "{name: High CRP, question: a, question_third_person: b}"}}, []wantProblem{{head, "kind: lab", `unknown kind "lab": expected one of symptom, risk_factor, lab_result`}, {head, "{high: crp_high}", "crp_high is a symptom"}}},
	{"no kind", []edit{{head, "    kind: lab_result\n", ""}, {registry, "lt_1", "s_12"}, {dictionary, "{name: High CRP}", "{name: High CRP, question: a, question_third_person: b}"}}, []wantProblem{{head, "slug: crp_high", "kind is missing"}, {head, "{high: crp_high}", "crp_high is a symptom"}}},
	{"an unknown seriousness", []edit{{head, "seriousness: serious", "seriousness: very"}}, []wantProblem{{head, "seriousness: serious", `unknown seriousness "very"`}}},
	{"an unknown sex", []edit{{head, "sex: female", "sex: f"}}, []wantProblem{{head, "sex: female", `unknown sex "f"`}}},
	{"an age without a unit", []edit{{head, "from: 10y", "from: 10"}}, []wantProblem{{head, "from: 10y", `age "10"`}}},
	{"an age over the oldest", []edit{{head, "to: 55y", "to: 131y"}}, []wantProblem{{head, "to: 55y", `age "131y"`}}},
	{"ages the wrong way round", []edit{{head, "to: 55y", "to: 9y"}}, []wantProblem{{head, "to: 55y", "invalid age range from 10y to 9y: the first age is greater than the last"}}},
	{"a background of one", []edit{{head, "background: 0.2", "background: 1"}}, []wantProblem{{head, "background: 0.2", "invalid background 1 of smoking: expected a probability strictly between 0 and 1"}}},
	{"a background of zero", []edit{{head, "background: 0.2", "background: 0"}}, []wantProblem{{head, "background: 0.2", "background 0 of smoking"}}},
	{"no background", []edit{{head, "    background: 0.2\n", ""}}, []wantProblem{{head, "slug: smoking", "background 0 of smoking"}}},

	// Parents.
	{"an unknown parent", []edit{{head, "    parent: headache\n    relation: severity", "    parent: hedache\n    relation: severity"}}, []wantProblem{
		{head, "    parent: headache\n    relation: severity", "unknown observation hedache"},
	}},
	{"a second parent", []edit{{head, "    parent: headache\n    relation: severity", "    parent: nausea\n    relation: severity"}}, []wantProblem{
		{head, "items: [headache_mild", "headache_mild has a second parent headache"},
	}},
	{"a cycle", []edit{
		{head, "  - slug: headache\n    kind: symptom\n", "  - slug: headache\n    kind: symptom\n    parent: headache_temples\n    relation: location\n"},
		{head, "background: 0.05\n  - slug: headache_mild", "background: 0.01\n  - slug: headache_mild"},
		{head, "background: 0.02\n  - slug: headache_severe", "background: 0.002\n  - slug: headache_severe"},
		{head, "background: 0.02\n  - slug: nausea", "background: 0.01\n  - slug: nausea"},
	}, []wantProblem{{head, "slug: headache\n", "headache is its own ancestor"}}},
	{"its own parent", []edit{{head, "  - slug: nausea\n    kind: symptom\n", "  - slug: nausea\n    kind: symptom\n    parent: nausea\n    relation: character\n"}}, []wantProblem{{head, "slug: nausea", "nausea is its own ancestor"}}},
	{"a parent without a relation", []edit{{head, "    parent: headache\n    relation: severity\n", "    parent: headache\n"}}, []wantProblem{
		{head, "slug: headache_mild", "headache_mild has a parent but no relation"},
		{head, "items: [headache_mild", "has the relation none: expected severity or duration"},
	}},
	{"a relation without a parent", []edit{{head, "background: 0.03", "background: 0.03\n    relation: location"}}, []wantProblem{{head, "    relation: location\n    seriousness: serious", "nausea has a relation but no parent"}}},
	{"an unknown relation", []edit{{head, "    parent: headache\n    relation: severity", "    parent: headache\n    relation: badness"}}, []wantProblem{
		{head, "    relation: badness", `unknown relation "badness"`},
		{head, "items: [headache_mild", "has the relation none"},
	}},
	{"a risk factor for a parent", []edit{{head, "background: 0.03", "background: 0.03\n    parent: smoking\n    relation: character"}}, []wantProblem{
		{head, "slug: nausea", "both nausea and its parent must be symptoms"},
		{neurology, "nausea: 0.7", "migraine lists nausea but not smoking"},
	}},
	{"a child of more people than its parent, by sex", []edit{{head, "background: 0.03", "background: 0.03\n    parent: missed_period\n    relation: character\n    ages: {from: 10y, to: 55y}"}, {neurology, "      nausea: 0.7\n", ""}}, []wantProblem{
		{head, "slug: nausea", "nausea applies to sex both, but its parent only to female"},
	}},
	{"a child of more people than its parent, by age", []edit{{head, "background: 0.03", "background: 0.03\n    parent: missed_period\n    relation: character\n    sex: female"}, {neurology, "      nausea: 0.7\n", ""}}, []wantProblem{
		{head, "slug: nausea", "nausea applies from 0 to 1571 months of age, but its parent from 120 to 671"},
	}},

	// Groups and tuples.
	{"an unknown type of group", []edit{{head, "type: group_multiple", "type: multiple"}}, []wantProblem{{head, "type: group_multiple", `unknown group type "multiple"`}}},
	{"an unknown item", []edit{{head, "      - headache_temples", "      - headache_top"}, {head, "    relation: location\n    background: 0.01", "    background: 0.01"}}, []wantProblem{{head, "      - headache_top", "unknown observation headache_top"}}},
	{"an unknown parent of a group", []edit{{head, "    type: group_multiple\n    parent: headache", "    type: group_multiple\n    parent: hedache"}}, []wantProblem{
		{head, "relation: location\n    background: 0.01", "headache_temples has a relation but no parent"},
		{head, "relation: location\n    background: 0.02", "headache_forehead has a relation but no parent"},
		{head, "    parent: hedache", "unknown observation hedache"},
	}},
	{"a group of one", []edit{{head, "      - headache_forehead\n", ""}, {head, "    relation: location\n    background: 0.02", "    background: 0.02"}}, []wantProblem{{head, "slug: headache_location", "group headache_location has 1 items: expected at least two"}}},
	{"an item of two groups", []edit{{head, "      - headache_forehead\n", "      - headache_forehead\n      - headache_mild\n"}}, []wantProblem{{head, "      - headache_mild", "headache_mild is already an item of group headache_severity"}}},
	{"a professional item", []edit{{head, "relation: location\n    background: 0.01\n", "relation: location\n    background: 0.01\n    professional: true\n"}, {dictionary, "{name: Temporal headache, question: At the temples, question_third_person: At their temples}", "{name: Temporal headache}"}}, []wantProblem{{head, "      - headache_temples", "headache_temples is professional"}}},
	{"a group that does not name the parent of its items", []edit{{head, "    type: group_multiple\n    parent: headache\n", "    type: group_multiple\n"}, {head, "    relation: location\n    background: 0.01", "    parent: headache\n    relation: location\n    background: 0.01"}, {head, "    relation: location\n    background: 0.02", "    parent: headache\n    relation: location\n    background: 0.02"}}, []wantProblem{
		{head, "      - headache_temples", "has a different parent than group headache_location: all items of a group must be children of the parent of the group"},
		{head, "      - headache_forehead", "has a different parent than group headache_location: all items of a group must be children of the parent of the group"},
	}},
	{"an order among many", []edit{{head, "    type: group_single\n", "    type: group_multiple\n"}}, []wantProblem{{head, "ordered: true", "must be group_single and have a parent"}}},
	{"an order of places", []edit{{head, "    type: group_multiple\n", "    type: group_single\n    ordered: true\n"}}, []wantProblem{
		{head, "      - headache_temples", "has the relation location: expected severity or duration"},
		{head, "      - headache_forehead", "has the relation location"},
	}},
	{"a tuple of nothing known", []edit{{head, "[headache, nausea]", "[headache, nausea, vertigo]"}}, []wantProblem{{head, "headache_nausea", "unknown observation vertigo"}}},
	{"a tuple of one", []edit{{head, "[headache, nausea]", "[headache]"}}, []wantProblem{{head, "headache_nausea", "tuple headache_nausea has 1 observations: expected at least two"}}},
	{"a tuple of one, twice", []edit{{head, "[headache, nausea]", "[headache, headache]"}}, []wantProblem{{head, "headache_nausea", "lists headache twice"}}},
	{"a tuple of no level", []edit{{head, "level: emergency, ", "level: none, "}}, []wantProblem{{head, "headache_nausea", "has no triage level"}}},
	{"a tuple of an unknown level", []edit{{head, "level: emergency, ", "level: urgent, "}}, []wantProblem{{head, "headache_nausea", `unknown triage level "urgent"`}}},
	{"a tuple without a reason", []edit{{head, `, reason: "Pressure in the head."`, ""}}, []wantProblem{{head, "", "reason of tuple headache_nausea is missing"}}},

	// Conditions.
	{"an unknown finding", []edit{{neurology, "nausea: 0.7", "nausia: 0.7"}}, []wantProblem{{neurology, "nausea: 0.7", "unknown observation nausia"}}},
	{"an unknown protective finding", []edit{{neurology, "reflex_sign: {", "reflex: {"}}, []wantProblem{{neurology, "reflex_sign: {", "unknown observation reflex"}}},
	{"an unknown risk factor", []edit{{neurology, "{smoking: 2}", "{smoke: 2}"}}, []wantProblem{{neurology, "{smoking: 2}", "unknown observation smoke"}}},
	{"an unknown category", []edit{{neurology, "    categories: [neurology]\n    icd10", "    categories: [neuro]\n    icd10"}}, []wantProblem{{neurology, "categories", "unknown category neuro"}}},
	{"an unknown specialist", []edit{{neurology, "specialists: [neurologist]", "specialists: [brain_doctor]"}}, []wantProblem{{neurology, "specialists: [neurologist]", "unknown specialist brain_doctor"}}},
	{"a specialist twice", []edit{{neurology, "specialists: [neurologist]", "specialists: [neurologist, neurologist]"}}, []wantProblem{{neurology, "specialists: [neurologist]", "specialist neurologist is listed twice"}}},
	{"no specialists", []edit{{neurology, "    specialists: [neurologist]\n", ""}}, []wantProblem{{neurology, "slug: brain_bleed", "specialists is missing"}}},
	{"an unknown acuteness", []edit{{neurology, "acuteness: acute", "acuteness: sudden"}}, []wantProblem{{neurology, "acuteness: acute", `unknown acuteness "sudden"`}}},
	{"no severity", []edit{{neurology, "    severity: severe\n", ""}}, []wantProblem{{neurology, "slug: brain_bleed", "severity is missing"}}},
	{"an unknown channel", []edit{{neurology, "channel: personal_visit", "channel: visit"}}, []wantProblem{{neurology, "channel: personal_visit", `unknown channel "visit"`}}},
	{"no triage level", []edit{{neurology, "triage_level: consultation", "triage_level: none"}}, []wantProblem{{neurology, "triage_level: consultation", "has no triage level"}}},
	{"a code that is none", []edit{{neurology, "icd10: G43.9", "icd10: migraine"}}, []wantProblem{{neurology, "icd10: G43.9", `ICD-10 code "migraine"`}}},
	{"one of several codes that is none", []edit{{neurology, "icd10: G43.9", "icd10: [G43.9, migraine]"}}, []wantProblem{{neurology, "icd10: G43.9", `ICD-10 code "migraine"`}}},
	{"a code twice", []edit{{neurology, "icd10: G43.9", "icd10: [G43.9, G43.9]"}}, []wantProblem{{neurology, "icd10: G43.9", `ICD-10 code G43.9 is listed twice`}}},
	{"a code that is a mapping", []edit{{neurology, "icd10: G43.9", "icd10: {main: G43.9}"}}, []wantProblem{{neurology, "icd10: G43.9", "expected a word"}}},
	{"no sources", []edit{{neurology, "    sources: [Registry]\n", ""}}, []wantProblem{{neurology, "slug: brain_bleed", "has no sources"}}},
	{"no prior", []edit{{neurology, "    prior: {per_10000: 2}\n", ""}}, []wantProblem{{neurology, "slug: brain_bleed", "invalid prior.per_10000 of brain_bleed: expected a number above 0 and below 10000, got 0"}}},
	{"a prior of 1", []edit{{neurology, "{per_10000: 2}", "{per_10000: 10000}"}}, []wantProblem{{neurology, "{per_10000: 2}", "invalid prior.per_10000 of brain_bleed: expected a number above 0 and below 10000, got 10000"}}},
	{"a prior over one in a band", []edit{{neurology, "{per_10000: 2}", "{per_10000: 2, ages: {75+: 5000}}"}}, []wantProblem{{neurology, "{per_10000: 2}", "highest prior of brain_bleed over sexes and ages is 1"}}},
	{"a prior of 0", []edit{{neurology, "{per_10000: 2}", "{per_10000: 2, sex: {female: 0, male: 0}}"}}, []wantProblem{{neurology, "{per_10000: 2}", "is 0: expected a probability"}}},
	{"an unknown band", []edit{{neurology, "75+: 0.3", "65+: 0.3"}}, []wantProblem{{neurology, "75+: 0.3", "unknown key 65+: expected one of [0-2m"}}},
	{"a negative multiplier", []edit{{neurology, "75+: 0.3", "75+: -0.3"}}, []wantProblem{{neurology, "75+: 0.3", "multiplier -0.3 of 75+"}}},
	{"an unknown sex of a prior", []edit{{neurology, "female: 1.5", "woman: 1.5"}}, []wantProblem{{neurology, "female: 1.5", "unknown key woman"}}},
	{"no findings", []edit{{neurology, "    findings: {headache: 0.9, headache_severe: 0.85, sudden_onset: 0.8, crp_high: 0.2}\n", ""}, {neurology, "emergency_ambulance", "consultation"}}, []wantProblem{{neurology, "slug: brain_bleed", "has no findings"}}},
	{"a share of one", []edit{{neurology, "nausea: 0.7", "nausea: 1"}}, []wantProblem{{neurology, "nausea: 0.7", "invalid share 1 of nausea in migraine: expected a probability strictly between 0 and 1"}}},
	{"a share of nothing", []edit{{neurology, "nausea: 0.7", "nausea:"}}, []wantProblem{{neurology, "nausea: 0.7", "share 0 of nausea"}}},
	{"a share under the background", []edit{{neurology, "nausea: 0.7", "nausea: 0.02"}}, []wantProblem{{neurology, "nausea: 0.7", "share 0.02 of nausea in migraine is below its background 0.03"}}},
	{"a risk factor among the findings", []edit{{neurology, "nausea: 0.7", "smoking: 0.7"}}, []wantProblem{{neurology, "nausea: 0.7", "smoking is a risk factor: move it to risk_factors"}}},
	{"a risk factor that protects", []edit{{neurology, "reflex_sign: {", "smoking: {"}}, []wantProblem{{neurology, "reflex_sign: {", "smoking is a risk factor"}}},
	{"a finding among the risk factors", []edit{{neurology, "{smoking: 2}", "{nausea: 2}"}}, []wantProblem{{neurology, "{smoking: 2}", "nausea is not a risk factor"}}},
	{"a finding that speaks for and against", []edit{{neurology, "reflex_sign: {", "nausea: {"}}, []wantProblem{{neurology, "reflex_sign: {", "nausea is both protective and a finding of migraine"}}},
	{"protection that does not protect", []edit{{neurology, "{present: 0.3, absent: 1.2}", "{present: 1.3, absent: 1.2}"}}, []wantProblem{{neurology, "reflex_sign: {", "invalid multipliers of reflex_sign, which is protective against migraine: expected present between 0 and 1 and absent of at least 1, got 1.3 and 1.2"}}},
	{"protection by half", []edit{{neurology, "{present: 0.3, absent: 1.2}", "{present: 0.3}"}}, []wantProblem{{neurology, "reflex_sign: {", "got 0.3 and 0"}}},
	{"a relative risk of zero", []edit{{neurology, "{smoking: 2}", "{smoking: 0}"}}, []wantProblem{{neurology, "{smoking: 2}", "relative risk 0 of smoking"}}},
	{"an endless relative risk", []edit{{neurology, "{smoking: 2}", "{smoking: .inf}"}}, []wantProblem{{neurology, "{smoking: 2}", "relative risk +Inf of smoking"}}},
	{"a male condition with a female symptom", []edit{{neurology, "    icd10: G43.9\n", "    sex: male\n"}, {neurology, "nausea: 0.7", "missed_period: 0.7"}}, []wantProblem{
		{neurology, "nausea: 0.7", "migraine occurs only with sex male, but missed_period applies only to sex female: they can never occur together"},
	}},
	{"a child's condition with an adult's symptom", []edit{{neurology, "{from: 5y}", "{from: 5y, to: 9y}"}, {neurology, "nausea: 0.7", "missed_period: 0.7"}}, []wantProblem{
		{neurology, "nausea: 0.7", "migraine occurs from 60 to 119 months of age, but missed_period applies from 120 to 671 months: they can never occur together"},
	}},
	{"an emergency without a path", []edit{{neurology, "sudden_onset: 0.8, ", ""}}, []wantProblem{
		{neurology, "triage_level: emergency_ambulance", "brain_bleed has the triage level emergency_ambulance but no emergency path: add a finding with seriousness emergency or emergency_ambulance, or a tuple of its observations with such a level"},
	}},
	{"an emergency known by what is never asked", []edit{{head, "seriousness: emergency_ambulance", "seriousness: emergency_ambulance\n    professional: true"}, {dictionary, "{name: Sudden onset, question: Was it sudden, question_third_person: Was it sudden for them}", "{name: Sudden onset}"}}, []wantProblem{
		{neurology, "triage_level: emergency_ambulance", "brain_bleed has the triage level emergency_ambulance but no emergency path: add a finding with seriousness emergency or emergency_ambulance, or a tuple of its observations with such a level"},
	}},
	{"an emergency known by a tuple with what speaks against it", []edit{{neurology, "sudden_onset: 0.8, ", ""}, {head, "[headache, nausea]", "[headache, reflex_sign]"}, {neurology, "    risk_factors: {smoking: 2}", "    protective: {reflex_sign: {present: 0.5, absent: 1}}"}}, []wantProblem{
		{neurology, "triage_level: emergency_ambulance", "brain_bleed has the triage level emergency_ambulance but no emergency path: add a finding with seriousness emergency or emergency_ambulance, or a tuple of its observations with such a level"},
	}},
	{"an emergency with a part of a tuple", []edit{{neurology, "{headache: 0.9, headache_severe: 0.85, sudden_onset: 0.8, crp_high: 0.2}", "{headache: 0.9, headache_severe: 0.85}"}}, []wantProblem{
		{neurology, "triage_level: emergency_ambulance", "brain_bleed has the triage level emergency_ambulance but no emergency path: add a finding with seriousness emergency or emergency_ambulance, or a tuple of its observations with such a level"},
	}},

	// Parts and wholes.
	{"a child with a higher background", []edit{{head, "background: 0.004", "background: 0.06"}}, []wantProblem{
		{head, "background: 0.004", "background 0.06 of headache_severe exceeds the background 0.05 of headache: a part cannot be more frequent than the whole"},
		{head, "background: 0.02", "background 0.08 of headache_mild + headache_severe together exceeds the background 0.05 of headache: a part cannot be more frequent than the whole"},
	}},
	{"levels with a higher background together", []edit{{head, "background: 0.004", "background: 0.04"}}, []wantProblem{
		{head, "background: 0.02", "background 0.06 of headache_mild + headache_severe together exceeds the background 0.05 of headache: a part cannot be more frequent than the whole"},
	}},
	{"a child with a higher share", []edit{{neurology, "headache_severe: 0.85", "headache_severe: 0.91"}}, []wantProblem{
		{neurology, "headache_severe: 0.85", "share 0.91 of headache_severe in brain_bleed is too high given headache: with these backgrounds, the maximum is 0.8951"},
		{neurology, "headache_severe: 0.85", "share 0.93 of headache_mild + headache_severe together in brain_bleed is too high given headache: with these backgrounds, the maximum is 0.8972"},
	}},
	{"a child with a higher link", []edit{{neurology, "headache_severe: 0.85", "headache_severe: 0.899"}, {head, "    parent: headache\n    relation: severity\n    background: 0.02", "    parent: headache\n    relation: severity\n    background: 0.0001"}}, []wantProblem{
		{neurology, "headache_severe: 0.85", "share 0.899 of headache_severe in brain_bleed is too high given headache: with these backgrounds, the maximum is 0.8951"},
		{neurology, "headache_severe: 0.85", "together in brain_bleed is too high given headache"},
	}},
	{"levels with a higher share together", []edit{{neurology, "headache_mild: 0.1", "headache_mild: 0.4"}}, []wantProblem{
		{neurology, "headache_severe: 0.6", "share 1 of headache_mild + headache_severe together in migraine is too high given headache"},
	}},
	{"a child without its parent", []edit{{neurology, "      headache: 0.95\n", ""}}, []wantProblem{
		{neurology, "      headache_severe: 0.6", "migraine lists headache_severe but not headache"},
		{neurology, "      headache_mild: 0.1", "migraine lists headache_mild but not headache"},
	}},

	// Words.
	{"a condition without words", []edit{{dictionary, "  migraine: {name: Migraine, hint: Rest in a dark room., synonyms: [megrim]}\n", ""}}, []wantProblem{{neurology, "slug: migraine", "condition migraine has no texts in language en"}}},
	{"an observation without words", []edit{{dictionary, "  crp_high: {name: High CRP}\n", ""}}, []wantProblem{{head, "slug: crp_high", "observation crp_high has no texts in language en"}}},
	{"a group without words", []edit{{dictionary, "  headache_location: {question: Where does it hurt, question_third_person: Where does it hurt them}\n", ""}}, []wantProblem{{head, "slug: headache_location", "group headache_location has no texts in language en"}}},
	{"words of nothing", []edit{{dictionary, "", "  hedache_duration: {question: a, question_third_person: b}\n"}}, []wantProblem{{dictionary, "hedache_duration", "unknown group hedache_duration"}}},
	{"words of no condition", []edit{{"lang/en/more.yaml", "", "conditions:\n  flu: {name: Influenza}\n"}}, []wantProblem{{"lang/en/more.yaml", "flu", "unknown condition flu"}}},
	{"words in two files", []edit{{"lang/en/more.yaml", "", "observations:\n  crp_high: {name: CRP}\n"}}, []wantProblem{{"lang/en/more.yaml", "crp_high", "observation crp_high already has texts at lang/en/all.yaml:16"}}},
	{"no name", []edit{{dictionary, "{name: High CRP}", "{common_name: Inflammation}"}}, []wantProblem{{dictionary, "crp_high", "crp_high has no name"}}},
	{"no question", []edit{{dictionary, "question: Do you smoke, ", ""}}, []wantProblem{{dictionary, "smoking", "smoking has no question"}}},
	{"no question in the third person", []edit{{dictionary, ", question_third_person: Do they smoke", ""}}, []wantProblem{{dictionary, "smoking", "smoking has no question_third_person"}}},
	{"no question of a group", []edit{{dictionary, "question: How bad is it, ", ""}}, []wantProblem{{dictionary, "headache_severity", "headache_severity has no question"}}},
	{"a question that is never asked", []edit{{dictionary, "{name: Reflex sign}", "{name: Reflex sign, question: Is it there}"}}, []wantProblem{{dictionary, "reflex_sign", "reflex_sign is professional and must not have a question for patients: remove the question"}}},
	{"two concepts with one name", []edit{{dictionary, "{name: Migraine in the family,", "{name: MIGRAINE,"}}, []wantProblem{
		{dictionary, "family_migraine", `risk_factor family_migraine and condition migraine (lang/en/all.yaml:2) have the same name "MIGRAINE"`},
	}},
	{"a synonym of two symptoms", []edit{{dictionary, "{name: Nausea,", "{name: Nausea, synonyms: [Head  Pain],"}}, []wantProblem{
		{dictionary, "  nausea:", `"Head  Pain" refers to both symptom nausea and symptom headache (lang/en/all.yaml:5)`},
	}},
	{"a common name of two symptoms", []edit{{dictionary, "{name: Nausea, common_name: Feeling sick,", "{name: Nausea, common_name: Headache,"}}, []wantProblem{
		{dictionary, "  nausea:", `"Headache" refers to both symptom nausea and symptom headache`},
	}},
	{"a synonym that differs in marks only", []edit{{dictionary, "{name: Nausea,", "{name: Nausea, synonyms: [Héad-pain!],"}}, []wantProblem{
		{dictionary, "  nausea:", `"Héad-pain!" refers to both symptom nausea and symptom headache (lang/en/all.yaml:5)`},
	}},
	{"a synonym without a word", []edit{{dictionary, "synonyms: [megrim]", `synonyms: ["?!"]`}}, []wantProblem{{dictionary, "migraine", "empty wording of condition migraine"}}},
	{"an empty synonym", []edit{{dictionary, "synonyms: [megrim]", `synonyms: [" "]`}}, []wantProblem{{dictionary, "migraine", "empty wording of condition migraine"}}},
}

func TestCompileRejectsInvalidContent(t *testing.T) {
	t.Parallel()
	runRejectionTests(t, "en", rejectionTests)
}

// runRejectionTests compiles the sources with the edits of each test in a language.
func runRejectionTests(t *testing.T, language string, tests []rejectionTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := applyEdits(t, test.edits...)
			_, err := compile.Compile(files, language)
			var problems source.ValidationError
			if !errors.As(err, &problems) {
				t.Fatalf("Compile: %v, want an error of problems", err)
			}
			for i, w := range locateProblems(t, files, test.wants) {
				if i >= len(problems) {
					break
				}
				if got := problems[i]; got.File != w.File || got.Line != w.Line || !strings.Contains(got.Reason, w.Reason) {
					t.Errorf("problem %d is\n  %s\nwant %s:%d: with %q", i+1, got, w.File, w.Line, w.Reason)
				}
			}
			if len(problems) != len(test.wants) {
				t.Errorf("%d problems, want %d:\n%v", len(problems), len(test.wants), err)
			}
		})
	}
}

// locateProblems returns the expected problems in the order in which they are reported.
func locateProblems(t *testing.T, files fstest.MapFS, wants []wantProblem) []source.Problem {
	t.Helper()
	var problems []source.Problem
	for _, w := range wants {
		p := source.Problem{File: w.file, Reason: w.reason}
		if w.line != "" {
			p.Line = lineOf(t, files, w.file, w.line)
		}
		problems = append(problems, p)
	}
	slices.SortStableFunc(problems, func(a, b source.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return problems
}

func TestCompileReportsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := compile.Compile(applyEdits(t,
		edit{head, "background: 0.2", "background: 2"},
		edit{neurology, "nausea: 0.7", "nausia: 0.7"},
		edit{registry, "  crp_high: lt_1\n", ""},
		edit{dictionary, "question: Do you smoke, ", ""},
		edit{release, "2026", "soon"},
	), "en")
	want := []string{
		"core/conditions/neurology.yaml:19: unknown observation nausia",
		"core/observations/head.yaml:44: invalid background 2 of smoking: expected a probability strictly between 0 and 1",
		"core/observations/head.yaml:45: observation crp_high has no ID in core/registry.yaml: assign one with `go run ./hack/registry`",
		`core/release.yaml:1: invalid version "soon-11-21T00:00:00Z": expected a UTC time such as 2026-11-21T00:00:00Z`,
		"lang/en/all.yaml:15: smoking has no question",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("Compile returned\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestCompileReportsMissingFiles(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{release, registry, language} {
		files := applyEdits(t)
		delete(files, missing)
		_, err := compile.Compile(files, "en")
		if err == nil || !strings.Contains(err.Error(), missing+": file is missing") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	if _, err := compile.Compile(fstest.MapFS{}, "en"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without content: %v", err)
	}
	if _, err := compile.Compile(applyEdits(t), "xx"); err == nil || !strings.Contains(err.Error(), "lang/xx") {
		t.Errorf("in a language without words: %v", err)
	}
}
