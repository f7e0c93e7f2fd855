// SPDX-License-Identifier: Apache-2.0

package model

// Sex is the patient's sex as asked in the interview. It indexes Condition.Prior.
type Sex uint8

// The values of Sex.
const (
	Female Sex = iota
	Male
)

// A SexFilter restricts a concept to patients of one sex.
type SexFilter uint8

// The values of SexFilter.
const (
	BothSexes SexFilter = iota
	FemaleOnly
	MaleOnly
)

// Includes reports whether the concept applies to patients of sex s.
func (f SexFilter) Includes(s Sex) bool {
	return f == BothSexes || (f == FemaleOnly) == (s == Female)
}

// ObservationKind is the kind of an observation.
type ObservationKind uint8

// The kinds of observations. Their ID prefixes are s_, p_ and lt_.
const (
	Symptom ObservationKind = iota
	RiskFactor
	LabResult
)

// A TriageLevel is a level of urgency, ordered from least to most urgent.
type TriageLevel uint8

// The triage levels. NoTriageLevel sorts below all of them.
const (
	NoTriageLevel TriageLevel = iota
	SelfCare
	Consultation
	Consultation24
	Emergency
	EmergencyAmbulance
)

// Seriousness is the level of care that a present observation requires on its own.
type Seriousness uint8

// The values of Seriousness, from the least serious.
const (
	NotSerious Seriousness = iota
	Serious
	SeriousnessEmergency
	SeriousnessEmergencyAmbulance
)

// A Relation is the way in which a child symptom refines its parent.
type Relation uint8

// The relations of a child to its parent.
const (
	NoRelation Relation = iota
	DurationRelation
	SeverityRelation
	CharacterRelation
	ExacerbatingFactorRelation
	DiminishingFactorRelation
	LocationRelation
	RadiationRelation
)

// Prevalence is the frequency class of a condition, derived from its prior.
type Prevalence uint8

// The values of Prevalence, from the rarest.
const (
	VeryRare Prevalence = iota
	Rare
	ModeratePrevalence
	Common
)

// Acuteness is the usual course of a condition.
type Acuteness uint8

// The values of Acuteness.
const (
	Chronic Acuteness = iota
	ChronicWithExacerbations
	AcutePotentiallyChronic
	Acute
)

// Severity is the usual severity of a condition.
type Severity uint8

// The values of Severity, from the mildest.
const (
	Mild Severity = iota
	ModerateSeverity
	Severe
)

// A Channel is the recommended way to consult a professional.
type Channel uint8

// The values of Channel.
const (
	PersonalVisit Channel = iota
	VideoTeleconsultation
	AudioTeleconsultation
	TextTeleconsultation
)

// ResultType is the type of a laboratory result.
type ResultType uint8

// The types of laboratory results. Other observations have NoLabResult.
const (
	NoLabResult ResultType = iota
	VeryLow
	Low
	Normal
	High
	VeryHigh
	ResultAbsent
	ResultPresent
)

// A Topic marks observations that need special treatment: questions about injuries come
// with an explanation, and patients in a mental health crisis or afraid of another
// person are shown contacts for help.
type Topic uint8

// The values of Topic.
const (
	NoTopic Topic = iota
	Injury
	Crisis
)

// A SectionName is the subject of an article section.
type SectionName uint8

// The sections of an article.
const (
	SummarySection SectionName = iota
	DefinitionSection
	CauseSection
	DiagnosisSection
	HomeTreatmentSection
	PreventionSection
	WhenToSeeProfessionalSection
	DisclaimerSection
	SourcesSection
)

// NodeType is the type of an article node.
type NodeType uint8

// The types of nodes. Lists contain only list items, and list items occur only in lists.
const (
	ParagraphNode NodeType = iota
	Heading1Node
	Heading2Node
	Heading3Node
	LinkNode
	TextNode
	UnorderedListNode
	OrderedListNode
	ListItemNode
)

// WordingKind is the role of a wording among the names of a concept.
type WordingKind uint8

// The kinds of wordings, plainest first. If a concept has the same text under several
// kinds, only the first kind is kept.
const (
	CommonNameWording WordingKind = iota
	NameWording
	SynonymWording
	LayWording // a lexicon wording for free text, in its spoken form
)

// GroupType is the type of the question that asks about a group.
type GroupType uint8

// The types of groups: choose one item, or answer each item.
const (
	GroupSingle GroupType = iota
	GroupMultiple
)

// NumAgeBands is the number of age bands of a prior.
const NumAgeBands = 10

// ageBandStart is the first month of each band. Except for the split of the first two
// years, they are the age bands of the US National Ambulatory Medical Care Survey.
var ageBandStart = [NumAgeBands]int{0, 3, 24, 72, 144, 216, 360, 540, 780, 900}

// MaxAgeMonths is the highest age in months to which a concept can apply: the last
// month in which a patient is 130 years old.
const MaxAgeMonths = 130*12 + 11

// AgeBandNames are the names of the age bands in content sources.
var AgeBandNames = [NumAgeBands]string{"0-2m", "3-23m", "2-5", "6-11", "12-17", "18-29", "30-44", "45-64", "65-74", "75+"}

// AgeBand returns the band of an age in months.
func AgeBand(months int) int {
	band := 0
	for band+1 < NumAgeBands && months >= ageBandStart[band+1] {
		band++
	}
	return band
}

// AgeBandRange returns the first and last month of a band, both inclusive.
func AgeBandRange(band int) (from, to int) {
	if band+1 < NumAgeBands {
		return ageBandStart[band], ageBandStart[band+1] - 1
	}
	return ageBandStart[band], MaxAgeMonths
}
