// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Kind tells the kinds of concepts apart.
type Kind uint8

// The kinds of concepts.
const (
	Condition Kind = iota
	Symptom
	RiskFactor
	LabTestResult
)

var kindWords = []string{"condition", "symptom", "risk_factor", "lab_test_result"}

// String is the word of the contract, such as risk_factor.
func (k Kind) String() string { return kindWords[k] }

// labTestWord is another spelling of lab_test_result, which clients use.
const labTestWord = "lab_test"

// ParseKind is the inverse of Kind.String. It also takes lab_test.
func ParseKind(word string) (Kind, error) {
	if word == labTestWord {
		return LabTestResult, nil
	}
	i := slices.Index(kindWords, word)
	if i < 0 {
		return 0, fmt.Errorf("unknown type %q, expected one of %s", word, strings.Join(kindWords, ", "))
	}
	return Kind(i), nil
}

// A Concept is a condition or an observation of a release.
type Concept struct {
	Kind             Kind
	ID               string // the public id, such as s_12
	Name, CommonName string // these live as long as the release's lease
}

// UnknownIDError says that no concept of the release has an id.
type UnknownIDError struct{ ID string }

// Error names the id.
func (e *UnknownIDError) Error() string { return fmt.Sprintf("no concept has the id %q", e.ID) }

// ByID is the concept that has an id; the error is an *UnknownIDError.
func ByID(r *model.Release, id string) (Concept, error) {
	if i, ok := r.ConditionByID(id); ok {
		return condition(r, i), nil
	}
	if i, ok := r.ObservationByID(id); ok {
		concept := observation(r, i)
		concept.ID = id // an alias answers by itself
		return concept, nil
	}
	return Concept{}, &UnknownIDError{id}
}

// Concepts are the concepts of these kinds, by name: all of them, or where ids
// are given those that have one of the ids. Each is listed once. An id that no
// concept has is an *UnknownIDError; one of another kind is left out.
func Concepts(r *model.Release, ids []string, kinds []Kind) ([]Concept, error) {
	list, err := selected(r, ids)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c Concept) bool { return !slices.Contains(kinds, c.Kind) })
	list = byName(list, func(c Concept) (name, id string) { return c.Name, c.ID })
	return slices.CompactFunc(list, func(a, b Concept) bool { return a.ID == b.ID }), nil
}

func selected(r *model.Release, ids []string) ([]Concept, error) {
	if ids == nil {
		return all(r), nil
	}
	list := make([]Concept, 0, len(ids))
	for _, id := range ids {
		concept, err := ByID(r, id)
		if err != nil {
			return nil, err
		}
		list = append(list, concept)
	}
	return list, nil
}

func all(r *model.Release) []Concept {
	list := make([]Concept, 0, len(r.Conditions)+len(r.Observations))
	for i := range r.Conditions {
		list = append(list, condition(r, model.ConditionIndex(i)))
	}
	for i := range r.Observations {
		list = append(list, observation(r, model.ObservationIndex(i)))
	}
	return list
}

func condition(r *model.Release, i model.ConditionIndex) Concept {
	c := &r.Conditions[i]
	return Concept{Condition, r.ConditionID(i), r.Text(c.Name), r.Text(c.CommonName)}
}

var kindOf = [...]Kind{model.Symptom: Symptom, model.RiskFactor: RiskFactor, model.LabResult: LabTestResult}

func observation(r *model.Release, i model.ObservationIndex) Concept {
	o := &r.Observations[i]
	return Concept{kindOf[o.Kind], r.ObservationID(i), r.Text(o.Name), r.Text(o.CommonName)}
}
