// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A List is a list of entries from which patients choose when they answer a question.
type List uint8

const (
	// Symptoms lists the symptoms and risk factors with a question, which patients can
	// report first.
	Symptoms List = iota
	// ChronicDiseases lists long-term conditions.
	ChronicDiseases
	// Specialists lists all specialists of the release.
	Specialists
	// Hospitalizations lists the risk factors that are reasons for a past hospital stay.
	Hospitalizations
	// Drugs lists drugs, which patients can also find by brand name.
	Drugs
)

var listNames = []string{"symptoms", "chronic_diseases", "specialists", "hospitalizations", "drugs"}

// String returns the API name of the list, such as chronic_diseases.
func (l List) String() string {
	if int(l) < len(listNames) {
		return listNames[l]
	}
	return fmt.Sprintf("List(%d)", uint8(l))
}

// ParseList parses the API name of a list.
func ParseList(word string) (List, error) {
	i := slices.Index(listNames, word)
	if i < 0 {
		return 0, fmt.Errorf("unknown list %q: expected one of %s", word, strings.Join(listNames, ", "))
	}
	return List(i), nil
}

// A ListQuery selects entries of a list.
type ListQuery struct {
	List List
	// Phrase is the typed text, as in Query. If it contains no words, all entries match.
	Phrase string
	// Sex and AgeMonths exclude entries that do not apply to the patient; nil means either
	// sex or any age. They do not filter drugs and specialists.
	Sex       *model.Sex
	AgeMonths *int
}

// An Item is an entry of a list: its public ID and its common name. The name is valid
// until the lease of the release ends.
type Item struct{ ID, Name string }

// Items returns the list entries that match a query, without duplicates. Without a
// phrase, they are sorted by case-folded name and then by number. With a phrase, Items
// returns every entry that Find would find in the list, without limit, best match first
// and ties sorted by name. An entry matches by any of its wordings, and a drug also by
// its brands.
func Items(r *model.Release, q ListQuery) []Item {
	f := finders.Get().(*finder)
	defer finders.Put(f)
	return f.list(r, q)
}

// An entry is a list entry during the search, before its conversion to an Item.
type entry struct {
	concept   int32 // as in the wordings of the list
	condition bool
	rank      uint32 // rank of its name in sort order
	match     candidate
}

func (f *finder) list(r *model.Release, q ListQuery) []Item {
	defer f.discard()
	index := conceptIndex(r)
	if q.List == Drugs || q.List == Specialists || q.List == ChronicDiseases {
		index = listIndex(r)
	}
	entries := listEntries(r, q)
	f.reset(r, index)
	f.parsePhrase(q.Phrase)
	if len(f.words) > 0 {
		f.lookUpWords()
		entries = f.filterMatches(entries)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.rank, b.rank) })
	if len(f.words) > 0 {
		slices.SortStableFunc(entries, func(a, b entry) int { return compareMatches(a.match, b.match) })
	}
	items := make([]Item, len(entries))
	for i := range entries {
		items[i] = entries[i].item(r, q.List)
	}
	return items
}

// filterMatches returns the entries with a wording that matches nearly as well as the
// best match.
func (f *finder) filterMatches(entries []entry) []entry {
	total, highest := f.totalWeight(), uint16(0)
	found := entries[:0]
	for _, e := range entries {
		from := f.firstWording(e)
		if from == len(f.matches) {
			continue
		}
		if match, ok := f.bestWording(from, f.nextConcept(from), total); ok {
			e.match = match
			highest = max(highest, match.covered)
			found = append(found, e)
		}
	}
	return slices.DeleteFunc(found, func(e entry) bool { return e.match.covered*minCoverageDenominator < highest*minCoverageNumerator })
}

// firstWording returns the position of the first wording of an entry.
func (f *finder) firstWording(e entry) int {
	i, ok := slices.BinarySearchFunc(f.index.wordings, e, func(w model.Wording, e entry) int {
		if w.IsCondition != e.condition {
			return compareIsCondition(w.IsCondition)
		}
		return cmp.Compare(w.Concept, e.concept)
	})
	if !ok {
		return len(f.index.wordings)
	}
	return i
}

// compareIsCondition returns the sort order of a wording relative to a wording of the
// other kind: condition is true for a wording of a condition, and false for a wording
// of an observation.
func compareIsCondition(condition bool) int {
	if condition {
		return 1
	}
	return -1
}

// listEntries returns the entries of a list that apply to the patient.
func listEntries(r *model.Release, q ListQuery) []entry {
	switch q.List {
	case Symptoms:
		return symptomEntries(r, q)
	case ChronicDiseases:
		return chronicDiseaseEntries(r, q)
	case Specialists:
		return specialistEntries(r)
	case Hospitalizations:
		return hospitalizationEntries(r, q)
	default:
		return drugEntries(r)
	}
}

func symptomEntries(r *model.Release, q ListQuery) []entry {
	var entries []entry
	end, _ := r.ObservationsOfKind(model.LabResult)
	for i := range end {
		if r.Observations[i].Question.Length > 0 {
			entries = q.appendObservation(entries, r, i)
		}
	}
	return entries
}

func hospitalizationEntries(r *model.Release, q ListQuery) []entry {
	var entries []entry
	for _, i := range r.Hospitalizations {
		entries = q.appendObservation(entries, r, i)
	}
	return entries
}

// appendObservation appends an observation if it applies to the patient.
func (q *ListQuery) appendObservation(entries []entry, r *model.Release, i model.ObservationIndex) []entry {
	o := &r.Observations[i]
	if !q.matchesPatient(o.Sex, o.AgeFrom, o.AgeTo) {
		return entries
	}
	return append(entries, entry{concept: int32(i), rank: r.ObservationNameRank(i)})
}

func chronicDiseaseEntries(r *model.Release, q ListQuery) []entry {
	var entries []entry
	for i, d := range r.ChronicDiseases {
		if c := &r.Conditions[d.Condition]; q.matchesPatient(c.Sex, c.AgeFrom, c.AgeTo) {
			entries = append(entries, entry{concept: int32(len(r.Drugs) + len(r.Specialists) + i), rank: r.ChronicDiseaseNameRank(i)})
		}
	}
	return entries
}

func drugEntries(r *model.Release) []entry {
	entries := make([]entry, len(r.Drugs))
	for i := range r.Drugs {
		entries[i] = entry{concept: int32(i), rank: r.DrugNameRank(i)}
	}
	return entries
}

func specialistEntries(r *model.Release) []entry {
	entries := make([]entry, len(r.Specialists))
	for i := range r.Specialists {
		entries[i] = entry{concept: int32(len(r.Drugs) + i), rank: r.SpecialistNameRank(i)}
	}
	return entries
}

// item returns the entry as an Item for display to patients.
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

// matchesPatient reports whether a concept limited to a sex and an age range, in
// months, applies to the patient.
func (q *ListQuery) matchesPatient(sex model.SexFilter, from, to uint16) bool {
	return (q.Sex == nil || sex.Includes(*q.Sex)) && (q.AgeMonths == nil || ageInRange(*q.AgeMonths, from, to))
}
