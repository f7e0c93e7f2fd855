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
	resultTypeWords      = []string{"none", "very_low", "low", "normal", "high", "very_high", "absent", "present"}
	topicWords           = []string{"none", "injury", "crisis"}
	nodeTypeWords        = []string{"paragraph", "heading-1", "heading-2", "heading-3", "link", "text", "unordered-list", "ordered-list", "list-item"}
	wordingKindWords     = []string{"common_name", "name", "synonym", "lay_wording"}
	meaningWords         = []string{
		"mentions", "mentions_after", "mentions_absent",
		"negates", "negates_before", "neutral", "affirms", "ends", "joins", "adds", "questions", "hypotheticals", "past", "others", "patients", "negates_list", "negates_word", "negates_ahead", "writers", "relatives",
		"durations", "times",
	}
	sectionNameWords = []string{
		"summary", "how_its_defined", "how_its_caused", "how_its_diagnosed", "how_it_can_be_treated_at_home",
		"how_its_prevented", "when_to_see_professional", "disclaimer", "sources",
	}
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

// String is the word of the specification, such as very_low.
func (v ResultType) String() string { return word("ResultType", resultTypeWords, v) }

// String is the word of content sources: none, injury or crisis.
func (v Topic) String() string { return word("Topic", topicWords, v) }

// String is the word of the specification, such as how_its_caused.
func (v SectionName) String() string { return word("SectionName", sectionNameWords, v) }

// String is the word of the specification, such as heading-1.
func (v NodeType) String() string { return word("NodeType", nodeTypeWords, v) }

// String is the key of content sources: common_name, name or synonym.
func (v WordingKind) String() string { return word("WordingKind", wordingKindWords, v) }

// String is the key of content sources, such as negates_before.
func (v Meaning) String() string { return word("Meaning", meaningWords, v) }

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

// ParseResultType is the inverse of ResultType.String.
func ParseResultType(w string) (ResultType, error) {
	return parse[ResultType]("result", resultTypeWords, w)
}

// ParseTopic is the inverse of Topic.String.
func ParseTopic(w string) (Topic, error) { return parse[Topic]("topic", topicWords, w) }

// ParseSectionName is the inverse of SectionName.String.
func ParseSectionName(w string) (SectionName, error) {
	return parse[SectionName]("section", sectionNameWords, w)
}

// ParseCue is the inverse of Meaning.String for cues.
func ParseCue(w string) (Meaning, error) {
	first, end := CueNegates, CueRelatives
	v, err := parse[Meaning]("cue", meaningWords[first:end], w)
	return first + v, err
}

// ParseNodeType is the inverse of NodeType.String.
func ParseNodeType(w string) (NodeType, error) {
	return parse[NodeType]("node type", nodeTypeWords, w)
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
