// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"
)

// FuzzDecode decodes corrupt files, and again with all checksums corrected, to reach the
// checks behind the checksums. Decode must not crash, and accepted files must be safe to
// read from end to end.
func FuzzDecode(f *testing.F) {
	file := mustEncode(f, smallDraft().Build())
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add(mustEncode(f, (&Draft{Meta: smallDraft().Meta}).Build()))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, updateChecksums(data)} {
			if r, err := Decode(file); err == nil {
				walkRelease(r)
			}
		}
	})
}

// updateChecksums returns the file with the size and checksums corrected according to its
// header and section table. Files that are too short stay unchanged.
func updateChecksums(data []byte) []byte {
	if len(data) < headerSize+tableEntrySize*len(sectionCodecs) {
		return data
	}
	table := make([]tableEntry, len(sectionCodecs))
	rows := data[headerSize:][:tableEntrySize*len(table)]
	_, err := binary.Decode(rows, binary.LittleEndian, table)
	for i, e := range table {
		if limit := uint64(len(data)); e.Offset <= limit && e.Size <= limit-e.Offset {
			table[i].Checksum = crc32.Checksum(data[e.Offset:][:e.Size], castagnoli)
		}
	}
	rows, errRows := binary.Append(nil, binary.LittleEndian, table)
	head, errHead := binary.Append(nil, binary.LittleEndian, header{
		Magic:         [len(magic)]byte([]byte(magic)),
		Format:        FormatVersion,
		SectionCount:  uint32(len(table)),
		FileSize:      uint64(len(data)),
		TableChecksum: crc32.Checksum(rows, castagnoli),
	})
	if err := errors.Join(err, errRows, errHead); err != nil {
		panic(err)
	}
	return slices.Concat(head, rows, data[len(head)+len(rows):])
}

// walkRelease reads everything that a reader could reach, as readers do.
func walkRelease(r *Release) {
	sum := 0.0
	for i := range r.Conditions {
		c := &r.Conditions[i]
		for _, ref := range []StringRef{c.Name, c.CommonName, c.ICD10, c.Hint} {
			sum += float64(len(r.Text(ref)))
		}
		for _, link := range Slice(r.LinksByCondition, c.Links) {
			sum += r.Observations[link.Other].Leak + link.Lambda
		}
		for _, ref := range Slice(r.CategoryRefs, c.Categories) {
			sum += float64(len(r.CategoryID(ref)))
		}
		for _, ref := range Slice(r.SpecialistRefs, c.Specialists) {
			sum += float64(len(r.SpecialistID(ref)))
		}
		if at, ok := r.ConditionByID(r.ConditionID(ConditionIndex(i))); !ok || int(at) != i {
			panic("a condition is not found by its id")
		}
	}
	for i := range r.Observations {
		sum += walkObservation(r, ObservationIndex(i))
	}
	for _, a := range r.Aliases {
		id := FormatID(r.Observations[a.Observation].Kind.Prefix(), a.Number)
		if at, ok := r.ObservationByID(id); !ok || at != a.Observation {
			panic("an observation is not found by its alias")
		}
	}
	for _, s := range r.Wordings {
		sum += float64(len(r.Text(s.Text)))
		if s.IsCondition {
			sum += float64(r.Conditions[s.Concept].Number)
		} else {
			sum += float64(r.Observations[s.Concept].Number)
		}
	}
	for _, w := range r.Words {
		sum += float64(len(r.Text(w.Text)))
		for _, use := range Slice(r.WordPostings, w.Postings) {
			sum += float64(r.Wordings[use].WordCount)
		}
	}
	sum += walkLabTests(r) + walkDrugs(r) + walkMedicalHistory(r) + walkArticles(r) + walkLexicon(r)
	for _, t := range r.Tuples {
		sum += float64(len(Slice(r.TupleItems, t.Observations)) + len(r.Text(t.Reason)))
	}
	if sum < 0 {
		panic("a sum of lengths and probabilities is negative")
	}
}

// walkLexicon performs the lookups of free-text parsing.
func walkLexicon(r *Release) float64 {
	sum := 0.0
	for _, word := range []string{"", "head", "head\x00", "pound", "day", "two", "table", "\xff", "ordinary"} {
		frequency, _ := r.WordFrequency(word)
		found, _ := r.FindStem(word)
		sum += float64(frequency%2) + float64(len(Slice(r.TermRefs, found.Terms)))
		for _, t := range Slice(r.TermRefs, found.Terms) {
			for _, ref := range Slice(r.PatternRefs, r.TermPatterns[t]) {
				sum += walkPattern(r, ref.Pattern)
			}
		}
	}
	for _, at := range r.TermlessPatterns {
		sum += walkPattern(r, at)
	}
	for _, d := range r.Deletions {
		sum += float64(len(r.Text(r.DeletionWords[d.Word])))
	}
	return sum
}

func walkPattern(r *Release, at uint32) float64 {
	p := r.Patterns[at]
	elements := Slice(r.Elements, p.Elements)
	sum := float64(len(p.Meaning.String())) + float64(elements[p.Key].Kind)
	for _, e := range elements {
		switch e.Kind {
		case TermElement:
			sum += float64(r.TermPatterns[e.Term].Len())
		case NumberElement:
			sum += min(r.Ranges[e.Range].To-r.Ranges[e.Range].From, 1)
		}
	}
	if p.Observation != None {
		sum += r.Observations[p.Observation].Leak
	}
	return sum
}

func walkLabTests(r *Release) float64 {
	sum := 0.0
	for i, t := range r.LabTests {
		sum += float64(len(r.Text(t.Name)) + len(r.Text(t.CommonName)) + len(r.Text(t.Category)))
		if at, ok := r.LabTestByID(r.LabTestID(i)); !ok || at != i {
			panic("a laboratory test is not found by its id")
		}
		for _, o := range Slice(r.LabResultRefs, t.Results) {
			sum += r.Observations[o].Leak + float64(len(r.Observations[o].LabResult.String()))
		}
	}
	return sum
}

// walkDrugs reads the drugs, and the names of drugs and specialists.
func walkDrugs(r *Release) float64 {
	sum := 0.0
	for i, d := range r.Drugs {
		sum += float64(len(r.Text(d.Name)) + len(r.Text(d.ATC)))
		if at, ok := r.DrugByID(r.DrugID(i)); !ok || at != i {
			panic("a drug is not found by its id")
		}
		sum += float64(r.DrugNameRank(i))
		for _, brand := range Slice(r.DrugBrands, d.Brands) {
			sum += float64(len(r.Text(brand)))
		}
		for _, o := range Slice(r.DrugRiskFactors, d.RiskFactors) {
			sum += r.Observations[o].Leak
		}
	}
	for i := range r.Specialists {
		sum += float64(r.SpecialistNameRank(i))
	}
	for _, w := range r.ListWordings {
		sum += float64(len(r.Text(w.Text)))
		switch i := int(w.Concept); {
		case i < len(r.Drugs):
			sum += float64(r.Drugs[i].Number)
		case i < len(r.Drugs)+len(r.Specialists):
			sum += float64(r.Specialists[i-len(r.Drugs)].Number)
		default:
			sum += float64(r.ChronicDiseases[i-len(r.Drugs)-len(r.Specialists)].Condition)
		}
	}
	for _, w := range r.ListWords {
		sum += float64(len(r.Text(w.Text)))
		for _, use := range Slice(r.ListWordPostings, w.Postings) {
			sum += float64(r.ListWordings[use].WordCount)
		}
	}
	return sum
}

func walkMedicalHistory(r *Release) float64 {
	sum := 0.0
	for i, d := range r.ChronicDiseases {
		sum += float64(len(r.Text(d.Name))) + float64(r.ChronicDiseaseNameRank(i))
		if at, ok := r.ChronicDiseaseByID(r.ConditionID(d.Condition)); !ok || at != i {
			panic("a chronic disease is not found by its id")
		}
		for _, o := range Slice(r.DiseaseRiskFactors, d.RiskFactors) {
			sum += r.Observations[o].Leak
		}
	}
	for _, o := range r.Hospitalizations {
		sum += r.Observations[o].Leak
	}
	return sum
}

func walkArticles(r *Release) float64 {
	sum := 0.0
	for i := range r.Conditions {
		if at := r.Conditions[i].Article; at != None {
			for _, s := range Slice(r.ArticleSections, r.Articles[at].Sections) {
				sum += walkNodes(r, Span{s.Title, s.Title + 1}) + walkNodes(r, s.Content)
			}
		}
	}
	return sum
}

// walkNodes walks nested nodes recursively.
func walkNodes(r *Release, span Span) float64 {
	sum := 0.0
	for _, n := range Slice(r.Nodes, span) {
		sum += float64(len(r.Text(n.Text))+len(n.Type.String())) + walkNodes(r, n.Children)
	}
	return sum
}

func walkObservation(r *Release, i ObservationIndex) float64 {
	o := &r.Observations[i]
	sum := o.Leak
	for _, ref := range []StringRef{o.Name, o.CommonName, o.Question, o.QuestionThirdPerson} {
		sum += float64(len(r.Text(ref)))
	}
	for _, link := range Slice(r.LinksByObservation, o.Links) {
		sum += r.Conditions[link.Other].Prior[Female][0]
	}
	for _, f := range Slice(r.Factors, o.Factors) {
		sum += r.Conditions[f.Condition].Prior[Male][0] + f.Present
	}
	for steps, parent := 0, o.Parent; parent != None; parent = r.Observations[parent].Parent {
		if steps++; steps > len(r.Observations) {
			panic("parents go round in a cycle")
		}
	}
	if o.Group != None {
		g := &r.Groups[o.Group]
		sum += float64(len(Slice(r.GroupItems, g.Items)) + len(r.Text(g.Question)))
	}
	if at, ok := r.ObservationByID(r.ObservationID(i)); !ok || at != i {
		panic("an observation is not found by its id")
	}
	return sum
}
