// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A List is one that patients choose from when they answer a question.
type List uint8

const (
	// Symptoms are what patients can begin with: the symptoms and risk factors
	// that are ever asked for.
	Symptoms List = iota
	// ChronicDiseases are the conditions that patients live with.
	ChronicDiseases
	// Specialists are all that the release knows.
	Specialists
	// Hospitalizations are the risk factors that people were in hospital for.
	Hospitalizations
	// Drugs are found by their brands too.
	Drugs
)

var listWords = []string{"symptoms", "chronic_diseases", "specialists", "hospitalizations", "drugs"}

// String is the word of the specification, such as chronic_diseases.
func (l List) String() string {
	if int(l) < len(listWords) {
		return listWords[l]
	}
	return fmt.Sprintf("List(%d)", uint8(l))
}

// ParseList is the inverse of List.String.
func ParseList(word string) (List, error) {
	i := slices.Index(listWords, word)
	if i < 0 {
		return 0, fmt.Errorf("unknown list %q, expected one of %s", word, strings.Join(listWords, ", "))
	}
	return List(i), nil
}

// A ListQuery says which entries of a list are wanted.
type ListQuery struct {
	List List
	// Phrase is what was typed, as that of a Query; without a word in it all
	// entries are wanted.
	Phrase string
	// Sex and AgeMonths leave out what does not apply to the patient; nil is of
	// either sex and of any age. Drugs and specialists are for all.
	Sex       *model.Sex
	AgeMonths *int
}

// An Item is an entry of a list: its public id and the name that patients know.
// The name lives as long as the release's lease.
type Item struct{ ID, Name string }

// Items are the entries of a list that a query wants, each once. Without a
// phrase they stand in order of their names, letter case aside, and then of
// their numbers. With one they are those that Find would find in the list,
// however many, the best match first, and equally good ones in order of their
// names; an entry is found by any of its wordings, a drug by its brands.
func Items(r *model.Release, q ListQuery) []Item {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	return f.list(r, q)
}

// An entry of a list, which becomes an item.
type entry struct {
	concept   int32 // as in the wordings of the list
	condition bool
	rank      uint32 // of its name
	match     candidate
}

func (f *finder) list(r *model.Release, q ListQuery) []Item {
	defer f.end()
	in := conceptsOf(r)
	if q.List == Drugs || q.List == Specialists || q.List == ChronicDiseases {
		in = namesOf(r)
	}
	entries := entriesOf(r, q)
	f.begin(r, in)
	f.read(q.Phrase)
	if len(f.words) > 0 {
		f.match()
		entries = f.matching(entries)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.rank, b.rank) })
	if len(f.words) > 0 {
		slices.SortStableFunc(entries, func(a, b entry) int { return closer(a.match, b.match) })
	}
	items := make([]Item, len(entries))
	for i := range entries {
		items[i] = entries[i].item(r, q.List)
	}
	return items
}

// matching are the entries with a wording that matches nearly as well as any.
func (f *finder) matching(entries []entry) []entry {
	total, most := f.total(), uint16(0)
	found := entries[:0]
	for _, e := range entries {
		from := f.wordingsOf(e)
		if from == len(f.found) {
			continue
		}
		if match, ok := f.bestWording(from, f.nextConcept(from), total); ok {
			e.match = match
			most = max(most, match.covered)
			found = append(found, e)
		}
	}
	return slices.DeleteFunc(found, func(e entry) bool { return e.match.covered*mostCovered < most*leastCovered })
}

// wordingsOf is where the wordings of an entry begin.
func (f *finder) wordingsOf(e entry) int {
	at, ok := slices.BinarySearchFunc(f.in.wordings, e, func(w model.Wording, e entry) int {
		if w.Condition != e.condition {
			return conditionsLast(w.Condition)
		}
		return cmp.Compare(w.Concept, e.concept)
	})
	if !ok {
		return len(f.in.wordings)
	}
	return at
}

// conditionsLast compares a wording of a condition, or of an observation, with one
// of the other.
func conditionsLast(condition bool) int {
	if condition {
		return 1
	}
	return -1
}

// entriesOf are the entries of a list that apply to the patient.
func entriesOf(r *model.Release, q ListQuery) []entry {
	switch q.List {
	case Symptoms:
		return symptoms(r, q)
	case ChronicDiseases:
		return chronicDiseases(r, q)
	case Specialists:
		return specialists(r)
	case Hospitalizations:
		return hospitalizations(r, q)
	default:
		return drugs(r)
	}
}

func symptoms(r *model.Release, q ListQuery) []entry {
	var entries []entry
	end, _ := r.ObservationsOfKind(model.LabResult)
	for i := range end {
		if r.Observations[i].Question.Length > 0 {
			entries = q.appendObservation(entries, r, i)
		}
	}
	return entries
}

func hospitalizations(r *model.Release, q ListQuery) []entry {
	var entries []entry
	for _, i := range r.Hospitalizations {
		entries = q.appendObservation(entries, r, i)
	}
	return entries
}

// appendObservation adds an observation that applies to the patient.
func (q *ListQuery) appendObservation(entries []entry, r *model.Release, i model.ObservationIndex) []entry {
	o := &r.Observations[i]
	if !q.admits(o.Sex, o.AgeFrom, o.AgeTo) {
		return entries
	}
	return append(entries, entry{concept: int32(i), rank: r.ObservationRank(i)})
}

func chronicDiseases(r *model.Release, q ListQuery) []entry {
	var entries []entry
	for i, d := range r.ChronicDiseases {
		if c := &r.Conditions[d.Condition]; q.admits(c.Sex, c.AgeFrom, c.AgeTo) {
			entries = append(entries, entry{concept: int32(len(r.Drugs) + len(r.Specialists) + i), rank: r.ChronicDiseaseRank(i)})
		}
	}
	return entries
}

func drugs(r *model.Release) []entry {
	entries := make([]entry, len(r.Drugs))
	for i := range r.Drugs {
		entries[i] = entry{concept: int32(i), rank: r.DrugRank(i)}
	}
	return entries
}

func specialists(r *model.Release) []entry {
	entries := make([]entry, len(r.Specialists))
	for i := range r.Specialists {
		entries[i] = entry{concept: int32(len(r.Drugs) + i), rank: r.SpecialistRank(i)}
	}
	return entries
}

// item is the entry of a list for patients to read.
func (e *entry) item(r *model.Release, list List) Item {
	switch list {
	case ChronicDiseases:
		d := &r.ChronicDiseases[int(e.concept)-len(r.Drugs)-len(r.Specialists)]
		return Item{ID: r.ConditionID(d.Condition), Name: r.Text(d.Name)}
	case Specialists:
		i := int(e.concept) - len(r.Drugs)
		return Item{ID: r.SpecialistID(uint32(i)), Name: r.Text(r.Specialists[i].Name)}
	case Drugs:
		i := int(e.concept)
		return Item{ID: r.DrugID(i), Name: r.Text(r.Drugs[i].Name)}
	default:
		i := model.ObservationIndex(e.concept)
		return Item{ID: r.ObservationID(i), Name: r.Text(r.Observations[i].CommonName)}
	}
}

// admits reports whether what applies to a sex and to ages, in months, applies to
// the patient.
func (q *ListQuery) admits(sex model.SexFilter, from, to uint16) bool {
	return (q.Sex == nil || sex.Admits(*q.Sex)) && (q.AgeMonths == nil || ofAge(*q.AgeMonths, from, to))
}
