// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// openLibrary returns a library with the models service-en and service-de.
func openLibrary(t testing.TB) *model.Store {
	t.Helper()
	directory := t.TempDir()
	english, german := smallContent().Lexicon(englishLexicon), smallContent().Lexicon(germanLexicon)
	germanMeta := &german.Draft().Meta
	germanMeta.ModelID, germanMeta.Language, germanMeta.ChoicePresent = "service-de", "de", "Ja"
	for _, builder := range []*modeltest.Builder{english, german} {
		meta := builder.Draft().Meta
		path := filepath.Join(directory, model.FileName(meta.ModelID, meta.Version))
		if err := model.WriteFile(path, builder.Bytes(t)); err != nil {
			t.Fatal(err)
		}
	}
	library, err := model.OpenStore(directory, []model.ReleaseRef{{ID: "service-en"}, {ID: "service-de"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(library.Close)
	return library
}

// Synonyms in both languages.
const (
	englishLexicon = `
fillers: [i, have, a, my, the, is, in]
numbers: {two: 2}
units: {d: [day, days]}
durations: ["for {time}"]
classes:
  burns: [burns, hurts]
cues: {negates: [no], ends: [but], joins: [or, and], questions: [what if]}
observations:
  s_2: {wordings: ["worst headache ... life"]}
  s_3: {after: [both sides]}
  s_10: {wordings: ["<burns> ... pee"]}
`
	germanLexicon = `
fillers: [ich, habe, und]
cues: {negates: [kein]}
observations:
  s_1: {wordings: [kopfweh]}
  s_11: {wordings: [fieber]}
`
)

// article is the article on migraine, with one node of each type.
var article = []model.DraftSection{
	modeltest.Section(model.SummarySection, "Summary",
		modeltest.Node(model.ParagraphNode, modeltest.Text("A "), modeltest.Link("https://example.org/headache", "headache"), modeltest.Text(" <on one side>.")),
		modeltest.Node(model.Heading1Node, modeltest.Text("One")),
		modeltest.Node(model.Heading2Node, modeltest.Text("Two")),
		modeltest.Node(model.Heading3Node, modeltest.Text("Three"))),
	modeltest.Section(model.CauseSection, "Causes",
		modeltest.Node(model.UnorderedListNode,
			modeltest.Node(model.ListItemNode, modeltest.Text("Stress")),
			modeltest.Node(model.ListItemNode, modeltest.Node(model.OrderedListNode, modeltest.Node(model.ListItemNode, modeltest.Text("Wine")))))),
	modeltest.Section(model.DisclaimerSection, "Disclaimer", modeltest.Node(model.ParagraphNode)),
}

// smallContent returns a model with every kind of catalog entry.
func smallContent() *modeltest.Builder {
	condition := func(name, common string, edit func(*model.DraftCondition)) func(*model.DraftCondition) {
		return func(c *model.DraftCondition) {
			c.Name, c.CommonName = name, common
			edit(c)
		}
	}
	observation := func(name, common string, edit func(*model.DraftObservation)) func(*model.DraftObservation) {
		return func(o *model.DraftObservation) {
			o.Name, o.CommonName = name, common
			edit(o)
		}
	}
	asIs := func(*model.DraftObservation) {}
	b := modeltest.New().
		Condition("c_1", 0.01, condition("Migraine", "Migraine", func(c *model.DraftCondition) {
			c.Synonyms = []string{"sick headache"}
			c.Hint, c.ICD10 = "Rest in a <dark> room.", "G43.9"
			c.Acuteness, c.Channel, c.Prevalence = model.ChronicWithExacerbations, model.AudioTeleconsultation, model.Common
		})).
		Condition("c_2", 0.002, condition("Subarachnoid hemorrhage", "Bleeding around the brain", func(c *model.DraftCondition) {
			c.Triage, c.Severity, c.Prevalence = model.EmergencyAmbulance, model.Severe, model.VeryRare
		})).
		Condition("c_3", 0.01, condition("croup", "Croup", func(c *model.DraftCondition) {
			c.AgeFrom, c.AgeTo, c.Triage = 6, 71, model.Consultation24
		})).
		Condition("c_4", 0.05, condition("Common cold", "Common cold", func(c *model.DraftCondition) {
			c.Triage, c.Severity = model.SelfCare, model.Mild
		})).
		Condition("c_5", 0.01, condition("Cystitis", "Bladder infection", func(c *model.DraftCondition) {
			c.Sex = model.FemaleOnly
		})).
		Symptom("s_1", 0.05, observation("Headache", "Headache", asIs)).
		Child("s_2", "s_1", model.SeverityRelation, 0.004, observation("Headache, severe", "Severe headache", asIs)).
		Child("s_3", "s_1", model.LocationRelation, 0.01, observation("Headache, temples", "Pain in the temples", asIs)).
		Child("s_4", "s_1", model.LocationRelation, 0.01, observation("Headache, occipital", "Pain in the back of the head", asIs)).
		Symptom("s_5", 0.03, observation("nausea", "Feeling sick", func(o *model.DraftObservation) {
			o.Synonyms = []string{"about to throw up"}
		})).
		Symptom("s_6", 0.001, observation("Neck stiffness", "Stiff neck", func(o *model.DraftObservation) {
			o.Seriousness = model.SeriousnessEmergencyAmbulance
		})).
		Symptom("s_7", 0.01, observation("Cough, barking", "Barking cough", func(o *model.DraftObservation) {
			o.AgeFrom, o.AgeTo, o.Seriousness = 6, 71, model.Serious
		})).
		Symptom("s_8", 0.1, observation("Rhinorrhea", "Runny nose", asIs)).
		Symptom("s_9", 0.01, observation("Nystagmus", "Nystagmus", func(o *model.DraftObservation) {
			o.Question, o.QuestionThirdPerson = "", ""
		})).
		Symptom("s_10", 0.02, observation("Dysuria", "Burning urination", asIs)).
		Symptom("s_11", 0.05, observation("Fever", "Fever", asIs)).
		Child("s_12", "s_11", model.SeverityRelation, 0.02, observation("Fever, moderate", "Fever from 38 to 39 °C", asIs)).
		Child("s_13", "s_11", model.SeverityRelation, 0.005, observation("Fever, high", "Fever over 39 °C", asIs)).
		RiskFactor("p_7", 0.2, observation("BMI over 30", "High body mass index", asIs)).
		RiskFactor("p_15", 0.5, observation("Residence in Europe", "Living in Europe", func(o *model.DraftObservation) {
			o.Question, o.QuestionThirdPerson = "", ""
		})).
		RiskFactor("p_30", 0.1, observation("Pregnancy", "Pregnancy", func(o *model.DraftObservation) {
			o.Sex, o.AgeFrom, o.AgeTo = model.FemaleOnly, 144, 660
		})).
		Alias("p_22", "p_15").Alias("s_98", "s_11").
		LabResult("lt_1", 0.05, observation("Leukocytosis", "High white blood cells", asIs)).
		LabResult("lt_2", 0.8, observation("Leukocytes normal", "Normal white blood cells", asIs)).
		LabResult("lt_3", 0.05, observation("Parainfluenza virus found", "Croup virus found", func(o *model.DraftObservation) {
			o.AgeFrom, o.AgeTo = 6, 71
		})).
		LabTest("lab_1", "White blood cell count", map[string]model.ResultType{"lt_1": model.High, "lt_2": model.Normal}).
		LabTest("lab_2", "Parainfluenza virus test", map[string]model.ResultType{"lt_3": model.ResultPresent}).
		Link("c_1", "s_1", 0.95).Link("c_1", "s_2", 0.6).Link("c_1", "s_3", 0.4).Link("c_1", "s_4", 0.1).Link("c_1", "s_5", 0.6).Link("c_1", "s_9", 0.02).
		Link("c_2", "s_1", 0.95).Link("c_2", "s_2", 0.9).Link("c_2", "s_3", 0.05).Link("c_2", "s_4", 0.6).Link("c_2", "s_5", 0.5).Link("c_2", "s_6", 0.6).
		Link("c_2", "s_11", 0.1).Link("c_2", "s_12", 0.05).Link("c_2", "s_13", 0.02).
		Link("c_3", "s_7", 0.9).Link("c_3", "s_8", 0.5).Link("c_3", "lt_3", 0.5).
		Link("c_4", "s_11", 0.4).Link("c_4", "s_12", 0.3).Link("c_4", "s_13", 0.05).
		Link("c_4", "s_8", 0.9).Link("c_4", "s_1", 0.3).Link("c_4", "s_2", 0.01).Link("c_4", "s_3", 0.03).Link("c_4", "s_4", 0.03).
		Link("c_5", "s_10", 0.9).Link("c_5", "lt_1", 0.5).
		Factor("c_5", "p_30", 2, 0.9).Factor("c_1", "p_7", 1.2, 0.95).
		Group(model.GroupMultiple, "s_3", "s_4").
		OrderedGroup("s_12", "s_13").
		Course("c_1", 4*time.Hour, 3*24*time.Hour).
		Course("c_2", 10*time.Minute, 24*time.Hour).
		Course("c_4", 24*time.Hour, 14*24*time.Hour).
		Article("c_1", "Migraine", article...).
		Tuple(model.Emergency, "s_2", "s_5")
	draft := b.Draft()
	neurologist := &model.DraftNamedItem{Number: 17, Name: "Neurologist"}
	draft.Specialists = append(draft.Specialists, neurologist)
	for _, c := range draft.Conditions[:2] {
		c.Specialists = []*model.DraftNamedItem{neurologist, draft.Specialists[0]}
	}
	return b
}
