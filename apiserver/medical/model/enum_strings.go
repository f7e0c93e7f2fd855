// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the enum values in the API specification, in order of value. Zero values
// without a meaning are called none; the API encodes them as null or omits them.
var (
	sexValues             = []string{"female", "male"}
	sexFilterValues       = []string{"both", "female", "male"}
	observationKindValues = []string{"symptom", "risk_factor", "lab_result"}
	triageLevelValues     = []string{"none", "self_care", "consultation", "consultation_24", "emergency", "emergency_ambulance"}
	seriousnessValues     = []string{"none", "serious", "emergency", "emergency_ambulance"}
	relationValues        = []string{"none", "duration", "severity", "character", "exacerbating_factor", "diminishing_factor", "location", "radiation"}
	prevalenceValues      = []string{"very_rare", "rare", "moderate", "common"}
	acutenessValues       = []string{"chronic", "chronic_with_exacerbations", "acute_potentially_chronic", "acute"}
	severityValues        = []string{"mild", "moderate", "severe"}
	channelValues         = []string{"personal_visit", "video_teleconsultation", "audio_teleconsultation", "text_teleconsultation"}
	groupTypeValues       = []string{"group_single", "group_multiple"}
	resultTypeValues      = []string{"none", "very_low", "low", "normal", "high", "very_high", "absent", "present"}
	topicValues           = []string{"none", "injury", "crisis"}
	nodeTypeValues        = []string{"paragraph", "heading-1", "heading-2", "heading-3", "link", "text", "unordered-list", "ordered-list", "list-item"}
	wordingKindValues     = []string{"common_name", "name", "synonym", "lay_wording"}
	meaningValues         = []string{
		"mentions", "mentions_after", "mentions_absent",
		"negates", "negates_before", "neutral", "affirms", "ends", "joins", "adds", "questions", "hypotheticals", "past", "others", "patients", "negates_list", "negates_word", "negates_ahead", "writers", "relatives",
		"durations", "times",
	}
	sectionNameValues = []string{
		"summary", "how_its_defined", "how_its_caused", "how_its_diagnosed", "how_it_can_be_treated_at_home",
		"how_its_prevented", "when_to_see_professional", "disclaimer", "sources",
	}
)

// String returns the value as in the API specification: female or male.
func (v Sex) String() string { return enumString("Sex", sexValues, v) }

// String returns the value as in the API specification: both, female or male.
func (v SexFilter) String() string { return enumString("SexFilter", sexFilterValues, v) }

// String returns the key used in content sources: symptom, risk_factor or lab_result.
func (v ObservationKind) String() string {
	return enumString("ObservationKind", observationKindValues, v)
}

// String returns the value as in the API specification, such as consultation_24.
func (v TriageLevel) String() string { return enumString("TriageLevel", triageLevelValues, v) }

// String returns the value as in the API specification, such as emergency_ambulance.
func (v Seriousness) String() string { return enumString("Seriousness", seriousnessValues, v) }

// String returns the value as in the API specification, such as exacerbating_factor.
func (v Relation) String() string { return enumString("Relation", relationValues, v) }

// String returns the value as in the API specification, such as very_rare.
func (v Prevalence) String() string { return enumString("Prevalence", prevalenceValues, v) }

// String returns the value as in the API specification, such as
// acute_potentially_chronic.
func (v Acuteness) String() string { return enumString("Acuteness", acutenessValues, v) }

// String returns the value as in the API specification: mild, moderate or severe.
func (v Severity) String() string { return enumString("Severity", severityValues, v) }

// String returns the value as in the API specification, such as personal_visit.
func (v Channel) String() string { return enumString("Channel", channelValues, v) }

// String returns the value as in the API specification: group_single or group_multiple.
func (v GroupType) String() string { return enumString("GroupType", groupTypeValues, v) }

// String returns the value as in the API specification, such as very_low.
func (v ResultType) String() string { return enumString("ResultType", resultTypeValues, v) }

// String returns the value used in content sources: none, injury or crisis.
func (v Topic) String() string { return enumString("Topic", topicValues, v) }

// String returns the value as in the API specification, such as how_its_caused.
func (v SectionName) String() string { return enumString("SectionName", sectionNameValues, v) }

// String returns the value as in the API specification, such as heading-1.
func (v NodeType) String() string { return enumString("NodeType", nodeTypeValues, v) }

// String returns the key used in content sources: common_name, name or synonym.
func (v WordingKind) String() string { return enumString("WordingKind", wordingKindValues, v) }

// String returns the key used in content sources, such as negates_before.
func (v Meaning) String() string { return enumString("Meaning", meaningValues, v) }

// ParseSex is the inverse of Sex.String.
func ParseSex(s string) (Sex, error) { return parseEnum[Sex]("sex", sexValues, s) }

// ParseSexFilter is the inverse of SexFilter.String.
func ParseSexFilter(s string) (SexFilter, error) {
	return parseEnum[SexFilter]("sex", sexFilterValues, s)
}

// ParseObservationKind is the inverse of ObservationKind.String.
func ParseObservationKind(s string) (ObservationKind, error) {
	return parseEnum[ObservationKind]("kind", observationKindValues, s)
}

// ParseTriageLevel is the inverse of TriageLevel.String.
func ParseTriageLevel(s string) (TriageLevel, error) {
	return parseEnum[TriageLevel]("triage level", triageLevelValues, s)
}

// ParseSeriousness is the inverse of Seriousness.String.
func ParseSeriousness(s string) (Seriousness, error) {
	return parseEnum[Seriousness]("seriousness", seriousnessValues, s)
}

// ParseRelation is the inverse of Relation.String.
func ParseRelation(s string) (Relation, error) {
	return parseEnum[Relation]("relation", relationValues, s)
}

// ParsePrevalence is the inverse of Prevalence.String.
func ParsePrevalence(s string) (Prevalence, error) {
	return parseEnum[Prevalence]("prevalence", prevalenceValues, s)
}

// ParseAcuteness is the inverse of Acuteness.String.
func ParseAcuteness(s string) (Acuteness, error) {
	return parseEnum[Acuteness]("acuteness", acutenessValues, s)
}

// ParseSeverity is the inverse of Severity.String.
func ParseSeverity(s string) (Severity, error) {
	return parseEnum[Severity]("severity", severityValues, s)
}

// ParseChannel is the inverse of Channel.String.
func ParseChannel(s string) (Channel, error) { return parseEnum[Channel]("channel", channelValues, s) }

// ParseGroupType is the inverse of GroupType.String.
func ParseGroupType(s string) (GroupType, error) {
	return parseEnum[GroupType]("group type", groupTypeValues, s)
}

// ParseResultType is the inverse of ResultType.String.
func ParseResultType(s string) (ResultType, error) {
	return parseEnum[ResultType]("result", resultTypeValues, s)
}

// ParseTopic is the inverse of Topic.String.
func ParseTopic(s string) (Topic, error) { return parseEnum[Topic]("topic", topicValues, s) }

// ParseSectionName is the inverse of SectionName.String.
func ParseSectionName(s string) (SectionName, error) {
	return parseEnum[SectionName]("section", sectionNameValues, s)
}

// ParseCue is the inverse of Meaning.String for the meanings that are cues.
func ParseCue(s string) (Meaning, error) {
	first, end := CueNegation, CueRelative
	v, err := parseEnum[Meaning]("cue", meaningValues[first:end], s)
	return first + v, err
}

// ParseNodeType is the inverse of NodeType.String.
func ParseNodeType(s string) (NodeType, error) {
	return parseEnum[NodeType]("node type", nodeTypeValues, s)
}

// enumString returns the name of a value, or Type(n) for an unknown value.
func enumString[T ~uint8](typeName string, names []string, value T) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", typeName, uint8(value))
}

func parseEnum[T ~uint8](enum string, names []string, s string) (T, error) {
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q: expected one of %s", enum, s, strings.Join(names, ", "))
	}
	return T(i), nil
}
