// SPDX-License-Identifier: Apache-2.0

// Package model holds a medical model in memory: the concepts, the links
// between them and the words of one language, as a release file lays them out.
//
// A release is read only. Its records have a fixed size and hold no pointers,
// so that a release file is used in place through a memory map, and all
// servers of a machine share one copy of it in the page cache. What a release
// says is decided by package compile; what it means for a patient by package
// engine. Neither belongs here, and neither do HTTP, SQL or a clock.
package model

import "math"

// A ConditionIndex is the position of a condition in Release.Conditions.
type ConditionIndex int32

// An ObservationIndex is the position of an observation in
// Release.Observations.
type ObservationIndex int32

// A GroupIndex is the position of a group in Release.Groups.
type GroupIndex int32

// None says, in place of an index, that there is nothing to point to.
const None = -1

// A StringRef is a piece of the strings section. Release.Text reads it.
type StringRef struct {
	Offset, Length uint32
}

// A Span is the half-open range [Start, End) of another section.
type Span struct {
	Start, End uint32
}

// Len is the number of entries in the span.
func (s Span) Len() int { return int(s.End - s.Start) }

// A Condition is what a patient may have.
type Condition struct {
	// Number is the integer of the public id, c_<Number>.
	Number                        uint32
	Name, CommonName, ICD10, Hint StringRef
	Categories, Specialists       Span // of CategoryRefs, SpecialistRefs
	Links                         Span // of LinksByCondition
	Carriers                      Span // of Carriers
	AgeFrom, AgeTo                uint16
	Sex                           SexFilter
	Prevalence                    Prevalence
	Acuteness                     Acuteness
	Severity                      Severity
	Triage                        TriageLevel
	Channel                       Channel
	_                             [2]byte
	Article                       int32 // position in Articles, or None
	_                             [4]byte
	// Course is how long patients have had symptoms when they seek care.
	Course Course
	// Prior is the probability that the condition is what a new symptom
	// episode brings, by sex and age band, before any evidence. Zero where
	// the condition does not occur.
	Prior [2][AgeBands]float64
}

// A Course is how long patients have had symptoms when they seek care, as a
// log-normal distribution: the mean and the standard deviation of the natural
// logarithm of the minutes. CourseBetween makes one.
type Course struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // over 0
}

// NoEnd is the LastsTo of what may last for ever.
const NoEnd = math.MaxUint32

// An Observation is something a patient can report: a symptom, a risk factor
// or a laboratory result.
type Observation struct {
	// Number is the integer of the public id: s_, p_ or lt_ by Kind.
	Number                        uint32
	Name, CommonName              StringRef
	Question, QuestionThirdPerson StringRef // empty when never asked
	Children                      Span      // of ChildRefs, in order
	Links                         Span      // of LinksByObservation
	Factors                       Span      // of Factors
	Parent                        ObservationIndex
	Group                         GroupIndex
	AgeFrom, AgeTo                uint16 // months, both inclusive
	Kind                          ObservationKind
	Sex                           SexFilter
	Seriousness                   Seriousness
	Relation                      Relation // to the parent
	LabResult                     ResultType
	Topic                         Topic
	// Onlooker says that whoever writes for somebody else may well have it too, as
	// worry, and is not the patient for it.
	Onlooker bool
	_        [1]byte
	// LastsFrom and LastsTo say of a child by Duration how long the parent
	// has lasted: LastsFrom <= minutes < LastsTo, where NoEnd is no limit. Both
	// are 0 when nothing is said.
	LastsFrom, LastsTo uint32
	// Leak is the share of people who report the observation without any
	// condition linked to it; for a risk factor the share who have it.
	Leak float64
}

// A Link says how often a condition brings an observation. Every link stands
// twice: in LinksByCondition, where Other is the observation, and in
// LinksByObservation, where Other is the condition; both in order of index.
type Link struct {
	Other int32
	_     [4]byte
	// Share is the share of patients with the condition who report the
	// observation, whatever its cause.
	Share float64
	// Lambda is the share caused by the condition alone,
	// (Share - Leak) / (1 - Leak): the link of the noisy-OR.
	Lambda float64
	// Entropy is the binary entropy of Share in nats.
	Entropy float64
}

// A Factor multiplies the prior odds of a condition: a risk factor, or a
// finding declared protective. Present and Absent are the multipliers under
// either answer; an unknown answer multiplies by one.
type Factor struct {
	Condition       ConditionIndex
	_               [4]byte
	Present, Absent float64
}

// A Carrier says the same of a factor from the side of the condition, in order
// of observation: which share of its patients have what makes it likelier or less
// likely.
type Carrier struct {
	Observation ObservationIndex
	_           [4]byte
	// Share follows from the multipliers, CarrierShare, and Entropy is its
	// binary entropy in nats.
	Share, Entropy float64
}

// A Group is a set of sibling observations that are asked in one question.
type Group struct {
	Question, QuestionThirdPerson StringRef
	Items                         Span // of GroupItems, in the order asked
	Parent                        ObservationIndex
	Type                          GroupType
	// Ordered groups (severity, duration) run from the least to the most;
	// at most one of their items holds, and each implies the parent.
	Ordered bool
	_       [2]byte
}

// A Tuple is a set of observations that are worse together than each alone.
type Tuple struct {
	Observations Span // of TupleItems
	Reason       StringRef
	Level        TriageLevel
	_            [7]byte
}

// A Named is a specialist or a category: a public number and a name.
type Named struct {
	Number uint32
	Name   StringRef
}

// A LabTest is a laboratory test. Its results exclude each other: they are the
// items of one group, which has no question.
type LabTest struct {
	// Number is the integer of the public id, lab_<Number>.
	Number                     uint32
	Name, CommonName, Category StringRef
	Results                    Span // of LabResultRefs, from VeryLow to ResultPresent
}

// An Article tells patients about a condition.
type Article struct {
	Condition ConditionIndex
	Title     uint32 // position in Nodes
	Sections  Span   // of ArticleSections, in the order read
}

// An ArticleSection is a titled part of an article.
type ArticleSection struct {
	Name    SectionName
	_       [3]byte
	Title   uint32 // position in Nodes
	Content Span   // of Nodes
}

// A Node is a piece of an article: text, or what holds further nodes.
type Node struct {
	Type     NodeType
	_        [3]byte
	Text     StringRef // of text the words, of a link where it leads
	Children Span      // of Nodes, all of them behind the node
}

// A Wording is what a concept is called, in full.
type Wording struct {
	Text StringRef
	// Concept is an ObservationIndex, or a ConditionIndex when Condition; of
	// ListWordings see there.
	Concept   int32
	Condition bool
	Kind      WordingKind
	Words     uint16 // how many different words it has
}

// A Word is one that wordings use, folded as token.Words does.
type Word struct {
	Text StringRef
	Uses Span // of WordUses, ascending
}

// Meta says which release this is.
type Meta struct {
	// ModelID is the id that clients send in the Model header.
	ModelID string `json:"model"`
	// Version is the RFC 3339 timestamp of the release, in UTC and in whole
	// seconds: versions in order of time are in order of bytes.
	Version string `json:"version"`
	// Language is the BCP 47 tag of the words.
	Language string `json:"language"`
	// Experimental says that the words are not reviewed yet as those of other
	// languages are.
	Experimental bool `json:"experimental,omitempty"`
	// Stemmer is the one of package stem that Stems were made with.
	Stemmer string `json:"stemmer"`
	// ChoicePresent, ChoiceAbsent and ChoiceUnknown are the labels of the
	// three answers.
	ChoicePresent string `json:"present"`
	ChoiceAbsent  string `json:"absent"`
	ChoiceUnknown string `json:"unknown"`
	// DurationQuestion and DurationQuestionThirdPerson ask how long there has
	// been a symptom, whose name stands for SymptomSlot.
	DurationQuestion            string `json:"durationQuestion"`
	DurationQuestionThirdPerson string `json:"durationQuestionThirdPerson"`
	// LeakCourse is the Course of symptoms that no condition of the model
	// brings.
	LeakCourse Course `json:"leakCourse"`
}

// SymptomSlot is the part of a duration question that the name of the symptom
// replaces.
const SymptomSlot = "{symptom}"

// A Release is one version of one model: core structure and numbers, and the
// words of one language. All slices point into the release file; neither they
// nor a string of Text may outlive the lease under which the release was
// obtained. Meta is a copy and may.
type Release struct {
	Meta               Meta
	Conditions         []Condition   // by Number
	Observations       []Observation // by Kind, then Number
	Aliases            []Alias       // by Kind of the observation, then Number
	Groups             []Group
	Tuples             []Tuple
	Specialists        []Named
	Categories         []Named
	LinksByCondition   []Link
	LinksByObservation []Link
	Factors            []Factor
	Carriers           []Carrier
	LabTests           []LabTest // by Number
	Articles           []Article // by Condition
	ArticleSections    []ArticleSection
	Nodes              []Node
	// Wordings are what concepts are called, those of observations before
	// those of conditions, by Concept, then Kind. No concept has the same one
	// twice.
	Wordings []Wording
	// Words are the words of all wordings, in order of their bytes.
	Words    []Word
	WordUses []uint32 // positions in Wordings
	// Vocabulary and StemTree are the trees of WordFrequency and FindWord.
	Vocabulary []byte
	StemTree   []byte
	Stems      []Stem
	TermRefs   []Term
	// Indications are those of each stem by Observation, and then its denials.
	Indications []Indication
	// TermPatterns are, by Term, the patterns whose key it is.
	TermPatterns []Span       // of PatternRefs
	PatternRefs  []PatternRef // by Pattern for each term
	// NumberPatterns are those without any term, whose key is a number or a
	// time.
	NumberPatterns []uint32  // positions in Patterns, ascending
	Patterns       []Pattern // by Meaning, then Observation
	Elements       []Element
	Ranges         []Range // of the numbers in Elements
	// Deletes lead from what is left of a word to the word, by Hash, then Word.
	Deletes        []Delete
	DeleteWords    []StringRef   // the words that patterns use, in order of their bytes
	Misspellings   []Misspelling // by Wrong, in order of its bytes
	ChildRefs      []ObservationIndex
	GroupItems     []ObservationIndex
	TupleItems     []ObservationIndex
	LabResultRefs  []ObservationIndex
	CategoryRefs   []uint32 // positions in Categories
	SpecialistRefs []uint32 // positions in Specialists, the first preferred
	Drugs          []Drug   // by Number
	DrugBrands     []StringRef
	DrugFactors    []ObservationIndex
	// ChronicDiseases are the conditions that patients live with, by Condition.
	ChronicDiseases []ChronicDisease
	DiseaseFactors  []ObservationIndex
	// Hospitalizations are the risk factors that people were in hospital for, in
	// the order in which they are offered.
	Hospitalizations []ObservationIndex
	// ListWordings are what drugs, specialists and chronic diseases are called, in the
	// same order as Wordings: their Concept is a position in Drugs or, from len(Drugs)
	// on, one in Specialists and then in ChronicDiseases, and none is of a Condition.
	// They are apart from
	// Wordings, for a search of symptoms must not find a brand.
	ListWordings []Wording
	ListWords    []Word   // of ListWordings, as Words
	ListWordUses []uint32 // positions in ListWordings
	// NameRanks are where the common name of each concept stands in order of the
	// names, folded, of its section: those of Observations, then of Conditions,
	// Drugs, Specialists and ChronicDiseases.
	NameRanks []uint32
	strings   []byte
	trees     trees
	unmap     func() error // nil when the memory is the garbage collector's
}
