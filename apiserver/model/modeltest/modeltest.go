// SPDX-License-Identifier: Apache-2.0

// Package modeltest builds releases in code, for tests of what reads
// them. Concepts are named by their public ids:
//
//	release := modeltest.New().
//		Condition("c_1", 0.02).
//		Symptom("s_1", 0.05).
//		Link("c_1", "s_1", 0.8).
//		Build(t)
//
// Synthetic makes one of any size up to that of a full catalogue, to measure
// on, and Patients who would come to it.
//
// The package holds no content and no expectations of any test.
package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// TB is what Build needs of a test; *testing.T, *testing.B, *testing.F and
// *rapid.T have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A Builder collects a release. Its methods return it, so that calls can be
// chained; the first mistake is kept for Build to report.
type Builder struct {
	draft        model.Draft
	conditions   map[string]*model.DraftCondition
	observations map[string]*model.DraftObservation
	lexicons     []string
	examples     []model.DraftExample
	err          error
}

// New is a builder of service-en that holds the specialist sp_1 and the
// category cc_1, and no other concepts.
func New() *Builder {
	return &Builder{
		draft: model.Draft{
			Meta: model.Meta{
				ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en",
				ChoicePresent: "Yes", ChoiceAbsent: "No", ChoiceUnknown: "Don't know",
				DurationQuestion:            "How long have you had this: {symptom}?",
				DurationQuestionThirdPerson: "How long have they had this: {symptom}?",
				LeakCourse:                  course(6*time.Hour, 365*24*time.Hour),
			},
			Specialists: []*model.DraftNamed{{Number: 1, Name: "General practitioner"}},
			Categories:  []*model.DraftNamed{{Number: 1, Name: "General medicine"}},
		},
		conditions:   map[string]*model.DraftCondition{},
		observations: map[string]*model.DraftObservation{},
	}
}

// Condition adds an acute condition of every age and both sexes, named by its
// id, with the same prior for all; the edits change what should be otherwise.
func (b *Builder) Condition(id string, prior float64, edits ...func(*model.DraftCondition)) *Builder {
	number, ok := model.ParseID(model.ConditionPrefix, id)
	if !ok || b.conditions[id] != nil {
		return b.fail("condition %q: not an id such as c_1, or added before", id)
	}
	c := &model.DraftCondition{
		Number: number, Name: id, CommonName: id, AgeTo: model.MaxAge,
		Triage: model.Consultation, Severity: model.ModerateSeverity, Acuteness: model.Acute,
		Course:      course(6*time.Hour, 14*24*time.Hour),
		Specialists: b.draft.Specialists[:1:1], Categories: b.draft.Categories[:1:1],
	}
	for sex := range c.Prior {
		for band := range c.Prior[sex] {
			c.Prior[sex][band] = prior
		}
	}
	for _, edit := range edits {
		edit(c)
	}
	b.conditions[id] = c
	b.draft.Conditions = append(b.draft.Conditions, c)
	return b
}

// Symptom adds a symptom, s_<n>, with its leak.
func (b *Builder) Symptom(id string, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.observation(model.Symptom, id, leak, edits)
}

// RiskFactor adds a risk factor, p_<n>, with the share of people who have it.
func (b *Builder) RiskFactor(id string, share float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.observation(model.RiskFactor, id, share, edits)
}

// Alias adds a further id of an observation added before.
func (b *Builder) Alias(id, observation string) *Builder {
	o := b.find(observation)
	if o == nil {
		return b
	}
	number, ok := model.ParseID(o.Kind.Prefix(), id)
	if !ok {
		return b.fail("alias %q of %s: not an id such as %s1", id, observation, o.Kind.Prefix())
	}
	b.draft.Aliases = append(b.draft.Aliases, model.DraftAlias{Number: number, Observation: o})
	return b
}

// LabResult adds a laboratory result, lt_<n>, with its leak. Unless LabTest
// names it, it is the present result of a test of its own, lab_<n>.
func (b *Builder) LabResult(id string, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.observation(model.LabResult, id, leak, edits)
}

// LabTest adds a laboratory test, lab_<n>, of results added before.
func (b *Builder) LabTest(id, name string, results map[string]model.ResultType) *Builder {
	number, ok := model.ParseID(model.LabTestPrefix, id)
	if !ok || slices.ContainsFunc(b.draft.LabTests, func(t *model.DraftLabTest) bool { return t.Number == number }) {
		return b.fail("laboratory test %q: not an id such as lab_1, or added before", id)
	}
	t := &model.DraftLabTest{Number: number, Name: name, CommonName: name, Category: "Blood"}
	for _, result := range slices.Sorted(maps.Keys(results)) {
		if o := b.find(result); o != nil {
			o.LabResult = results[result]
			t.Results = append(t.Results, o)
		}
	}
	b.draft.LabTests = append(b.draft.LabTests, t)
	return b
}

// Drug adds a drug, d_<n>, that means risk factors added before; the edits say
// what else it is called.
func (b *Builder) Drug(id, name, atc string, factors []string, edits ...func(*model.DraftDrug)) *Builder {
	number, ok := model.ParseID(model.DrugPrefix, id)
	if !ok || slices.ContainsFunc(b.draft.Drugs, func(d *model.DraftDrug) bool { return d.Number == number }) {
		return b.fail("drug %q: not an id such as d_1, or added before", id)
	}
	d := &model.DraftDrug{Number: number, Name: name, ATC: atc, Factors: b.findAll(factors)}
	for _, edit := range edits {
		edit(d)
	}
	b.draft.Drugs = append(b.draft.Drugs, d)
	return b
}

// ChronicDisease lists a condition added before as one that patients live with.
func (b *Builder) ChronicDisease(condition string, factors ...string) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.fail("chronic disease of unknown condition %q", condition)
	}
	b.draft.ChronicDiseases = append(b.draft.ChronicDiseases, &model.DraftChronicDisease{Condition: c, Factors: b.findAll(factors)})
	return b
}

// Hospitalizations lists risk factors added before as what people were in
// hospital for.
func (b *Builder) Hospitalizations(factors ...string) *Builder {
	b.draft.Hospitalizations = append(b.draft.Hospitalizations, b.findAll(factors)...)
	return b
}

// completeLabTests adds the tests of the results that no LabTest names.
func (b *Builder) completeLabTests() {
	for _, o := range b.draft.Observations {
		if o.Kind == model.LabResult && o.LabResult == model.NoLabResult {
			id := model.FormatID(model.LabResultPrefix, o.Number)
			b.LabTest(model.FormatID(model.LabTestPrefix, o.Number), "Test for "+id, map[string]model.ResultType{id: model.ResultPresent})
		}
	}
}

// Course says how long the middle 80 % of patients have had symptoms of a
// condition when they seek care.
func (b *Builder) Course(condition string, from, to time.Duration) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.fail("course of unknown condition %q", condition)
	}
	c.Course = course(from, to)
	return b
}

func course(from, to time.Duration) model.Course {
	return model.CourseBetween(from.Minutes(), to.Minutes())
}

// Article adds what patients read about a condition.
func (b *Builder) Article(condition, title string, sections ...model.DraftSection) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.fail("article about unknown condition %q", condition)
	}
	c.Article = &model.DraftArticle{Title: Node(model.Heading1Node, Text(title)), Sections: sections}
	return b
}

// Section is a section of an article.
func Section(name model.SectionName, title string, content ...model.DraftNode) model.DraftSection {
	return model.DraftSection{Name: name, Title: Node(model.Heading1Node, Text(title)), Content: content}
}

// Node is a node that holds others.
func Node(of model.NodeType, children ...model.DraftNode) model.DraftNode {
	return model.DraftNode{Type: of, Children: children}
}

// LinkTo is a node that leads to an address.
func LinkTo(target, text string) model.DraftNode {
	return model.DraftNode{Type: model.LinkNode, Text: target, Children: []model.DraftNode{Text(text)}}
}

// Text is a node of words.
func Text(words string) model.DraftNode {
	return model.DraftNode{Type: model.TextNode, Text: words}
}

// About is an edit of an observation that is about a topic.
func About(topic model.Topic) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Topic = topic }
}

// Lasts is an edit of a child by Duration: its parent has lasted at least from
// and less than to, or, when to is 0, from on.
func Lasts(from, to time.Duration) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) {
		o.LastsFrom, o.LastsTo = uint32(from.Minutes()), uint32(to.Minutes())
		if to == 0 {
			o.LastsTo = model.NoEnd
		}
	}
}

// Child adds a symptom that refines a symptom added before.
func (b *Builder) Child(id, parent string, relation model.Relation, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	refine := func(o *model.DraftObservation) { o.Parent, o.Relation = b.find(parent), relation }
	return b.observation(model.Symptom, id, leak, append([]func(*model.DraftObservation){refine}, edits...))
}

func (b *Builder) observation(kind model.ObservationKind, id string, leak float64, edits []func(*model.DraftObservation)) *Builder {
	number, ok := model.ParseID(kind.Prefix(), id)
	if !ok || b.observations[id] != nil {
		return b.fail("%v %q: not an id such as %s1, or added before", kind, id, kind.Prefix())
	}
	o := &model.DraftObservation{
		Number: number, Kind: kind, Name: id, CommonName: id, AgeTo: model.MaxAge, Leak: leak,
		Question: id + "?", QuestionThirdPerson: "Third person: " + id + "?",
	}
	for _, edit := range edits {
		edit(o)
	}
	b.observations[id] = o
	b.draft.Observations = append(b.draft.Observations, o)
	return b
}

// Link says that this share of patients with the condition report the
// observation, whatever its cause.
func (b *Builder) Link(condition, observation string, share float64) *Builder {
	if c, o := b.conditions[condition], b.find(observation); c == nil {
		b.fail("link to unknown condition %q", condition)
	} else if o != nil {
		c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Share: share})
	}
	return b
}

// Factor multiplies the prior odds of the condition under either answer to
// the observation.
func (b *Builder) Factor(condition, observation string, present, absent float64) *Builder {
	if c, o := b.conditions[condition], b.find(observation); c == nil {
		b.fail("factor of unknown condition %q", condition)
	} else if o != nil {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: o, Present: present, Absent: absent})
	}
	return b
}

// Group asks the items in one question. Their parent is the group's.
func (b *Builder) Group(kind model.GroupType, items ...string) *Builder {
	return b.group(kind, false, items)
}

// OrderedGroup asks items of which at most one holds, from the least to the
// most severe or long, in one question.
func (b *Builder) OrderedGroup(items ...string) *Builder {
	return b.group(model.GroupSingle, true, items)
}

func (b *Builder) group(kind model.GroupType, ordered bool, items []string) *Builder {
	g := &model.DraftGroup{Type: kind, Ordered: ordered, Items: b.findAll(items)}
	g.Question = "Which of " + strings.Join(items, ", ") + "?"
	g.QuestionThirdPerson = "Third person: " + g.Question
	for _, o := range g.Items {
		g.Parent = o.Parent
	}
	b.draft.Groups = append(b.draft.Groups, g)
	return b
}

// Tuple says that the observations together ask for the level.
func (b *Builder) Tuple(level model.TriageLevel, observations ...string) *Builder {
	b.draft.Tuples = append(b.draft.Tuples, model.DraftTuple{
		Level: level, Observations: b.findAll(observations), Reason: strings.Join(observations, " with "),
	})
	return b
}

// Draft is what was added so far, for changes that no method makes.
func (b *Builder) Draft() *model.Draft { return &b.draft }

// Build lays the release out, encodes it and reads it back as a server would,
// so that a test never sees a release that a server would refuse.
func (b *Builder) Build(t TB) *model.Release {
	t.Helper()
	release, err := model.Decode(b.Bytes(t))
	if err != nil {
		t.Fatalf("the release built for this test is refused: %v", err)
	}
	return release
}

// Bytes is the release file, whether a server would accept it or not.
func (b *Builder) Bytes(t TB) []byte {
	t.Helper()
	b.completeLabTests()
	b.completeLexicon()
	if b.err != nil {
		t.Fatalf("building a release for this test: %v", b.err)
	}
	file, err := model.Encode(b.draft.Layout())
	if err != nil {
		t.Fatalf("encoding the release built for this test: %v", err)
	}
	return file
}

func (b *Builder) find(id string) *model.DraftObservation {
	o := b.observations[id]
	if o == nil {
		b.fail("unknown observation %q", id)
	}
	return o
}

func (b *Builder) findAll(ids []string) []*model.DraftObservation {
	var found []*model.DraftObservation
	for _, id := range ids {
		if o := b.find(id); o != nil {
			found = append(found, o)
		}
	}
	return found
}

func (b *Builder) fail(format string, args ...any) *Builder {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
	return b
}
