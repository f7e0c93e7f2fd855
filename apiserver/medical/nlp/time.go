// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A timeSpan is a time stated in a text: "three weeks", "2-3 days", "last night".
type timeSpan struct {
	from, to int // its tokens are from..to-1
	minutes  float64
}

// findTimes finds the time spans of the text and assigns their tokens to them. A
// number with a unit takes precedence over overlapping phrases.
func (m *matcher) findTimes() {
	for i := range m.words {
		if m.words[i].stem.Minutes > 0 {
			if from, number, ok := m.numberBefore(i); ok {
				m.addTime(timeSpan{from, i + 1, number * float64(m.words[i].stem.Minutes)})
			}
		}
	}
	m.matchMeanings(model.MeaningTime, model.MeaningTime, func(found *match) {
		tokens := m.tokens(found)
		m.addTime(timeSpan{int(tokens[0]), int(tokens[len(tokens)-1]) + 1, float64(m.r.Patterns[found.pattern].Minutes)})
	})
}

// addTime adds a time span unless one of its tokens belongs to another time span.
func (m *matcher) addTime(time timeSpan) {
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

// maxNumberTokens is the maximum number of tokens between a unit and the start of its
// number.
const maxNumberTokens = 6

// numberBefore parses the number before a unit: "3", "a couple of", "half an", "one and
// a half". For "2-3" and "two or three" it returns the last number. Ordinals are not
// numbers: "the third day" is not three days.
func (m *matcher) numberBefore(unit int) (from int, number float64, ok bool) {
	from = unit
	for i := unit - 1; i >= 0 && unit-i <= maxNumberTokens && !m.words[i].endsSentence && !m.words[i].ordinal && m.words[i].time == none; i-- {
		if !math.IsNaN(m.numberAt(i)) {
			from = i
		} else if !m.continuesNumber(i, from, unit) {
			break
		}
	}
	if from == unit {
		return 0, 0, false
	}
	number = m.evaluateNumber(from, unit)
	return from, number, number > 0
}

// numberAt returns the number that a token represents, or NaN.
func (m *matcher) numberAt(i int) float64 {
	if m.words[i].kind == numberToken {
		return m.words[i].number
	}
	return m.words[i].stem.Number
}

// continuesNumber reports whether a token may stand between two parts of a number, as
// "and" in "one and a half", or between a number and its unit, as "of" in "a couple of
// days".
func (m *matcher) continuesNumber(i, from, unit int) bool {
	w := &m.words[i]
	if from == unit {
		return w.filler || w.text == "-" || w.text == "."
	}
	before := i - 1
	return before >= 0 && !m.words[before].endsSentence && !math.IsNaN(m.numberAt(before)) && i+1 == from && w.kind != numberToken && !w.comma
}

// evaluateNumber evaluates the numbers in a phrase. Adjacent numbers are multiplied, as
// in "half a". After an intervening word, a fraction is added, as in "one and a half",
// and any other number replaces the previous one.
func (m *matcher) evaluateNumber(from, unit int) float64 {
	sum, product, isSeparated := 0.0, math.NaN(), false
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
			isSeparated = true
		case isSeparated || math.IsNaN(product):
			flush()
			product, isSeparated = number, false
		default:
			product *= number
		}
	}
	flush()
	return sum
}
