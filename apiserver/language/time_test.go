// SPDX-License-Identifier: Apache-2.0

package language

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A saidTime is a time and the tokens that say it.
type saidTime struct {
	Words   string
	Minutes float64
}

func TestFindTimes(t *testing.T) {
	t.Parallel()
	const hour, day = 60, 24 * 60
	r := world(t)
	for text, want := range map[string][]saidTime{
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
		if difference := diff.Diff(want, timesOf(r, text)); difference != "" {
			t.Errorf("%q: (-want +got)\n%s", text, difference)
		}
	}
}

// timesOf are the times that a text names, in their order.
func timesOf(r *model.Release, text string) []saidTime {
	var d reader
	var m matcher
	d.read(r, text, true)
	m.begin(r, d.words)
	m.findTimes()
	slices.SortFunc(m.times, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var said []saidTime
	for _, time := range m.times {
		var words []string
		for _, w := range d.words[time.from:time.to] {
			words = append(words, w.text)
		}
		said = append(said, saidTime{strings.Join(words, " "), time.minutes})
	}
	return said
}
