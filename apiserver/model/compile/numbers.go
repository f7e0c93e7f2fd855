// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// inside reports whether p is strictly between 0 and 1.
func inside(p float64) bool { return p > 0 && p < 1 }

// isMultiplier reports whether x multiplies odds: positive and finite.
func isMultiplier(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// relativeRisk turns the relative risk of a condition among those who have a
// risk factor, which a share of people have, into the multipliers on its prior
// odds under either answer.
//
// The prior P is that of everybody, with the factor or without:
// P = share P1 + (1-share) P0 and P1 = risk P0. So the prior of those without
// is P0 = P / (1 - share + share risk), and of those with it P1 = risk P0.
// These are ratios of probabilities; they are used on odds, which is the same
// to within the prior itself: a condition of prior 0.01 comes out at most one
// percent off.
func relativeRisk(risk, share float64) (present, absent float64) {
	absent = 1 / (1 - share + float64(share*risk))
	return risk * absent, absent
}

// prevalence says how common a condition is, from what share of all new
// symptom episodes it is behind: at least one in 200 is common, one in 2,000
// moderate, one in 20,000 rare.
func prevalence(per10000 float64) model.Prevalence {
	switch {
	case per10000 >= 50:
		return model.Common
	case per10000 >= 5:
		return model.Moderate
	case per10000 >= 0.5:
		return model.Rare
	default:
		return model.VeryRare
	}
}

// ages reads the ages that a concept applies to, in months.
func ages(p place, a source.Range) (from, to uint16) {
	from, to = 0, model.MaxAge
	var errFrom, errTo error
	if a.From.Line != 0 {
		if from, _, errFrom = parseAge(a.From.Text); errFrom != nil {
			p.line(a.From.Line).add("%v", errFrom)
		}
	}
	if a.To.Line != 0 {
		if _, to, errTo = parseAge(a.To.Text); errTo != nil {
			p.line(a.To.Line).add("%v", errTo)
		}
	}
	if from > to && errFrom == nil && errTo == nil {
		p.line(a.To.Line).add("ages from %s to %s: the first is over the last", a.From.Text, a.To.Text)
	}
	return from, to
}

// parseAge gives the first and the last month of an age such as 18m or 5y.
func parseAge(age string) (first, last uint16, err error) {
	digits, unit := age, uint64(0)
	if age != "" {
		digits, unit = age[:len(age)-1], map[byte]uint64{'m': 1, 'y': 12}[age[len(age)-1]]
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || unit == 0 || n*unit > model.MaxAge {
		return 0, 0, fmt.Errorf("age %q: expected months or years up to 130 years, as in 18m or 5y", age)
	}
	return uint16(n * unit), uint16(n*unit + unit - 1), nil
}

// covers reports whether a concept applies to everybody to whom another does.
func covers(sex, other model.SexFilter) bool {
	return sex == model.BothSexes || sex == other
}

// disjoint reports whether no patient is of both sexes.
func disjoint(a, b model.SexFilter) bool {
	return a != model.BothSexes && b != model.BothSexes && a != b
}
