// SPDX-License-Identifier: Apache-2.0

// Package surveytest provides fixtures for survey tests: a small release with every kind of
// question, in-memory knowledge lists, and an environment that contains both.
package surveytest

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// InMemoryLists are in-memory knowledge lists by name. They are the same for every patient.
type InMemoryLists map[string][]section.ListItem

// Find implements section.Lists.
func (l InMemoryLists) Find(list record.SourceList, id string) (section.ListItem, bool) {
	for _, item := range l[list.Name] {
		if item.ID == id {
			return item, true
		}
	}
	return section.ListItem{}, false
}

// NewLists returns short lists: diabetes (c_1, implies p_8) and gout (c_2), insulin
// (d_1, implies p_8) and water (d_2), surgery (p_47).
func NewLists() InMemoryLists {
	return InMemoryLists{
		record.ChronicDiseaseList:  {{ID: "c_1", Name: "Diabetes", RiskFactors: []string{"p_8"}}, {ID: "c_2", Name: "Gout"}},
		record.DrugList:            {{ID: "d_1", Name: "Insulin", RiskFactors: []string{"p_8"}}, {ID: "d_2", Name: "Water"}},
		record.HospitalizationList: {{ID: "p_47", Name: "Surgery", RiskFactors: []string{"p_47"}}},
	}
}

// overlayLists are the lists of a release, with some lists replaced by in-memory ones.
type overlayLists struct {
	release   section.ReleaseLists
	overrides InMemoryLists
}

// Find implements section.Lists.
func (l overlayLists) Find(list record.SourceList, id string) (section.ListItem, bool) {
	if _, overridden := l.overrides[list.Name]; overridden {
		return l.overrides.Find(list, id)
	}
	return l.release.Find(list, id)
}

// NewEnv returns the environment of a release with NewLists, the texts of its
// language, and prefilling enabled.
func NewEnv(t modeltest.TB, r *model.Release) section.Env {
	t.Helper()
	texts, err := section.LoadTexts()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return section.Env{
		Release: r, Engine: inference.New(), Texts: texts.Match(r.Meta.Language),
		Lists:    overlayLists{section.ReleaseLists{Release: r}, NewLists()},
		Features: section.Features{Prefill: true, PatientResults: true},
	}
}

// NewRelease returns a small model. Its symptoms are headache (s_1), with a
// single-choice group of characters (s_11, s_12), a multiple-choice group of
// accompanying symptoms (s_13, s_14) and a single detail (s_15); cough (s_2) with a
// detail (s_21); a symptom of women only (s_3); fever (s_4); and a symptom that is an
// emergency on its own (s_5). Its risk factors are overweight (p_7), smoking (p_28,
// also p_280), diabetes (p_8), pregnancy (p_42, women aged 12 to 55) and surgery
// (p_47).
func NewRelease(t modeltest.TB) *model.Release { return NewReleaseBuilder().Build(t) }

// NewReleaseBuilder returns the builder of NewRelease, for tests to extend.
func NewReleaseBuilder() *modeltest.Builder {
	b := modeltest.New().
		Condition("c_1", 0.02, withTriage(model.Consultation)).Condition("c_2", 0.05, withTriage(model.SelfCare)).
		Condition("c_3", 0.001, withTriage(model.EmergencyAmbulance)).Condition("c_4", 0.01, withTriage(model.Consultation24)).
		Symptom("s_1", 0.05).Symptom("s_2", 0.05).Symptom("s_3", 0.02, withApplicability(model.FemaleOnly, 0, model.MaxAgeMonths)).Symptom("s_4", 0.02).
		Symptom("s_5", 0.01, asEmergency).
		Child("s_11", "s_1", model.CharacterRelation, 0.01).Child("s_12", "s_1", model.CharacterRelation, 0.01).Group(model.GroupSingle, "s_11", "s_12").
		Child("s_13", "s_1", model.ExacerbatingFactorRelation, 0.01).Child("s_14", "s_1", model.ExacerbatingFactorRelation, 0.01).Group(model.GroupMultiple, "s_13", "s_14").
		Child("s_15", "s_1", model.LocationRelation, 0.01).Child("s_21", "s_2", model.CharacterRelation, 0.01).
		RiskFactor("p_7", 0.2).RiskFactor("p_28", 0.2).RiskFactor("p_8", 0.1).RiskFactor("p_42", 0.05, withApplicability(model.FemaleOnly, 144, 660)).
		RiskFactor("p_47", 0.02).Alias("p_280", "p_28").LabResult("lt_1", 0.1)
	for condition, shares := range map[string]map[string]float64{
		"c_1": {"s_1": 0.9, "s_11": 0.6, "s_12": 0.1, "s_13": 0.5, "s_14": 0.1, "s_15": 0.4, "s_3": 0.4},
		"c_2": {"s_1": 0.5, "s_11": 0.1, "s_12": 0.3, "s_14": 0.3, "s_2": 0.8, "s_21": 0.3, "s_4": 0.6},
		"c_3": {"s_1": 0.8, "s_12": 0.5, "s_13": 0.1, "s_15": 0.1, "s_4": 0.4, "s_5": 0.7},
		"c_4": {"s_2": 0.9, "s_21": 0.6, "s_4": 0.8, "lt_1": 0.5},
	} {
		for observation, share := range shares {
			b.Link(condition, observation, share)
		}
	}
	for i, id := range []string{"p_7", "p_28", "p_8", "p_42", "p_47"} {
		b.Factor([]string{"c_1", "c_2", "c_3", "c_4", "c_3"}[i], id, 3, 0.8)
	}
	return b
}

func withTriage(level model.TriageLevel) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.Triage, c.ICD10 = level, "G43.9, R51" }
}

func withApplicability(sex model.SexFilter, from, to uint16) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Sex, o.AgeFrom, o.AgeTo = sex, from, to }
}

func asEmergency(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergency }
