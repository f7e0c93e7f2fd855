// SPDX-License-Identifier: Apache-2.0

// Package compile turns content sources into release files. It holds every
// check on the content: what the sources must not say, and what they should
// say more of. How the sources are written is the matter of package source,
// how a release is laid out that of package model.
package compile

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// A Result is the content in one language, compiled.
type Result struct {
	Meta model.Meta
	// Release is the content of the release file.
	Release []byte
	// Report says where the content is thin.
	Report Report
}

// Compile compiles the content in one language, a folder under lang. The same
// content gives the same bytes. All that the content must not say is found at
// once: the error then is a source.Error with one line for each, as
// file:line: reason.
func Compile(content fs.FS, language string) (*Result, error) {
	c := &compiler{
		observations:  map[string]*observation{},
		conditions:    map[string]*condition{},
		groups:        map[string]*model.DraftGroup{},
		labTests:      map[string]*model.DraftLabTest{},
		drugs:         map[string]*model.DraftDrug{},
		diseases:      map[string]*model.DraftChronicDisease{},
		observationOf: map[*model.DraftObservation]*observation{},
		conditionOf:   map[*model.DraftCondition]*condition{},
	}
	if err := c.read(content, language); err != nil {
		return nil, err
	}
	for _, step := range []func(){
		c.checkMeta,
		c.addNamed,
		c.addObservations,
		c.addAliases,
		c.linkParents,
		c.addGroups,
		c.addLabTests,
		c.addTuples,
		c.addConditions,
		c.addDrugs,
		c.addChronicDiseases,
		c.addHospitalizations,
		c.checkRegistry,
		c.addWords,
		c.checkWordings,
		c.checkDrugWordings,
		c.addArticles,
		c.addLexicon,
	} {
		step()
	}
	plain := c.draft
	plain.Lexicon = model.DraftLexicon{} // nothing below asks for it
	authored := plain.Layout()
	c.checkFrequencies(authored)
	c.checkAlike(authored)
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	report := c.report(authored)
	addUsualDetails(&c.draft)
	return c.result(c.draft.Layout(), report)
}

// compiler is a compilation under way. Its steps add what they understand to
// the draft and what they do not to the problems, so that later steps and the
// reader see as much as possible; only a draft without problems is used.
type compiler struct {
	problems     source.Problems
	core         *source.Core
	words        *source.Language
	draft        model.Draft
	specialists  map[string]*model.DraftNamed
	categories   map[string]*model.DraftNamed
	observations map[string]*observation               // by slug
	conditions   map[string]*condition                 // by slug
	groups       map[string]*model.DraftGroup          // by slug
	labTests     map[string]*model.DraftLabTest        // by slug
	drugs        map[string]*model.DraftDrug           // by slug
	diseases     map[string]*model.DraftChronicDisease // by the slug of the condition
	// What the parts of the draft come from.
	observationOf  map[*model.DraftObservation]*observation
	conditionOf    map[*model.DraftCondition]*condition
	sharedWordings []string // as package lexicon tells them
	unseparated    []string // as checkAlike tells them
}

func (c *compiler) read(content fs.FS, language string) (err error) {
	if c.core, err = source.ReadCore(content, &c.problems); err != nil {
		return err
	}
	if c.words, err = source.ReadLanguage(content, language, &c.problems); err != nil {
		return err
	}
	if c.problems.Broken() {
		return c.problems.Err()
	}
	return nil
}

// result encodes the release and reads it back: what a server would refuse is
// never written.
func (c *compiler) result(release *model.Release, report Report) (*Result, error) {
	file, err := model.Encode(release)
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", release.Meta.ModelID, err)
	}
	if _, err := model.Decode(file); err != nil {
		return nil, fmt.Errorf("the compiler made a release of %s that servers refuse, which is an error in the compiler: %w", release.Meta.ModelID, err)
	}
	report.ReleaseBytes = len(file)
	return &Result{Meta: release.Meta, Release: file, Report: report}, nil
}

func (c *compiler) checkMeta() {
	version := c.core.Version
	if _, err := time.Parse(model.VersionLayout, version.Text); err != nil {
		c.at(source.ReleaseFile, version.Line).add("version %q is not a time in UTC such as %s", version.Text, "2026-11-21T00:00:00Z")
	}
	if c.core.Course.Line() == 0 {
		c.at(source.ReleaseFile, 0).add("course is missing: how long people have had symptoms that no condition brings, as in {from: 6h, to: 1y}")
	}
	w := c.words
	c.draft.Meta = model.Meta{
		ModelID:       c.text(w.File, "model", w.Model),
		Version:       version.Text,
		Language:      c.text(w.File, "language", w.Language),
		Experimental:  w.Experimental.Value,
		ChoicePresent: c.text(w.File, "choices.present", w.Choices.Present),
		ChoiceAbsent:  c.text(w.File, "choices.absent", w.Choices.Absent),
		ChoiceUnknown: c.text(w.File, "choices.unknown", w.Choices.Unknown),

		DurationQuestion:            c.durationQuestion("questions.duration", w.Questions.Duration),
		DurationQuestionThirdPerson: c.durationQuestion("questions.duration_third_person", w.Questions.DurationThirdPerson),
		LeakCourse:                  course(c.at(source.ReleaseFile, 0), c.core.Course, model.Course{}),
	}
	if w.Model.Line != 0 && !model.ValidModelID(w.Model.Text) {
		c.at(w.File, w.Model.Line).add("model id %q: expected small letters, digits and dashes, as in service-en", w.Model.Text)
	}
}

// durationQuestion is a question that the name of a symptom goes into.
func (c *compiler) durationQuestion(key string, w source.Word) string {
	text := c.text(c.words.File, key, w)
	if text != "" && strings.Count(text, model.SymptomSlot) != 1 {
		c.at(c.words.File, w.Line).add("%s is %q: expected %s in it, once, in place of the symptom", key, text, model.SymptomSlot)
	}
	return text
}

// text is the text of a word that must be there.
func (c *compiler) text(file, key string, w source.Word) string {
	if w.Text == "" {
		c.at(file, w.Line).add("%s is missing", key)
	}
	return w.Text
}

// A place is where problems are added.
type place struct {
	problems *source.Problems
	position source.Position
}

func (c *compiler) at(file string, line int) place {
	return place{problems: &c.problems, position: source.Position{File: file, Line: line}}
}

func (p place) add(format string, args ...any) {
	p.problems.Add(p.position, format, args...)
}

// line moves a place to another line of its file, unless that is unknown.
func (p place) line(line int) place {
	if line != 0 {
		p.position.Line = line
	}
	return p
}

// vocabulary parses a word, where one is given, and adds to the problems what
// does not parse.
func vocabulary[T any](p place, w source.Word, parse func(string) (T, error)) (value T) {
	if w.Line == 0 {
		return value
	}
	value, err := parse(w.Text)
	if err != nil {
		p.line(w.Line).add("%v", err)
	}
	return value
}

// required is vocabulary for a key that must be there.
func required[T any](p place, key string, w source.Word, parse func(string) (T, error)) (value T) {
	if w.Line == 0 {
		p.add("%s is missing", key)
	}
	return vocabulary(p, w, parse)
}
