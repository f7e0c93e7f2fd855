// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A foundTime is a time span and the tokens that state it.
type foundTime struct {
	Words   string
	Minutes float64
}

func TestFindTimes(t *testing.T) {
	t.Parallel()
	const hour, day = 60, 24 * 60
	r := newRelease(t)
	for text, want := range map[string][]foundTime{
		"days":                        nil,
		"3 days":                      {{"3 days", 3 * day}},
		"3days, 2h":                   {{"3 days", 3 * day}, {"2 h", 2 * hour}},
		"three weeks":                 {{"three weeks", 21 * day}},
		"a week":                      {{"a week", 7 * day}},
		"a couple of days":            {{"a couple of days", 2 * day}},
		"half an hour":                {{"half an hour", 30}},
		"half a day":                  {{"half a day", 12 * hour}},
		"one and a half hours":        {{"one and a half hours", 90}},
		"two and a half days":         {{"two and a half days", 60 * hour}},
		"2-3 days":                    {{"2 - 3 days", 3 * day}},
		"2 or 3 days":                 {{"2 or 3 days", 3 * day}},
		"1.5 hours":                   {{"1.5 hours", 90}},
		"fever 39, 2 days":            {{"2 days", 2 * day}},
		"the 2. week":                 nil,
		"since the 1. day, 2 days":    {{"2 days", 2 * day}},
		"a headache all day":          nil,
		"three. weeks":                nil,
		"0 days":                      nil,
		"last night":                  {{"last night", 12 * hour}},
		"yesterday and two days":      {{"yesterday", day}, {"two days", 2 * day}},
		"last night, 3 weeks, a year": {{"last night", 12 * hour}, {"3 weeks", 21 * day}, {"a year", 365 * day}},
	} {
		if difference := diff.Diff(want, findTimes(r, text)); difference != "" {
			t.Errorf("%q: (-want +got)\n%s", text, difference)
		}
	}
}

// findTimes returns the time spans of a text in order.
func findTimes(r *model.Release, text string) []foundTime {
	var d analyzer
	var m matcher
	d.analyze(r, text, true)
	m.reset(r, d.words)
	m.findTimes()
	slices.SortFunc(m.times, func(a, b timeSpan) int { return cmp.Compare(a.from, b.from) })
	var found []foundTime
	for _, time := range m.times {
		var words []string
		for _, w := range d.words[time.from:time.to] {
			words = append(words, w.text)
		}
		found = append(found, foundTime{strings.Join(words, " "), time.minutes})
	}
	return found
}
