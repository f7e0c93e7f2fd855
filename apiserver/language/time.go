// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A span is a time that a text names: "three weeks", "2-3 days", "last night".
type span struct {
	from, to int // its tokens are from..to-1
	minutes  float64
}

// findTimes notes the times of the text and gives their tokens to them. Those
// said with a number and a unit come before phrases that share a word with
// them.
func (m *matcher) findTimes() {
	for i := range m.words {
		if m.words[i].stem.Minutes > 0 {
			if from, number, ok := m.numberBefore(i); ok {
				m.addTime(span{from, i + 1, number * float64(m.words[i].stem.Minutes)})
			}
		}
	}
	m.matchMeanings(model.SaysTime, model.SaysTime, func(found *match) {
		tokens := m.tokens(found)
		m.addTime(span{int(tokens[0]), int(tokens[len(tokens)-1]) + 1, float64(m.r.Patterns[found.pattern].Minutes)})
	})
}

// addTime adds a time unless one of its tokens is of another one.
func (m *matcher) addTime(time span) {
	for i := time.from; i < time.to; i++ {
		if m.words[i].time != none {
			return
		}
	}
	for i := time.from; i < time.to; i++ {
		m.words[i].time = int32(len(m.times))
	}
	m.times = append(m.times, time)
}

// mostNumberTokens is how far before a unit its number may begin.
const mostNumberTokens = 6

// numberBefore reads the number before a unit: "3", "a couple of", "half an",
// "one and a half". Of "2-3" and "two or three" it is the last. An ordinal is
// none: the third day is not three days.
func (m *matcher) numberBefore(unit int) (from int, number float64, ok bool) {
	from = unit
	for i := unit - 1; i >= 0 && unit-i <= mostNumberTokens && !m.words[i].stops && !m.words[i].ordinal && m.words[i].time == none; i-- {
		if !math.IsNaN(m.numberAt(i)) {
			from = i
		} else if !m.leadsNumber(i, from, unit) {
			break
		}
	}
	if from == unit {
		return 0, 0, false
	}
	number = m.evaluate(from, unit)
	return from, number, number > 0
}

// numberAt is the number that a token stands for, or not a number.
func (m *matcher) numberAt(i int) float64 {
	if m.words[i].kind == numberToken {
		return m.words[i].number
	}
	return m.words[i].stem.Number
}

// leadsNumber reports whether a token may stand between two parts of a number,
// as "and" does in "one and a half", or between a number and its unit, as "of"
// does in "a couple of days".
func (m *matcher) leadsNumber(i, from, unit int) bool {
	w := &m.words[i]
	if from == unit {
		return w.filler || w.text == "-" || w.text == "."
	}
	before := i - 1
	return before >= 0 && !m.words[before].stops && !math.IsNaN(m.numberAt(before)) && i+1 == from && w.kind != numberToken && !w.comma
}

// evaluate computes numbers that belong together. Those next to each other are
// multiplied, as in "half a"; behind another word a part of one is added, as in
// "one and a half", and anything else takes the place of what was before.
func (m *matcher) evaluate(from, unit int) float64 {
	sum, product, apart := 0.0, math.NaN(), false
	flush := func() {
		if !math.IsNaN(product) && product < 1 {
			sum += product
		} else if !math.IsNaN(product) {
			sum = product
		}
		product = math.NaN()
	}
	for i := from; i < unit; i++ {
		number := m.numberAt(i)
		switch {
		case math.IsNaN(number):
			apart = true
		case apart || math.IsNaN(product):
			flush()
			product, apart = number, false
		default:
			product *= number
		}
	}
	flush()
	return sum
}
