// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
)

// checkError checks an error message against want; "" means no error.
func checkError(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: error %q, want %q", name, got, want)
	}
}

func TestParseAge(t *testing.T) {
	t.Parallel()
	const years, months = "a whole number from 1 to 130 with the unit year", "a whole number from 0 to 1560 with the unit month"
	number := func(value float64) *float64 { return &value }
	for name, test := range map[string]struct {
		value *float64
		unit  string
		want  int
		error string
	}{
		"years":                {number(30), "", 360, ""},
		"years, by name":       {number(130), "year", 1560, ""},
		"months":               {number(0), "month", 0, ""},
		"none":                 {nil, "", 0, "age.value: missing, expected " + years},
		"no month":             {nil, "month", 0, "age.value: missing, expected " + months},
		"half a year":          {number(0.5), "", 0, "age.value: expected " + years + ", got 0.5"},
		"not born as of years": {number(0), "year", 0, "age.value: expected " + years + ", got 0"},
		"too old":              {number(131), "", 0, "age.value: expected " + years + ", got 131"},
		"too old in months":    {number(1561), "month", 0, "age.value: expected " + months + ", got 1561"},
		"days":                 {number(3), "day", 0, `age.unit: expected year or month, got "day"`},
	} {
		got, err := ParseAge("age", test.value, test.unit)
		checkError(t, name, err, test.error)
		if got != test.want {
			t.Errorf("%s: got %d months, want %d", name, got, test.want)
		}
	}
}

func TestParseSex(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"female": "", "male": "",
		"":     "sex: missing, expected female or male",
		"both": `sex: expected female or male, got "both"`,
	} {
		_, err := ParseSex("sex", word)
		checkError(t, word, err, want)
	}
}

func TestParseEvidence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent  Evidence
		want  inference.ReportedEvidence
		error string
	}{
		"answered":        {Evidence{"s_21", "present", ""}, inference.ReportedEvidence{ID: "s_21", Choice: inference.Present}, ""},
		"initial":         {Evidence{"s_21", "absent", "initial"}, inference.ReportedEvidence{ID: "s_21", Choice: inference.Absent, Source: inference.SourceInitial}, ""},
		"predefined":      {Evidence{"p_7", "unknown", "predefined"}, inference.ReportedEvidence{ID: "p_7", Source: inference.SourcePredefined}, ""},
		"without id":      {Evidence{"", "present", ""}, inference.ReportedEvidence{}, "evidence[3].id: missing, expected the id of an observation, such as s_21"},
		"without choice":  {Evidence{"s_21", "", ""}, inference.ReportedEvidence{}, "evidence[3].choice_id: missing, expected present, absent or unknown"},
		"another choice":  {Evidence{"s_21", "yes", ""}, inference.ReportedEvidence{}, `evidence[3].choice_id: expected present, absent or unknown, got "yes"`},
		"another source":  {Evidence{"s_21", "present", "me"}, inference.ReportedEvidence{}, `evidence[3].source: expected initial, suggest, predefined or red_flags, or no source, got "me"`},
		"a novel instead": {Evidence{"s_21", strings.Repeat("ä", 65), ""}, inference.ReportedEvidence{}, `evidence[3].choice_id: expected present, absent or unknown, got "` + strings.Repeat("ä", 64) + `…"`},
	} {
		got, err := ParseEvidence(3, test.sent)
		checkError(t, name, err, test.error)
		if err != nil {
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	number := func(value float64) *float64 { return &value }
	const expected = "expected a number above 0, and at most 130 years"
	for name, test := range map[string]struct {
		value *float64
		unit  string
		want  time.Duration
		error string
	}{
		"days":           {number(2), "day", 48 * time.Hour, ""},
		"half a week":    {number(0.5), "week", 84 * time.Hour, ""},
		"a blink":        {number(1e-20), "minute", 1, ""},
		"130 years":      {number(130 * 8766), "hour", maxDuration, ""},
		"longer":         {number(130*8766 + 1), "hour", 0, "d.value: " + expected + ", got 1.139581e+06"},
		"nothing":        {number(0), "hour", 0, "d.value: " + expected + ", got 0"},
		"without number": {nil, "hour", 0, "d.value: missing, " + expected},
		"months":         {number(1), "month", 0, `d.unit: expected week, day, hour or minute, got "month"`},
		"without unit":   {number(1), "", 0, "d.unit: missing, expected week, day, hour or minute"},
	} {
		got, err := ParseDuration("d", test.value, test.unit)
		checkError(t, name, err, test.error)
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
