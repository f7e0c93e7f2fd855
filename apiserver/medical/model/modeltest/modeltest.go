// SPDX-License-Identifier: Apache-2.0

// Package modeltest builds releases in code, for tests of packages that read them.
// Concepts are identified by their public IDs:
//
//	release := modeltest.New().
//		Condition("c_1", 0.02).
//		Symptom("s_1", 0.05).
//		Link("c_1", "s_1", 0.8).
//		Build(t)
//
// Synthetic generates a release of any size up to a full catalog, for benchmarks, and
// SamplePatients draws patients for it.
//
// The package does not contain medical content or test expectations.
package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TB is the part of testing.TB that Build needs. *testing.T, *testing.B, *testing.F and
// *rapid.T implement it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A Builder collects the concepts of a release. Its methods return the Builder, so that
// calls can be chained. It keeps the first error until Build reports it.
type Builder struct {
	draft        model.Draft
	conditions   map[string]*model.DraftCondition
	observations map[string]*model.DraftObservation
	lexicons     []string
	examples     []model.DraftExample
	err          error
}

// New returns a builder of service-en with the specialist sp_1 and the category cc_1, and
// no other concepts.
func New() *Builder {
	return &Builder{
		draft: model.Draft{
			Meta: model.Meta{
				ModelID: "service-en", Version: "2026-11-21T00:00:00Z", Language: "en",
				ChoicePresent: "Yes", ChoiceAbsent: "No", ChoiceUnknown: "Don't know",
				DurationQuestion:            "How long have you had this: {symptom}?",
				DurationQuestionThirdPerson: "How long have they had this: {symptom}?",
				LeakCourse:                  newCourse(6*time.Hour, 365*24*time.Hour),
			},
			Specialists: []*model.DraftNamedItem{{Number: 1, Name: "General practitioner"}},
			Categories:  []*model.DraftNamedItem{{Number: 1, Name: "General medicine"}},
		},
		conditions:   map[string]*model.DraftCondition{},
		observations: map[string]*model.DraftObservation{},
	}
}

// Condition adds an acute condition of all ages and both sexes, with the same prior for
// all patients. The edits change the defaults.
func (b *Builder) Condition(id string, prior float64, edits ...func(*model.DraftCondition)) *Builder {
	number, ok := model.ParseID(model.ConditionPrefix, id)
	if !ok || b.conditions[id] != nil {
		return b.errorf("condition %q is already defined, or is not an ID such as c_1", id)
	}
	c := &model.DraftCondition{
		Number: number, Name: id, CommonName: id, AgeTo: model.MaxAgeMonths,
		Triage: model.Consultation, Severity: model.ModerateSeverity, Acuteness: model.Acute,
		Course:      newCourse(6*time.Hour, 14*24*time.Hour),
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

// Symptom adds a symptom s_<n> with its leak.
func (b *Builder) Symptom(id string, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.addObservation(model.Symptom, id, leak, edits)
}

// RiskFactor adds a risk factor p_<n> with the share of people who have it.
func (b *Builder) RiskFactor(id string, share float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.addObservation(model.RiskFactor, id, share, edits)
}

// Alias adds an additional ID for an existing observation.
func (b *Builder) Alias(id, observation string) *Builder {
	o := b.findObservation(observation)
	if o == nil {
		return b
	}
	number, ok := model.ParseID(o.Kind.Prefix(), id)
	if !ok {
		return b.errorf("invalid alias %q of %s: expected an ID such as %s1", id, observation, o.Kind.Prefix())
	}
	b.draft.Aliases = append(b.draft.Aliases, model.DraftAlias{Number: number, Observation: o})
	return b
}

// LabResult adds a laboratory result lt_<n> with its leak. Unless it is passed to
// LabTest, it becomes the present result of its own test lab_<n>.
func (b *Builder) LabResult(id string, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	return b.addObservation(model.LabResult, id, leak, edits)
}

// LabTest adds a laboratory test lab_<n> with existing results.
func (b *Builder) LabTest(id, name string, results map[string]model.ResultType) *Builder {
	number, ok := model.ParseID(model.LabTestPrefix, id)
	if !ok || slices.ContainsFunc(b.draft.LabTests, func(t *model.DraftLabTest) bool { return t.Number == number }) {
		return b.errorf("laboratory test %q is already defined, or is not an ID such as lab_1", id)
	}
	t := &model.DraftLabTest{Number: number, Name: name, CommonName: name, Category: "Blood"}
	for _, result := range slices.Sorted(maps.Keys(results)) {
		if o := b.findObservation(result); o != nil {
			o.LabResult = results[result]
			t.Results = append(t.Results, o)
		}
	}
	b.draft.LabTests = append(b.draft.LabTests, t)
	return b
}

// Drug adds a drug d_<n> that implies existing risk factors. The edits can add other
// names.
func (b *Builder) Drug(id, name, atc string, factors []string, edits ...func(*model.DraftDrug)) *Builder {
	number, ok := model.ParseID(model.DrugPrefix, id)
	if !ok || slices.ContainsFunc(b.draft.Drugs, func(d *model.DraftDrug) bool { return d.Number == number }) {
		return b.errorf("drug %q is already defined, or is not an ID such as d_1", id)
	}
	d := &model.DraftDrug{Number: number, Name: name, ATC: atc, RiskFactors: b.findObservations(factors)}
	for _, edit := range edits {
		edit(d)
	}
	b.draft.Drugs = append(b.draft.Drugs, d)
	return b
}

// ChronicDisease lists an existing condition as a chronic disease.
func (b *Builder) ChronicDisease(condition string, factors ...string) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.errorf("chronic disease of unknown condition %q", condition)
	}
	b.draft.ChronicDiseases = append(b.draft.ChronicDiseases, &model.DraftChronicDisease{Condition: c, RiskFactors: b.findObservations(factors)})
	return b
}

// Hospitalizations lists existing risk factors as reasons for a hospital stay.
func (b *Builder) Hospitalizations(factors ...string) *Builder {
	b.draft.Hospitalizations = append(b.draft.Hospitalizations, b.findObservations(factors)...)
	return b
}

// addImplicitLabTests adds a test for each result that does not belong to a test.
func (b *Builder) addImplicitLabTests() {
	for _, o := range b.draft.Observations {
		if o.Kind == model.LabResult && o.LabResult == model.NoLabResult {
			id := model.FormatID(model.LabResultPrefix, o.Number)
			b.LabTest(model.FormatID(model.LabTestPrefix, o.Number), "Test for "+id, map[string]model.ResultType{id: model.ResultPresent})
		}
	}
}

// Course sets how long the middle 80 % of patients with a condition have had symptoms
// when they seek care.
func (b *Builder) Course(condition string, from, to time.Duration) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.errorf("course of unknown condition %q", condition)
	}
	c.Course = newCourse(from, to)
	return b
}

func newCourse(from, to time.Duration) model.Course {
	return model.NewCourse(from.Minutes(), to.Minutes())
}

// Article adds the article of a condition.
func (b *Builder) Article(condition, title string, sections ...model.DraftSection) *Builder {
	c := b.conditions[condition]
	if c == nil {
		return b.errorf("article about unknown condition %q", condition)
	}
	c.Article = &model.DraftArticle{Title: Node(model.Heading1Node, Text(title)), Sections: sections}
	return b
}

// Section returns a section of an article.
func Section(name model.SectionName, title string, content ...model.DraftNode) model.DraftSection {
	return model.DraftSection{Name: name, Title: Node(model.Heading1Node, Text(title)), Content: content}
}

// Node returns a node that contains other nodes.
func Node(kind model.NodeType, children ...model.DraftNode) model.DraftNode {
	return model.DraftNode{Type: kind, Children: children}
}

// Link returns a node that links to target.
func Link(target, text string) model.DraftNode {
	return model.DraftNode{Type: model.LinkNode, Text: target, Children: []model.DraftNode{Text(text)}}
}

// Text returns a text node.
func Text(words string) model.DraftNode {
	return model.DraftNode{Type: model.TextNode, Text: words}
}

// WithTopic returns an edit that sets the topic of an observation.
func WithTopic(topic model.Topic) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.Topic = topic }
}

// WithDurationRange returns an edit that sets the range of the parent's duration for a
// child with DurationRelation: at least from and less than to. If to is zero, there is
// no upper limit.
func WithDurationRange(from, to time.Duration) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) {
		o.DurationFrom, o.DurationTo = uint32(from.Minutes()), uint32(to.Minutes())
		if to == 0 {
			o.DurationTo = model.NoUpperBound
		}
	}
}

// Child adds a symptom that refines an existing symptom.
func (b *Builder) Child(id, parent string, relation model.Relation, leak float64, edits ...func(*model.DraftObservation)) *Builder {
	refine := func(o *model.DraftObservation) { o.Parent, o.Relation = b.findObservation(parent), relation }
	return b.addObservation(model.Symptom, id, leak, append([]func(*model.DraftObservation){refine}, edits...))
}

func (b *Builder) addObservation(kind model.ObservationKind, id string, leak float64, edits []func(*model.DraftObservation)) *Builder {
	number, ok := model.ParseID(kind.Prefix(), id)
	if !ok || b.observations[id] != nil {
		return b.errorf("%v %q is already defined, or is not an ID such as %s1", kind, id, kind.Prefix())
	}
	o := &model.DraftObservation{
		Number: number, Kind: kind, Name: id, CommonName: id, AgeTo: model.MaxAgeMonths, Leak: leak,
		Question: id + "?", QuestionThirdPerson: "Third person: " + id + "?",
	}
	for _, edit := range edits {
		edit(o)
	}
	b.observations[id] = o
	b.draft.Observations = append(b.draft.Observations, o)
	return b
}

// Link links a condition to an observation that the given share of its patients report,
// whatever the cause.
func (b *Builder) Link(condition, observation string, share float64) *Builder {
	if c, o := b.conditions[condition], b.findObservation(observation); c == nil {
		b.errorf("link to unknown condition %q", condition)
	} else if o != nil {
		c.Findings = append(c.Findings, model.DraftFinding{Observation: o, Probability: share})
	}
	return b
}

// Factor sets the multipliers of the prior odds of a condition for a yes and a no to an
// observation.
func (b *Builder) Factor(condition, observation string, present, absent float64) *Builder {
	if c, o := b.conditions[condition], b.findObservation(observation); c == nil {
		b.errorf("factor of unknown condition %q", condition)
	} else if o != nil {
		c.Factors = append(c.Factors, model.DraftFactor{Observation: o, Present: present, Absent: absent})
	}
	return b
}

// Group adds a group that asks about the items in one question. The group takes its
// parent from the items.
func (b *Builder) Group(kind model.GroupType, items ...string) *Builder {
	return b.addGroup(kind, false, items)
}

// OrderedGroup adds a group of mutually exclusive items, from the least to the most
// severe or longest.
func (b *Builder) OrderedGroup(items ...string) *Builder {
	return b.addGroup(model.GroupSingle, true, items)
}

func (b *Builder) addGroup(kind model.GroupType, ordered bool, items []string) *Builder {
	g := &model.DraftGroup{Type: kind, Ordered: ordered, Items: b.findObservations(items)}
	g.Question = "Which of " + strings.Join(items, ", ") + "?"
	g.QuestionThirdPerson = "Third person: " + g.Question
	for _, o := range g.Items {
		g.Parent = o.Parent
	}
	b.draft.Groups = append(b.draft.Groups, g)
	return b
}

// Tuple adds a tuple: the observations together require the triage level.
func (b *Builder) Tuple(level model.TriageLevel, observations ...string) *Builder {
	b.draft.Tuples = append(b.draft.Tuples, model.DraftTuple{
		Level: level, Observations: b.findObservations(observations), Reason: strings.Join(observations, " with "),
	})
	return b
}

// Draft returns the current draft, for changes without a Builder method.
func (b *Builder) Draft() *model.Draft { return &b.draft }

// Build builds the release, encodes it and decodes it as a server would, so that a test
// never sees a release that a server would reject.
func (b *Builder) Build(t TB) *model.Release {
	t.Helper()
	release, err := model.Decode(b.Bytes(t))
	if err != nil {
		t.Fatalf("decoding the release built for this test: %v", err)
	}
	return release
}

// Bytes returns the release file, whether or not a server would accept it.
func (b *Builder) Bytes(t TB) []byte {
	t.Helper()
	b.addImplicitLabTests()
	b.compileLexicon()
	if b.err != nil {
		t.Fatalf("building a release for this test: %v", b.err)
	}
	file, err := model.Encode(b.draft.Build())
	if err != nil {
		t.Fatalf("encoding the release built for this test: %v", err)
	}
	return file
}

func (b *Builder) findObservation(id string) *model.DraftObservation {
	o := b.observations[id]
	if o == nil {
		b.errorf("unknown observation %q", id)
	}
	return o
}

func (b *Builder) findObservations(ids []string) []*model.DraftObservation {
	var observations []*model.DraftObservation
	for _, id := range ids {
		if o := b.findObservation(id); o != nil {
			observations = append(observations, o)
		}
	}
	return observations
}

func (b *Builder) errorf(format string, args ...any) *Builder {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
	return b
}
