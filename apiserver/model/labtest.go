// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// layLabTests lists the results of each test in order, and puts them into a
// group of which one item holds.
func (l *layout) layLabTests() {
	r := l.release
	for _, t := range l.draft.LabTests {
		results := l.indexes(t.Results)
		slices.SortStableFunc(results, func(a, b ObservationIndex) int {
			return cmp.Compare(r.Observations[a].LabResult, r.Observations[b].LabResult)
		})
		r.LabTests = append(r.LabTests, LabTest{
			Number:     t.Number,
			Name:       l.text(t.Name),
			CommonName: l.text(t.CommonName),
			Category:   l.text(t.Category),
			Results:    appendSpan(&r.LabResultRefs, results...),
		})
		l.layGroup(Group{Type: GroupSingle, Parent: None}, results)
	}
}

// verifyLabTests checks that every laboratory result is one of one test, and
// that the results of a test are the items of a group in which they exclude
// each other. It relies on verifyObservations and verifyGroups.
func verifyLabTests(r *Release) error {
	results := tiling{section: "laboratory results", length: len(r.LabResultRefs)}
	last := uint32(0)
	for i := range r.LabTests {
		t := &r.LabTests[i]
		if t.Number <= last {
			return fmt.Errorf("laboratory test number %d follows %d", t.Number, last)
		}
		last = t.Number
		if err := errors.Join(results.take(t.Results), verifyLabTest(r, t)); err != nil {
			return fmt.Errorf("laboratory test %s: %w", r.LabTestID(i), err)
		}
	}
	from, to := r.ObservationsOfKind(LabResult)
	if int(to-from) != len(r.LabResultRefs) {
		return fmt.Errorf("%d laboratory results, of which tests have %d", to-from, len(r.LabResultRefs))
	}
	return results.done()
}

// verifyLabTest checks one test. That its results are a group of their own also
// keeps them from being those of another test: an observation is in one group.
func verifyLabTest(r *Release, t *LabTest) error {
	if err := checkTexts(r, t.Name, t.CommonName, t.Category); err != nil {
		return err
	}
	if t.Name.Length == 0 {
		return errors.New("no name")
	}
	if t.Results.Start >= t.Results.End || int(t.Results.End) > len(r.LabResultRefs) {
		return errors.New("no results")
	}
	refs := Part(r.LabResultRefs, t.Results)
	last := NoLabResult
	for _, o := range refs {
		if o < 0 || int(o) >= len(r.Observations) || r.Observations[o].LabResult <= last {
			return fmt.Errorf("result %d is no laboratory result, or out of order", o)
		}
		last = r.Observations[o].LabResult
	}
	group := r.Observations[refs[0]].Group
	if group == None || !slices.Equal(Part(r.GroupItems, r.Groups[group].Items), refs) {
		return errors.New("its results are not the items of one group")
	}
	if g := &r.Groups[group]; g.Type != GroupSingle || g.Question.Length != 0 || g.QuestionThirdPerson.Length != 0 {
		return errors.New("its results do not exclude each other, or are asked in a question")
	}
	return nil
}
