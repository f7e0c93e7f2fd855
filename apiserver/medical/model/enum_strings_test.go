// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strings"
	"testing"
)

// checkEnum checks that every name parses to its value, and that nothing else parses.
func checkEnum[T interface {
	~uint8
	fmt.Stringer
}](t *testing.T, parse func(string) (T, error), want ...string) {
	t.Helper()
	for i, w := range want {
		v, err := parse(w)
		if err != nil || v != T(i) || v.String() != w {
			t.Errorf("%q parses to %d, %v, with the string %q", w, v, err, v.String())
		}
	}
	for _, w := range []string{"", "Unknown", strings.ToUpper(want[0]), want[0] + " "} {
		if v, err := parse(w); err == nil {
			t.Errorf("%q parses to %v", w, v)
		} else if !strings.Contains(err.Error(), want[0]) || !strings.Contains(err.Error(), want[len(want)-1]) {
			t.Errorf("error %q does not list the expected values", err)
		}
	}
	if over := T(len(want)); !strings.HasSuffix(over.String(), fmt.Sprintf("(%d)", len(want))) {
		t.Errorf("string of the value after the last is %q", over)
	}
}

func TestEnumStrings(t *testing.T) {
	t.Parallel()
	checkEnum(t, ParseSex, "female", "male")
	checkEnum(t, ParseSexFilter, "both", "female", "male")
	checkEnum(t, ParseObservationKind, "symptom", "risk_factor", "lab_result")
	checkEnum(t, ParseTriageLevel, "none", "self_care", "consultation", "consultation_24", "emergency", "emergency_ambulance")
	checkEnum(t, ParseSeriousness, "none", "serious", "emergency", "emergency_ambulance")
	checkEnum(t, ParseRelation, "none", "duration", "severity", "character", "exacerbating_factor", "diminishing_factor", "location", "radiation")
	checkEnum(t, ParsePrevalence, "very_rare", "rare", "moderate", "common")
	checkEnum(t, ParseAcuteness, "chronic", "chronic_with_exacerbations", "acute_potentially_chronic", "acute")
	checkEnum(t, ParseSeverity, "mild", "moderate", "severe")
	checkEnum(t, ParseChannel, "personal_visit", "video_teleconsultation", "audio_teleconsultation", "text_teleconsultation")
	checkEnum(t, ParseGroupType, "group_single", "group_multiple")
	checkEnum(t, ParseResultType, "none", "very_low", "low", "normal", "high", "very_high", "absent", "present")
	checkEnum(t, ParseTopic, "none", "injury", "crisis")
	checkEnum(t, ParseNodeType, "paragraph", "heading-1", "heading-2", "heading-3", "link", "text", "unordered-list", "ordered-list", "list-item")
	cues := []string{"negates", "negates_before", "neutral", "affirms", "ends", "joins", "adds", "questions", "hypotheticals", "past", "others", "patients", "negates_list", "negates_word", "negates_ahead", "writers"}
	for i, word := range cues {
		if v, err := ParseCue(word); err != nil || v != CueNegation+Meaning(i) || v.String() != word || !v.IsCue() {
			t.Errorf("%q parses to %v, %v", word, v, err)
		}
	}
	for _, word := range []string{"", "mentions", "durations", "negate", "relatives"} {
		if v, err := ParseCue(word); err == nil {
			t.Errorf("%q parses to %v", word, v)
		}
	}
	checkEnum(t, ParseSectionName, "summary", "how_its_defined", "how_its_caused", "how_its_diagnosed", "how_it_can_be_treated_at_home",
		"how_its_prevented", "when_to_see_professional", "disclaimer", "sources")
}

func TestEnumStringsMatchConstants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value fmt.Stringer
		want  string
	}{
		{Male, "male"},
		{FemaleOnly, "female"},
		{LabResult, "lab_result"},
		{Consultation24, "consultation_24"},
		{EmergencyAmbulance, "emergency_ambulance"},
		{SeriousnessEmergency, "emergency"},
		{SeverityRelation, "severity"},
		{RadiationRelation, "radiation"},
		{VeryRare, "very_rare"},
		{AcutePotentiallyChronic, "acute_potentially_chronic"},
		{ModerateSeverity, "moderate"},
		{AudioTeleconsultation, "audio_teleconsultation"},
		{GroupMultiple, "group_multiple"},
		{VeryHigh, "very_high"},
		{ResultPresent, "present"},
		{Injury, "injury"},
		{Heading3Node, "heading-3"},
		{ListItemNode, "list-item"},
		{HomeTreatmentSection, "how_it_can_be_treated_at_home"},
		{SourcesSection, "sources"},
		{CommonNameWording, "common_name"},
		{NameWording, "name"},
		{SynonymWording, "synonym"},
		{LayWording, "lay_wording"},
		{LayWording + 1, "WordingKind(4)"},
		{MeaningMention, "mentions"},
		{CuePostNegation, "negates_before"},
		{CuePatient, "patients"},
		{CueListNegation, "negates_list"},
		{CueRelative, "relatives"},
		{MeaningTime, "times"},
	} {
		if got := test.value.String(); got != test.want {
			t.Errorf("%T(%d).String() = %q, want %q", test.value, test.value, got, test.want)
		}
	}
}

func TestSexFilterIncludes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		filter       SexFilter
		female, male bool
	}{
		{BothSexes, true, true},
		{FemaleOnly, true, false},
		{MaleOnly, false, true},
	} {
		if test.filter.Includes(Female) != test.female || test.filter.Includes(Male) != test.male {
			t.Errorf("%v admits female %t, male %t", test.filter, test.filter.Includes(Female), test.filter.Includes(Male))
		}
	}
}

func TestAgeBandsCoverEveryAge(t *testing.T) {
	t.Parallel()
	next := 0
	for band := range NumAgeBands {
		from, to := AgeBandRange(band)
		if from != next || to < from {
			t.Errorf("band %s runs from %d to %d, want it to begin at %d", AgeBandNames[band], from, to, next)
		}
		if AgeBand(from) != band || AgeBand(to) != band {
			t.Errorf("band %s: its ends %d and %d are in bands %d and %d", AgeBandNames[band], from, to, AgeBand(from), AgeBand(to))
		}
		next = to + 1
	}
	if next != MaxAgeMonths+1 {
		t.Errorf("the bands end before month %d, want %d", next, MaxAgeMonths+1)
	}
	if band := AgeBand(75 * 12); AgeBandNames[band] != "75+" {
		t.Errorf("75 years are in band %s", AgeBandNames[band])
	}
	if band := AgeBand(6*12 - 1); AgeBandNames[band] != "2-5" {
		t.Errorf("the last month before six years is in band %s", AgeBandNames[band])
	}
}
