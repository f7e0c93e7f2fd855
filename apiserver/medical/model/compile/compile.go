// SPDX-License-Identifier: Apache-2.0

// Package compile compiles content sources into release files. It contains all checks
// of the content, which result in errors in the sources and warnings about thin
// content. Package source defines the syntax of the sources, and package model the
// layout of a release.
package compile

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// A Result is the compiled content of one language.
type Result struct {
	Meta model.Meta
	// Release is the content of the release file.
	Release []byte
	// Report lists the parts of the content that are thin.
	Report Report
}

// Compile compiles the content in one language, a directory under lang. It is
// deterministic. It reports all problems with the content at once, in a
// source.ValidationError with one line of the form file:line: reason for each problem.
func Compile(content fs.FS, language string) (*Result, error) {
	c := &compiler{
		observations:        map[string]*observation{},
		conditions:          map[string]*condition{},
		groups:              map[string]*model.DraftGroup{},
		labTests:            map[string]*model.DraftLabTest{},
		drugs:               map[string]*model.DraftDrug{},
		chronicDiseases:     map[string]*model.DraftChronicDisease{},
		observationsByDraft: map[*model.DraftObservation]*observation{},
		conditionsByDraft:   map[*model.DraftCondition]*condition{},
	}
	if err := c.read(content, language); err != nil {
		return nil, err
	}
	for _, step := range []func(){
		c.addMeta,
		c.addNamedItems,
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
	plain.Lexicon = model.DraftLexicon{} // not needed by the checks below
	authored := plain.Build()
	c.checkFrequencies(authored)
	c.checkSimilarConditions(authored)
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	report := c.report(authored)
	addDefaultDetails(&c.draft)
	return c.result(c.draft.Build(), report)
}

// compiler holds the state of a compilation. Each step adds resolvable content to the
// draft and reports the rest as problems, so that later steps and the author see as
// much as possible. A draft with problems is never used.
type compiler struct {
	problems        source.Problems
	core            *source.Core
	language        *source.Language
	draft           model.Draft
	specialists     map[string]*model.DraftNamedItem
	categories      map[string]*model.DraftNamedItem
	observations    map[string]*observation               // by slug
	conditions      map[string]*condition                 // by slug
	groups          map[string]*model.DraftGroup          // by slug
	labTests        map[string]*model.DraftLabTest        // by slug
	drugs           map[string]*model.DraftDrug           // by slug
	chronicDiseases map[string]*model.DraftChronicDisease // by condition slug
	// Maps from parts of the draft back to their sources.
	observationsByDraft map[*model.DraftObservation]*observation
	conditionsByDraft   map[*model.DraftCondition]*condition
	ambiguousWordings   []string // as reported by package lexicon
	indistinguishable   []string // as reported by checkSimilarConditions
}

func (c *compiler) read(content fs.FS, language string) (err error) {
	if c.core, err = source.ReadCore(content, &c.problems); err != nil {
		return err
	}
	if c.language, err = source.ReadLanguage(content, language, &c.problems); err != nil {
		return err
	}
	if c.problems.Unreadable() {
		return c.problems.Err()
	}
	return nil
}

// result encodes the release and decodes it again, so that a release that a server would
// reject is never written.
func (c *compiler) result(release *model.Release, report Report) (*Result, error) {
	file, err := model.Encode(release)
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", release.Meta.ModelID, err)
	}
	if _, err := model.Decode(file); err != nil {
		return nil, fmt.Errorf("compiling %s: compiler produced an invalid release, which is a bug: %w", release.Meta.ModelID, err)
	}
	report.ReleaseBytes = len(file)
	return &Result{Meta: release.Meta, Release: file, Report: report}, nil
}

func (c *compiler) addMeta() {
	version := c.core.Version
	if _, err := time.Parse(model.VersionLayout, version.Text); err != nil {
		c.reportAt(source.ReleaseFile, version.Line).errorf("invalid version %q: expected a UTC time such as %s", version.Text, "2026-11-21T00:00:00Z")
	}
	if c.core.LeakCourse.Line() == 0 {
		c.reportAt(source.ReleaseFile, 0).errorf("course is missing: expected the durations of symptoms that no condition explains, such as {from: 6h, to: 1y}")
	}
	w := c.language
	c.draft.Meta = model.Meta{
		ModelID:       c.requiredText(w.File, "model", w.ModelID),
		Version:       version.Text,
		Language:      c.requiredText(w.File, "language", w.Tag),
		Experimental:  w.Experimental.Value,
		ChoicePresent: c.requiredText(w.File, "choices.present", w.Choices.Present),
		ChoiceAbsent:  c.requiredText(w.File, "choices.absent", w.Choices.Absent),
		ChoiceUnknown: c.requiredText(w.File, "choices.unknown", w.Choices.Unknown),

		DurationQuestion:            c.durationQuestion("questions.duration", w.Questions.Duration),
		DurationQuestionThirdPerson: c.durationQuestion("questions.duration_third_person", w.Questions.DurationThirdPerson),
		LeakCourse:                  parseCourse(c.reportAt(source.ReleaseFile, 0), c.core.LeakCourse, model.Course{}),
	}
	if w.ModelID.Line != 0 && !model.ValidModelID(w.ModelID.Text) {
		c.reportAt(w.File, w.ModelID.Line).errorf("invalid model ID %q: expected lowercase letters, digits and dashes, such as service-en", w.ModelID.Text)
	}
}

// durationQuestion returns a duration question, which must contain
// model.SymptomPlaceholder.
func (c *compiler) durationQuestion(key string, w source.Scalar) string {
	text := c.requiredText(c.language.File, key, w)
	if text != "" && strings.Count(text, model.SymptomPlaceholder) != 1 {
		c.reportAt(c.language.File, w.Line).errorf("invalid %s %q: expected %s exactly once, in place of the symptom", key, text, model.SymptomPlaceholder)
	}
	return text
}

// requiredText returns the text of a required scalar.
func (c *compiler) requiredText(file, key string, w source.Scalar) string {
	if w.Text == "" {
		c.reportAt(file, w.Line).errorf("%s is missing", key)
	}
	return w.Text
}

// A reporter adds problems at a position.
type reporter struct {
	problems *source.Problems
	position source.Position
}

func (c *compiler) reportAt(file string, line int) reporter {
	return reporter{problems: &c.problems, position: source.Position{File: file, Line: line}}
}

func (r reporter) errorf(format string, args ...any) {
	r.problems.Addf(r.position, format, args...)
}

// atLine returns a reporter for another line of the file. If the line is unknown, the
// line stays the same.
func (r reporter) atLine(line int) reporter {
	if line != 0 {
		r.position.Line = line
	}
	return r
}

// parseOptional parses a scalar if it is set, and reports a parse error as a problem.
func parseOptional[T any](p reporter, w source.Scalar, parse func(string) (T, error)) (value T) {
	if w.Line == 0 {
		return value
	}
	value, err := parse(w.Text)
	if err != nil {
		p.atLine(w.Line).errorf("%v", err)
	}
	return value
}

// parseRequired parses a scalar like parseOptional, but reports a problem if the key is
// not set.
func parseRequired[T any](p reporter, key string, w source.Scalar, parse func(string) (T, error)) (value T) {
	if w.Line == 0 {
		p.errorf("%s is missing", key)
	}
	return parseOptional(p, w, parse)
}
