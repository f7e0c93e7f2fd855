// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// A Drug is an active substance that patients take, or several that they know
// as one product.
type Drug struct {
	// Number is the integer of the public id, d_<Number>.
	Number uint32
	Name   StringRef // as patients of the language know the substance
	// ATC is the code of the WHO Anatomical Therapeutic Chemical classification,
	// such as C07AB02: of several uses the one that most patients take it for.
	ATC    StringRef
	Brands Span // of DrugBrands, in the order of the content
	// Factors, of DrugFactors and in order of index, are the risk factors that
	// whoever takes the drug has: the answer to their question is yes.
	Factors Span
}

// atcForm is that of the fifth level, a chemical substance.
var atcForm = regexp.MustCompile(`^[A-Z][0-9]{2}[A-Z]{2}[0-9]{2}$`)

// ValidATC reports whether a code has the form of a substance's, as C07AB02.
func ValidATC(code string) bool { return atcForm.MatchString(code) }

// DrugID is the public id of the drug at a position of Drugs, such as d_3.
func (r *Release) DrugID(i int) string { return FormatID(DrugPrefix, r.Drugs[i].Number) }

// DrugByID finds the position of a drug by its public id.
func (r *Release) DrugByID(id string) (int, bool) {
	number, ok := ParseID(DrugPrefix, id)
	if !ok {
		return None, false
	}
	i, ok := slices.BinarySearchFunc(r.Drugs, number, func(d Drug, n uint32) int { return cmp.Compare(d.Number, n) })
	if !ok {
		return None, false
	}
	return i, true
}

func (l *layout) layDrugs() {
	r := l.release
	for _, d := range l.draft.Drugs {
		brands := make([]StringRef, len(d.Brands))
		for i, brand := range d.Brands {
			brands[i] = l.text(brand)
		}
		r.Drugs = append(r.Drugs, Drug{
			Number:  d.Number,
			Name:    l.text(d.Name),
			ATC:     l.text(d.ATC),
			Brands:  appendSpan(&r.DrugBrands, brands...),
			Factors: appendSpan(&r.DrugFactors, l.sortedIndexes(d.Factors)...),
		})
	}
}

func verifyDrugs(r *Release) error {
	brands := tiling{section: "drug brands", length: len(r.DrugBrands)}
	factors := tiling{section: "drug factors", length: len(r.DrugFactors)}
	last := uint32(0)
	for i := range r.Drugs {
		d := &r.Drugs[i]
		if d.Number <= last {
			return fmt.Errorf("drug number %d follows %d", d.Number, last)
		}
		last = d.Number
		if err := errors.Join(brands.take(d.Brands), factors.take(d.Factors), verifyDrug(r, d)); err != nil {
			return fmt.Errorf("drug %s: %w", r.DrugID(i), err)
		}
	}
	return errors.Join(brands.done(), factors.done())
}

func verifyDrug(r *Release, d *Drug) error {
	if err := checkTexts(r, d.Name, d.ATC); err != nil {
		return err
	}
	if d.Name.Length == 0 {
		return errors.New("no name")
	}
	if code := r.Text(d.ATC); !ValidATC(code) {
		return fmt.Errorf("%q has not the form of an ATC code", code)
	}
	if d.Brands.Start > d.Brands.End || int(d.Brands.End) > len(r.DrugBrands) {
		return errors.New("its brands leave their section")
	}
	for _, brand := range Part(r.DrugBrands, d.Brands) {
		if err := checkTexts(r, brand); err != nil {
			return err
		}
		if brand.Length == 0 {
			return errors.New("a brand without a name")
		}
	}
	return verifyFactorRefs(r, r.DrugFactors, d.Factors)
}

// verifyFactorRefs checks that a span refers to risk factors, in order of index.
func verifyFactorRefs(r *Release, refs []ObservationIndex, span Span) error {
	if span.Start > span.End || int(span.End) > len(refs) {
		return errors.New("its factors leave their section")
	}
	last := ObservationIndex(None)
	for _, o := range Part(refs, span) {
		if o <= last || int(o) >= len(r.Observations) || r.Observations[o].Kind != RiskFactor {
			return fmt.Errorf("factor %d is no risk factor, or out of order", o)
		}
		last = o
	}
	return nil
}
