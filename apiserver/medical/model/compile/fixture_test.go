// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// sources is a small valid content, which tests edit.
var sources = map[string]string{
	"core/release.yaml": `version: "2026-11-21T00:00:00Z"
course: {from: 6h, to: 1y}
`,
	"core/registry.yaml": `conditions:
  migraine: c_1
  brain_bleed: c_2
observations:
  headache: s_1
  headache_mild: s_2
  headache_severe: s_3
  headache_temples: s_4
  headache_forehead: s_5
  nausea: s_6
  missed_period: s_7
  sudden_onset: s_8
  reflex_sign: s_11
  family_migraine: p_1
  smoking: p_2
  crp_high: lt_1
specialists:
  general_practitioner: sp_1
  neurologist: sp_17
categories:
  neurology: cc_1
lab_tests:
  c_reactive_protein: lab_1
aliases:
  p_12: family_migraine
  s_13: headache
reserved:
  s_14: A sign without a condition.
removed: [s_9, s_10, c_3]
`,
	"core/observations/head.yaml": `observations:
  - slug: headache
    kind: symptom
    background: 0.05
  - slug: headache_mild
    kind: symptom
    parent: headache
    relation: severity
    background: 0.02
  - slug: headache_severe
    kind: symptom
    relation: severity
    background: 0.004
  - slug: headache_temples
    kind: symptom
    relation: location
    background: 0.01
  - slug: headache_forehead
    kind: symptom
    relation: location
    background: 0.02
  - slug: nausea
    kind: symptom
    background: 0.03
    seriousness: serious
  - slug: missed_period
    kind: symptom
    background: 0.05
    sex: female
    ages: {from: 10y, to: 55y}
  - slug: sudden_onset
    kind: symptom
    background: 0.001
    seriousness: emergency_ambulance
  - slug: reflex_sign
    kind: symptom
    background: 0.01
    professional: true
  - slug: family_migraine
    kind: risk_factor
    background: 0.15
  - slug: smoking
    kind: risk_factor
    background: 0.2
  - slug: crp_high
    kind: lab_result
    background: 0.1
groups:
  - slug: headache_severity
    type: group_single
    parent: headache
    ordered: true
    items: [headache_mild, headache_severe]
  - slug: headache_location
    type: group_multiple
    parent: headache
    items:
      - headache_temples
      - headache_forehead
lab_tests:
  - {slug: c_reactive_protein, category: inflammation, results: {high: crp_high}}
tuples:
  - {slug: headache_nausea, observations: [headache, nausea], level: emergency, reason: "Pressure in the head."}
`,
	"core/conditions/neurology.yaml": `conditions:
  - slug: migraine
    categories: [neurology]
    icd10: G43.9
    acuteness: chronic_with_exacerbations
    severity: moderate
    triage_level: consultation
    channel: audio_teleconsultation
    specialists: [neurologist, general_practitioner]
    ages: {from: 5y}
    prior:
      per_10000: 120
      sex: {female: 1.5, male: 0.5}
      ages: {2-5: 0.1, 75+: 0.3}
    findings:
      headache: 0.95
      headache_severe: 0.6
      headache_mild: 0.1
      nausea: 0.7
    protective:
      reflex_sign: {present: 0.3, absent: 1.2}
    risk_factors:
      family_migraine: 2.5
    sources: ["Textbook"]
  - slug: brain_bleed
    categories: [neurology]
    acuteness: acute
    severity: severe
    triage_level: emergency_ambulance
    channel: personal_visit
    specialists: [neurologist]
    prior: {per_10000: 2}
    findings: {headache: 0.9, headache_severe: 0.85, sudden_onset: 0.8, crp_high: 0.2}
    risk_factors: {smoking: 2}
    sources: [Registry]
`,
	"lang/en/language.yaml": `model: service-en
language: en
choices: {present: "Yes", absent: "No", unknown: "Don't know"}
specialists:
  general_practitioner: General Practitioner
  neurologist: Neurologist
lab_categories: {inflammation: Inflammation}
questions:
  duration: "How long have you had this: {symptom}?"
  duration_third_person: "How long have they had this: {symptom}?"
categories:
  neurology: Neurology
`,
	"lang/en/all.yaml": `conditions:
  migraine: {name: Migraine, hint: Rest in a dark room., synonyms: [megrim]}
  brain_bleed: {name: Subarachnoid haemorrhage, common_name: Bleeding under the brain}
observations:
  headache: {name: Headache, question: Does it hurt, question_third_person: Does it hurt them, synonyms: [head pain]}
  headache_mild: {name: Mild headache, question: Is it mild, question_third_person: Is it mild for them}
  headache_severe: {name: Severe headache, question: Is it bad, question_third_person: Is it bad for them}
  headache_temples: {name: Temporal headache, question: At the temples, question_third_person: At their temples}
  headache_forehead: {name: Frontal headache, question: At the forehead, question_third_person: At their forehead}
  nausea: {name: Nausea, common_name: Feeling sick, question: Do you feel sick, question_third_person: Do they feel sick}
  missed_period: {name: Amenorrhoea, question: Did you miss a period, question_third_person: Did she miss a period}
  sudden_onset: {name: Sudden onset, question: Was it sudden, question_third_person: Was it sudden for them}
  reflex_sign: {name: Reflex sign}
  family_migraine: {name: Migraine in the family, question: Does family have it, question_third_person: Does their family have it}
  smoking: {name: Smoking, question: Do you smoke, question_third_person: Do they smoke}
  crp_high: {name: High CRP}
lab_tests:
  c_reactive_protein: {name: C-reactive protein, common_name: CRP}
groups:
  headache_severity: {question: How bad is it, question_third_person: How bad is it for them}
  headache_location: {question: Where does it hurt, question_third_person: Where does it hurt them}
`,
}

const (
	release    = "core/release.yaml"
	registry   = "core/registry.yaml"
	head       = "core/observations/head.yaml"
	neurology  = "core/conditions/neurology.yaml"
	language   = "lang/en/language.yaml"
	dictionary = "lang/en/all.yaml"
)

// An edit replaces text in a file of the sources. If the text is empty, it appends to the
// file or creates it.
type edit struct {
	file, old, new string
}

// applyEdits returns the sources with edits applied. Each edit must match exactly once.
func applyEdits(t interface {
	Helper()
	Fatalf(string, ...any)
}, edits ...edit) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range sources {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, e := range edits {
		var text string
		if file := files[e.file]; file != nil {
			text = string(file.Data)
		}
		switch {
		case e.old == "":
			text += e.new
		case strings.Count(text, e.old) != 1:
			t.Fatalf("%s has %q %d times", e.file, e.old, strings.Count(text, e.old))
		default:
			text = strings.Replace(text, e.old, e.new, 1)
		}
		files[e.file] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// lineOf returns the line of a file that contains the text. If an edit removed the text,
// it returns the line before the edit.
func lineOf(t *testing.T, files fstest.MapFS, name, text string) int {
	t.Helper()
	for _, content := range []string{string(files[name].Data), sources[name]} {
		if before, _, found := strings.Cut(content, text); found {
			return strings.Count(before, "\n") + 1
		}
	}
	t.Fatalf("%s does not have %q", name, text)
	return 0
}
