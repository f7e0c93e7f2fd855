// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
)

// The words of the specification for each vocabulary, in order of value. The
// zero values that stand for nothing are called none; on the wire they are
// null or left out.
var (
	sexWords             = []string{"female", "male"}
	sexFilterWords       = []string{"both", "female", "male"}
	observationKindWords = []string{"symptom", "risk_factor", "lab_result"}
	triageLevelWords     = []string{"none", "self_care", "consultation", "consultation_24", "emergency", "emergency_ambulance"}
	seriousnessWords     = []string{"none", "serious", "emergency", "emergency_ambulance"}
	relationWords        = []string{"none", "duration", "severity", "character", "exacerbating_factor", "diminishing_factor", "location", "radiation"}
	prevalenceWords      = []string{"very_rare", "rare", "moderate", "common"}
	acutenessWords       = []string{"chronic", "chronic_with_exacerbations", "acute_potentially_chronic", "acute"}
	severityWords        = []string{"mild", "moderate", "severe"}
	channelWords         = []string{"personal_visit", "video_teleconsultation", "audio_teleconsultation", "text_teleconsultation"}
	groupTypeWords       = []string{"group_single", "group_multiple"}
)

// String is the word of the specification: female or male.
func (v Sex) String() string { return word("Sex", sexWords, v) }

// String is the word of the specification: both, female or male.
func (v SexFilter) String() string { return word("SexFilter", sexFilterWords, v) }

// String is the word of content sources: symptom, risk_factor or lab_result.
func (v ObservationKind) String() string {
	return word("ObservationKind", observationKindWords, v)
}

// String is the word of the specification, such as consultation_24.
func (v TriageLevel) String() string { return word("TriageLevel", triageLevelWords, v) }

// String is the word of the specification, such as emergency_ambulance.
func (v Seriousness) String() string { return word("Seriousness", seriousnessWords, v) }

// String is the word of the specification, such as exacerbating_factor.
func (v Relation) String() string { return word("Relation", relationWords, v) }

// String is the word of the specification, such as very_rare.
func (v Prevalence) String() string { return word("Prevalence", prevalenceWords, v) }

// String is the word of the specification, such as acute_potentially_chronic.
func (v Acuteness) String() string { return word("Acuteness", acutenessWords, v) }

// String is the word of the specification: mild, moderate or severe.
func (v Severity) String() string { return word("Severity", severityWords, v) }

// String is the word of the specification, such as personal_visit.
func (v Channel) String() string { return word("Channel", channelWords, v) }

// String is the word of the specification: group_single or group_multiple.
func (v GroupType) String() string { return word("GroupType", groupTypeWords, v) }

// ParseSex is the inverse of Sex.String.
func ParseSex(w string) (Sex, error) { return parse[Sex]("sex", sexWords, w) }

// ParseSexFilter is the inverse of SexFilter.String.
func ParseSexFilter(w string) (SexFilter, error) {
	return parse[SexFilter]("sex", sexFilterWords, w)
}

// ParseObservationKind is the inverse of ObservationKind.String.
func ParseObservationKind(w string) (ObservationKind, error) {
	return parse[ObservationKind]("kind", observationKindWords, w)
}

// ParseTriageLevel is the inverse of TriageLevel.String.
func ParseTriageLevel(w string) (TriageLevel, error) {
	return parse[TriageLevel]("triage level", triageLevelWords, w)
}

// ParseSeriousness is the inverse of Seriousness.String.
func ParseSeriousness(w string) (Seriousness, error) {
	return parse[Seriousness]("seriousness", seriousnessWords, w)
}

// ParseRelation is the inverse of Relation.String.
func ParseRelation(w string) (Relation, error) {
	return parse[Relation]("relation", relationWords, w)
}

// ParsePrevalence is the inverse of Prevalence.String.
func ParsePrevalence(w string) (Prevalence, error) {
	return parse[Prevalence]("prevalence", prevalenceWords, w)
}

// ParseAcuteness is the inverse of Acuteness.String.
func ParseAcuteness(w string) (Acuteness, error) {
	return parse[Acuteness]("acuteness", acutenessWords, w)
}

// ParseSeverity is the inverse of Severity.String.
func ParseSeverity(w string) (Severity, error) {
	return parse[Severity]("severity", severityWords, w)
}

// ParseChannel is the inverse of Channel.String.
func ParseChannel(w string) (Channel, error) { return parse[Channel]("channel", channelWords, w) }

// ParseGroupType is the inverse of GroupType.String.
func ParseGroupType(w string) (GroupType, error) {
	return parse[GroupType]("group type", groupTypeWords, w)
}

// word names a value, or shows it as Type(n) when there is no such value.
func word[T ~uint8](typeName string, words []string, value T) string {
	if int(value) < len(words) {
		return words[value]
	}
	return fmt.Sprintf("%s(%d)", typeName, uint8(value))
}

func parse[T ~uint8](what string, words []string, w string) (T, error) {
	i := slices.Index(words, w)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q, expected one of %s", what, w, strings.Join(words, ", "))
	}
	return T(i), nil
}
