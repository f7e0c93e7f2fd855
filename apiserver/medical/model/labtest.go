// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// encodeLabTests sorts the results of each test and puts them into a single-choice group.
func (l *releaseEncoder) encodeLabTests() {
	r := l.release
	for _, t := range l.draft.LabTests {
		results := l.observationIndexes(t.Results)
		slices.SortStableFunc(results, func(a, b ObservationIndex) int {
			return cmp.Compare(r.Observations[a].LabResult, r.Observations[b].LabResult)
		})
		r.LabTests = append(r.LabTests, LabTest{
			Number:     t.Number,
			Name:       l.internText(t.Name),
			CommonName: l.internText(t.CommonName),
			Category:   l.internText(t.Category),
			Results:    appendSpan(&r.LabResultRefs, results...),
		})
		l.encodeGroup(Group{Type: GroupSingle, Parent: None}, results)
	}
}

// verifyLabTests checks that every laboratory result belongs to exactly one test, and
// that the results of a test are the items of a group of mutually exclusive items. It
// must run after verifyObservations and verifyGroups.
func verifyLabTests(r *Release) error {
	results := spanChecker{section: "laboratory results", length: len(r.LabResultRefs)}
	last := uint32(0)
	for i := range r.LabTests {
		t := &r.LabTests[i]
		if t.Number <= last {
			return fmt.Errorf("laboratory test number %d follows %d", t.Number, last)
		}
		last = t.Number
		if err := errors.Join(results.check(t.Results), verifyLabTest(r, t)); err != nil {
			return fmt.Errorf("laboratory test %s: %w", r.LabTestID(i), err)
		}
	}
	from, to := r.ObservationsOfKind(LabResult)
	if int(to-from) != len(r.LabResultRefs) {
		return fmt.Errorf("found %d laboratory results, but the tests list %d", to-from, len(r.LabResultRefs))
	}
	return results.checkComplete()
}

// verifyLabTest checks one test. Because its results form a group of their own and an
// observation is in one group only, no other test can share them.
func verifyLabTest(r *Release, t *LabTest) error {
	if err := verifyTexts(r, t.Name, t.CommonName, t.Category); err != nil {
		return err
	}
	if t.Name.Length == 0 {
		return errors.New("no name")
	}
	if t.Results.Start >= t.Results.End || int(t.Results.End) > len(r.LabResultRefs) {
		return errors.New("no results")
	}
	refs := Slice(r.LabResultRefs, t.Results)
	last := NoLabResult
	for _, o := range refs {
		if o < 0 || int(o) >= len(r.Observations) || r.Observations[o].LabResult <= last {
			return fmt.Errorf("result %d is not a laboratory result, or out of order", o)
		}
		last = r.Observations[o].LabResult
	}
	group := r.Observations[refs[0]].Group
	if group == None || !slices.Equal(Slice(r.GroupItems, r.Groups[group].Items), refs) {
		return errors.New("results are not the items of one group")
	}
	if g := &r.Groups[group]; g.Type != GroupSingle || g.Question.Length != 0 || g.QuestionThirdPerson.Length != 0 {
		return errors.New("results are not mutually exclusive, or are asked in a question")
	}
	return nil
}
