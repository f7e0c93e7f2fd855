// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// inOpenUnitInterval reports whether p is strictly between 0 and 1.
func inOpenUnitInterval(p float64) bool { return p > 0 && p < 1 }

// isMultiplier reports whether x is a valid odds multiplier: positive and finite.
func isMultiplier(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// oddsMultipliers converts the relative risk of a condition given a risk factor, and the
// share of people who have the factor, into multipliers of the prior odds for either
// answer.
//
// The prior P covers everyone, with or without the factor: P = share P1 + (1-share) P0
// and P1 = risk P0. Therefore the prior without the factor is P0 = P / (1 - share +
// share risk), and the prior with the factor is P1 = risk P0. The multipliers are
// ratios of probabilities but are applied to odds. The relative error is on the order
// of the prior: for a prior of 0.01, at most one percent.
func oddsMultipliers(risk, share float64) (present, absent float64) {
	absent = 1 / (1 - share + float64(share*risk))
	return risk * absent, absent
}

// prevalenceClass returns the prevalence of a condition with a share of all new symptom
// episodes: at least one in 200 is common, one in 2,000 moderate, one in 20,000 rare.
func prevalenceClass(per10000 float64) model.Prevalence {
	switch {
	case per10000 >= 50:
		return model.Common
	case per10000 >= 5:
		return model.ModeratePrevalence
	case per10000 >= 0.5:
		return model.Rare
	default:
		return model.VeryRare
	}
}

// parseAgeRange parses the age range to which a concept applies, in months.
func parseAgeRange(p reporter, a source.Range) (from, to uint16) {
	from, to = 0, model.MaxAgeMonths
	var errFrom, errTo error
	if a.From.Line != 0 {
		if from, _, errFrom = parseAge(a.From.Text); errFrom != nil {
			p.atLine(a.From.Line).errorf("%v", errFrom)
		}
	}
	if a.To.Line != 0 {
		if _, to, errTo = parseAge(a.To.Text); errTo != nil {
			p.atLine(a.To.Line).errorf("%v", errTo)
		}
	}
	if from > to && errFrom == nil && errTo == nil {
		p.atLine(a.To.Line).errorf("invalid age range from %s to %s: the first age is greater than the last", a.From.Text, a.To.Text)
	}
	return from, to
}

// parseAge returns the first and last month of an age such as 18m or 5y.
func parseAge(age string) (first, last uint16, err error) {
	digits, unit := age, uint64(0)
	if age != "" {
		digits, unit = age[:len(age)-1], map[byte]uint64{'m': 1, 'y': 12}[age[len(age)-1]]
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || unit == 0 || n*unit > model.MaxAgeMonths {
		return 0, 0, fmt.Errorf("invalid age %q: expected months or years up to 130 years, such as 18m or 5y", age)
	}
	return uint16(n * unit), uint16(n*unit + unit - 1), nil
}

// includesSex reports whether filter a includes every patient that filter b includes.
func includesSex(a, b model.SexFilter) bool {
	return a == model.BothSexes || a == b
}

// disjointSexes reports whether no patient matches both filters.
func disjointSexes(a, b model.SexFilter) bool {
	return a != model.BothSexes && b != model.BothSexes && a != b
}
