// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Kind is the kind of a concept.
type Kind uint8

// Kinds of concepts.
const (
	Condition Kind = iota
	Symptom
	RiskFactor
	LabTestResult
)

var kindNames = []string{"condition", "symptom", "risk_factor", "lab_test_result"}

// String returns the API name of the kind, such as risk_factor.
func (k Kind) String() string { return kindNames[k] }

// labTestAlias is an alias of lab_test_result that clients use.
const labTestAlias = "lab_test"

// ParseKind parses the API name of a kind. It also accepts the alias lab_test.
func ParseKind(word string) (Kind, error) {
	if word == labTestAlias {
		return LabTestResult, nil
	}
	i := slices.Index(kindNames, word)
	if i < 0 {
		return 0, fmt.Errorf("unknown type %q: expected one of %s", word, strings.Join(kindNames, ", "))
	}
	return Kind(i), nil
}

// A Concept is a condition or an observation of a release.
type Concept struct {
	Kind             Kind
	ID               string // public ID, such as s_12
	Name, CommonName string // valid until the lease of the release ends
}

// UnknownIDError reports an ID that does not belong to a concept of the release.
type UnknownIDError struct{ ID string }

// Error returns a message with the ID.
func (e *UnknownIDError) Error() string { return fmt.Sprintf("unknown concept ID %q", e.ID) }

// ByID returns the concept with the given ID. If there is no such concept, the error
// is an *UnknownIDError.
func ByID(r *model.Release, id string) (Concept, error) {
	if i, ok := r.ConditionByID(id); ok {
		return conditionConcept(r, i), nil
	}
	if i, ok := r.ObservationByID(id); ok {
		concept := observationConcept(r, i)
		concept.ID = id // keep the requested ID, which may be an alias
		return concept, nil
	}
	return Concept{}, &UnknownIDError{id}
}

// Concepts returns the concepts of the given kinds, sorted by name and without
// duplicates. If ids is not nil, it returns only concepts with these IDs: an unknown ID
// results in an *UnknownIDError, and concepts of other kinds are omitted.
func Concepts(r *model.Release, ids []string, kinds []Kind) ([]Concept, error) {
	list, err := selectConcepts(r, ids)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c Concept) bool { return !slices.Contains(kinds, c.Kind) })
	list = sortByName(list, func(c Concept) (name, id string) { return c.Name, c.ID })
	return slices.CompactFunc(list, func(a, b Concept) bool { return a.ID == b.ID }), nil
}

func selectConcepts(r *model.Release, ids []string) ([]Concept, error) {
	if ids == nil {
		return allConcepts(r), nil
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

func allConcepts(r *model.Release) []Concept {
	list := make([]Concept, 0, len(r.Conditions)+len(r.Observations))
	for i := range r.Conditions {
		list = append(list, conditionConcept(r, model.ConditionIndex(i)))
	}
	for i := range r.Observations {
		list = append(list, observationConcept(r, model.ObservationIndex(i)))
	}
	return list
}

func conditionConcept(r *model.Release, i model.ConditionIndex) Concept {
	c := &r.Conditions[i]
	return Concept{Condition, r.ConditionID(i), r.Text(c.Name), r.Text(c.CommonName)}
}

var observationKinds = [...]Kind{model.Symptom: Symptom, model.RiskFactor: RiskFactor, model.LabResult: LabTestResult}

func observationConcept(r *model.Release, i model.ObservationIndex) Concept {
	o := &r.Observations[i]
	return Concept{observationKinds[o.Kind], r.ObservationID(i), r.Text(o.Name), r.Text(o.CommonName)}
}
