// SPDX-License-Identifier: Apache-2.0

package model

// Sex is the patient's sex as the interview asks for it. It indexes
// Condition.Prior.
type Sex uint8

// The two values of Sex.
const (
	Female Sex = iota
	Male
)

// A SexFilter says whom a concept applies to.
type SexFilter uint8

// The values of SexFilter.
const (
	BothSexes SexFilter = iota
	FemaleOnly
	MaleOnly
)

// Admits reports whether the concept applies to a patient of this sex.
func (f SexFilter) Admits(s Sex) bool {
	return f == BothSexes || (f == FemaleOnly) == (s == Female)
}

// ObservationKind tells the three kinds of observations apart.
type ObservationKind uint8

// The kinds of observations, with their id prefixes s_, p_ and lt_.
const (
	Symptom ObservationKind = iota
	RiskFactor
	LabResult
)

// A TriageLevel is an urgency, ordered from the least urgent to the most.
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

// Seriousness says what a present observation alone asks for.
type Seriousness uint8

// The values of Seriousness, in order.
const (
	NotSerious Seriousness = iota
	Serious
	SeriousnessEmergency
	SeriousnessEmergencyAmbulance
)

// A Relation says in what way a child symptom refines its parent.
type Relation uint8

// The relations of a child to its parent.
const (
	NoRelation Relation = iota
	Duration
	SeverityRelation
	Character
	ExacerbatingFactor
	DiminishingFactor
	Location
	Radiation
)

// Prevalence is how often a condition is seen, derived from its prior.
type Prevalence uint8

// The values of Prevalence, from the rarest.
const (
	VeryRare Prevalence = iota
	Rare
	Moderate
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

// Severity is how bad a condition usually is.
type Severity uint8

// The values of Severity, from the mildest.
const (
	Mild Severity = iota
	ModerateSeverity
	Severe
)

// A Channel is the recommended way to see a professional.
type Channel uint8

// The channels.
const (
	PersonalVisit Channel = iota
	VideoTeleconsultation
	AudioTeleconsultation
	TextTeleconsultation
)

// ResultType says what a laboratory test showed.
type ResultType uint8

// The results of laboratory tests. An observation that is none has
// NoLabResult.
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

// A Topic is what an observation is about, where something follows from it:
// questions are explained by injuries, and who is in a crisis of the mind or in
// fear of somebody is told whom to talk to.
type Topic uint8

// The topics.
const (
	NoTopic Topic = iota
	Injury
	Crisis
)

// A SectionName says what a section of an article is about.
type SectionName uint8

// The sections of articles.
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

// NodeType is what a piece of an article is.
type NodeType uint8

// The types of nodes. Lists hold list items only, and only they do.
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

// WordingKind says in which way a concept is called by a wording.
type WordingKind uint8

// The kinds of wordings, from the plainest. Of equal texts a concept has the
// first kind only.
const (
	CommonName WordingKind = iota
	Name
	Synonym
	LayWording // what the lexicon has for free text, in its spoken form
)

// GroupType is the type of the question that asks a group.
type GroupType uint8

// The types of groups: one item chosen, or each item answered.
const (
	GroupSingle GroupType = iota
	GroupMultiple
)

// AgeBands is the number of age bands that priors distinguish.
const AgeBands = 10

// ageBandFrom is the first month of each band. All but the split of the first
// two years are the bands of the US National Ambulatory Medical Care Survey.
var ageBandFrom = [AgeBands]int{0, 3, 24, 72, 144, 216, 360, 540, 780, 900}

// MaxAge is the oldest age in months that a concept can apply to: the last
// month in which a patient is 130 years old.
const MaxAge = 130*12 + 11

// AgeBandNames are the names of the bands in content sources.
var AgeBandNames = [AgeBands]string{"0-2m", "3-23m", "2-5", "6-11", "12-17", "18-29", "30-44", "45-64", "65-74", "75+"}

// AgeBand is the band of an age in months.
func AgeBand(months int) int {
	band := 0
	for band+1 < AgeBands && months >= ageBandFrom[band+1] {
		band++
	}
	return band
}

// AgeBandRange gives the first and the last month of a band.
func AgeBandRange(band int) (from, to int) {
	if band+1 < AgeBands {
		return ageBandFrom[band], ageBandFrom[band+1] - 1
	}
	return ageBandFrom[band], MaxAge
}
