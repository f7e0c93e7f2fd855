// SPDX-License-Identifier: Apache-2.0

// Package guidancetest has what tests of surveys need: a small release with all
// that can be asked, knowledge lists in memory, and a world of both.
package guidancetest

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// Lists are knowledge lists in memory, by name, the same for everybody.
type Lists map[string][]section.ListItem

// Find implements section.Lists.
func (l Lists) Find(list guidance.SourceList, id string) (section.ListItem, bool) {
	for _, item := range l[list.Name] {
		if item.ID == id {
			return item, true
		}
	}
	return section.ListItem{}, false
}

// SomeLists are short ones: diabetes (c_1, the risk factor p_8) and gout (c_2),
// insulin (d_1, p_8) and water (d_2), surgery (p_47).
func SomeLists() Lists {
	return Lists{
		guidance.ChronicDiseaseList:  {{ID: "c_1", Name: "Diabetes", RiskFactors: []string{"p_8"}}, {ID: "c_2", Name: "Gout"}},
		guidance.DrugList:            {{ID: "d_1", Name: "Insulin", RiskFactors: []string{"p_8"}}, {ID: "d_2", Name: "Water"}},
		guidance.HospitalizationList: {{ID: "p_47", Name: "Surgery", RiskFactors: []string{"p_47"}}},
	}
}

// worldLists are those of a release, but for the ones that it may lack.
type worldLists struct {
	release section.ReleaseLists
	some    Lists
}

// Find implements section.Lists.
func (l worldLists) Find(list guidance.SourceList, id string) (section.ListItem, bool) {
	if _, some := l.some[list.Name]; some {
		return l.some.Find(list, id)
	}
	return l.release.Find(list, id)
}

// World is one of a release, with SomeLists, the words of its language and
// prefilling on.
func World(t modeltest.TB, r *model.Release) section.World {
	t.Helper()
	vocabulary, err := section.ReadVocabulary()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return section.World{
		Release: r, Engine: engine.New(), Words: vocabulary.In(r.Meta.Language),
		Lists:    worldLists{section.ReleaseLists{Release: r}, SomeLists()},
		Features: section.Features{Prefill: true, PatientResults: true},
	}
}

// Release is a small model. Its symptoms are headache (s_1), with a group of
// characters of which one holds (s_11, s_12), a group of companions that may all
// hold (s_13, s_14) and a single detail (s_15); cough (s_2) with a detail (s_21); a
// symptom of women (s_3); fever (s_4); and an emergency by itself (s_5). Its risk
// factors are overweight (p_7), smoking (p_28, also p_280), diabetes (p_8),
// pregnancy (p_42, of women from 12 to 55) and surgery (p_47).
func Release(t modeltest.TB) *model.Release { return Draft().Build(t) }

// Draft is the builder of Release, to add to.
func Draft() *modeltest.Builder {
	b := modeltest.New().
		Condition("c_1", 0.02, triaged(model.Consultation)).Condition("c_2", 0.05, triaged(model.SelfCare)).
		Condition("c_3", 0.001, triaged(model.EmergencyAmbulance)).Condition("c_4", 0.01, triaged(model.Consultation24)).
		Symptom("s_1", 0.05).Symptom("s_2", 0.05).Symptom("s_3", 0.02, of(model.FemaleOnly, 0, model.MaxAge)).Symptom("s_4", 0.02).
		Symptom("s_5", 0.01, serious).
		Child("s_11", "s_1", model.Character, 0.01).Child("s_12", "s_1", model.Character, 0.01).Group(model.GroupSingle, "s_11", "s_12").
		Child("s_13", "s_1", model.ExacerbatingFactor, 0.01).Child("s_14", "s_1", model.ExacerbatingFactor, 0.01).Group(model.GroupMultiple, "s_13", "s_14").
		Child("s_15", "s_1", model.Location, 0.01).Child("s_21", "s_2", model.Character, 0.01).
		RiskFactor("p_7", 0.2).RiskFactor("p_28", 0.2).RiskFactor("p_8", 0.1).RiskFactor("p_42", 0.05, of(model.FemaleOnly, 144, 660)).
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

func triaged(level model.TriageLevel) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.Triage, c.ICD10 = level, "G43.9, R51" }
}

func of(sex model.SexFilter, from, to uint16) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Sex, o.AgeFrom, o.AgeTo = sex, from, to }
}

func serious(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergency }
