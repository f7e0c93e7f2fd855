// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// A Drug is an active substance that patients take, or a combination sold as one product.
type Drug struct {
	// Number is the integer of the public ID, d_<Number>.
	Number uint32
	Name   StringRef // the substance name familiar to patients
	// ATC is the code in the WHO Anatomical Therapeutic Chemical classification, such as
	// C07AB02. If a substance has several codes, it is the code for its most common use.
	ATC    StringRef
	Brands Span // of DrugBrands, in content order
	// RiskFactors is a span of DrugRiskFactors, sorted by index: the risk factors of every
	// patient taking the drug. Their questions are answered with yes.
	RiskFactors Span
}

// atcPattern matches ATC codes of the fifth level, a chemical substance.
var atcPattern = regexp.MustCompile(`^[A-Z][0-9]{2}[A-Z]{2}[0-9]{2}$`)

// ValidATC reports whether code has the form of a substance code, such as C07AB02.
func ValidATC(code string) bool { return atcPattern.MatchString(code) }

// DrugID returns the public ID, such as d_3, of the drug at position i of Drugs.
func (r *Release) DrugID(i int) string { return FormatID(DrugPrefix, r.Drugs[i].Number) }

// DrugByID returns the position of the drug with a public ID.
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

func (e *releaseEncoder) encodeDrugs() {
	r := e.release
	for _, d := range e.draft.Drugs {
		brands := make([]StringRef, len(d.Brands))
		for i, brand := range d.Brands {
			brands[i] = e.internText(brand)
		}
		r.Drugs = append(r.Drugs, Drug{
			Number:      d.Number,
			Name:        e.internText(d.Name),
			ATC:         e.internText(d.ATC),
			Brands:      appendSpan(&r.DrugBrands, brands...),
			RiskFactors: appendSpan(&r.DrugRiskFactors, e.sortedObservationIndexes(d.RiskFactors)...),
		})
	}
}

func verifyDrugs(r *Release) error {
	brands := spanChecker{section: "drug brands", length: len(r.DrugBrands)}
	factors := spanChecker{section: "drug factors", length: len(r.DrugRiskFactors)}
	last := uint32(0)
	for i := range r.Drugs {
		d := &r.Drugs[i]
		if d.Number <= last {
			return fmt.Errorf("drug number %d is out of order after %d", d.Number, last)
		}
		last = d.Number
		if err := errors.Join(brands.check(d.Brands), factors.check(d.RiskFactors), verifyDrug(r, d)); err != nil {
			return fmt.Errorf("drug %s: %w", r.DrugID(i), err)
		}
	}
	return errors.Join(brands.checkComplete(), factors.checkComplete())
}

func verifyDrug(r *Release, d *Drug) error {
	if err := verifyTexts(r, d.Name, d.ATC); err != nil {
		return err
	}
	if d.Name.Length == 0 {
		return errors.New("missing name")
	}
	if code := r.Text(d.ATC); !ValidATC(code) {
		return fmt.Errorf("invalid ATC code %q: expected a code such as C07AB02", code)
	}
	if d.Brands.Start > d.Brands.End || int(d.Brands.End) > len(r.DrugBrands) {
		return errors.New("brands are out of the range of their section")
	}
	for _, brand := range Slice(r.DrugBrands, d.Brands) {
		if err := verifyTexts(r, brand); err != nil {
			return err
		}
		if brand.Length == 0 {
			return errors.New("brand has an empty name")
		}
	}
	return verifyRiskFactorRefs(r, r.DrugRiskFactors, d.RiskFactors)
}

// verifyRiskFactorRefs checks that a span refers to risk factors, sorted by index.
func verifyRiskFactorRefs(r *Release, refs []ObservationIndex, span Span) error {
	if span.Start > span.End || int(span.End) > len(refs) {
		return errors.New("factors are out of the range of their section")
	}
	last := ObservationIndex(None)
	for _, o := range Slice(refs, span) {
		if o <= last || int(o) >= len(r.Observations) || r.Observations[o].Kind != RiskFactor {
			return fmt.Errorf("factor %d is not a risk factor or is out of order", o)
		}
		last = o
	}
	return nil
}
