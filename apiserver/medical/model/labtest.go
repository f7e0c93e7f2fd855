// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// encodeLabTests sorts the results of each test and puts them into a single-choice group.
func (e *releaseEncoder) encodeLabTests() {
	r := e.release
	for _, t := range e.draft.LabTests {
		results := e.observationIndexes(t.Results)
		slices.SortStableFunc(results, func(a, b ObservationIndex) int {
			return cmp.Compare(r.Observations[a].LabResult, r.Observations[b].LabResult)
		})
		r.LabTests = append(r.LabTests, LabTest{
			Number:     t.Number,
			Name:       e.internText(t.Name),
			CommonName: e.internText(t.CommonName),
			Category:   e.internText(t.Category),
			Results:    appendSpan(&r.LabResultRefs, results...),
		})
		e.encodeGroup(Group{Type: GroupSingle, Parent: None}, results)
	}
}

// verifyLabTests checks that every laboratory result belongs to exactly one test, and
// that the results of each test are the items of a single-choice group. It must run
// after verifyObservations and verifyGroups.
func verifyLabTests(r *Release) error {
	results := spanChecker{section: "laboratory results", length: len(r.LabResultRefs)}
	last := uint32(0)
	for i := range r.LabTests {
		t := &r.LabTests[i]
		if t.Number <= last {
			return fmt.Errorf("laboratory test number %d is out of order after %d", t.Number, last)
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

// verifyLabTest checks one test. Because its results form their own group and an
// observation is in at most one group, no other test can share the results.
func verifyLabTest(r *Release, t *LabTest) error {
	if err := verifyTexts(r, t.Name, t.CommonName, t.Category); err != nil {
		return err
	}
	if t.Name.Length == 0 {
		return errors.New("missing name")
	}
	if t.Results.Start >= t.Results.End || int(t.Results.End) > len(r.LabResultRefs) {
		return errors.New("missing results")
	}
	refs := Slice(r.LabResultRefs, t.Results)
	last := NoLabResult
	for _, o := range refs {
		if o < 0 || int(o) >= len(r.Observations) || r.Observations[o].LabResult <= last {
			return fmt.Errorf("result %d is not a laboratory result or is out of order", o)
		}
		last = r.Observations[o].LabResult
	}
	group := r.Observations[refs[0]].Group
	if group == None || !slices.Equal(Slice(r.GroupItems, r.Groups[group].Items), refs) {
		return errors.New("results must be the items of one group")
	}
	if g := &r.Groups[group]; g.Type != GroupSingle || g.Question.Length != 0 || g.QuestionThirdPerson.Length != 0 {
		return errors.New("results must be mutually exclusive and have no question")
	}
	return nil
}
