// SPDX-License-Identifier: Apache-2.0

// Package model defines the in-memory form of a medical model: the concepts, the links
// between them and the texts in one language, laid out as in a release file.
//
// A release is read-only. Its records have a fixed size and contain no pointers, so a
// release file is used in place through a memory map, and all servers on a machine
// share one copy in the page cache. Package compile creates the content of a release,
// and package inference interprets it for a patient. Both tasks are outside the scope
// of this package, as are HTTP, SQL and clocks.
package model

import "math"

// A ConditionIndex is the position of a condition in Release.Conditions.
type ConditionIndex int32

// An ObservationIndex is the position of an observation in
// Release.Observations.
type ObservationIndex int32

// A GroupIndex is the position of a group in Release.Groups.
type GroupIndex int32

// None is the value of an index that refers to nothing.
const None = -1

// A StringRef refers to a string in the strings section. Release.Text returns the string.
type StringRef struct {
	Offset, Length uint32
}

// A Span is the half-open range [Start, End) of another section.
type Span struct {
	Start, End uint32
}

// Len returns the number of entries in the span.
func (s Span) Len() int { return int(s.End - s.Start) }

// A Condition is a disease or disorder that a patient may have.
type Condition struct {
	// Number is the integer of the public id, c_<Number>.
	Number                        uint32
	Name, CommonName, ICD10, Hint StringRef
	Categories, Specialists       Span // of CategoryRefs, SpecialistRefs
	Links                         Span // of LinksByCondition
	Factors                       Span // of ConditionFactors
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
	// Course is the distribution of how long patients have had symptoms when they seek care.
	Course Course
	// Prior is the probability, by sex and age band and before any evidence, that the
	// condition causes a new symptom episode. It is zero if the condition does not occur.
	Prior [2][NumAgeBands]float64
}

// A Course is the distribution of how long patients have had symptoms when they seek
// care. It is log-normal: its fields are the mean and standard deviation of the natural
// logarithm of the duration in minutes.
type Course struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"deviation"` // positive
}

// NoUpperBound is the DurationTo of durations without an upper limit.
const NoUpperBound = math.MaxUint32

// An Observation is something a patient can report: a symptom, a risk factor
// or a laboratory result.
type Observation struct {
	// Number is the integer of the public ID. The prefix is s_, p_ or lt_, depending on
	// Kind.
	Number                        uint32
	Name, CommonName              StringRef
	Question, QuestionThirdPerson StringRef // empty if never asked
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
	// CommonInOnlookers marks observations, such as worry, that a person writing on behalf
	// of the patient is likely to have too. A mention of them need not refer to the
	// patient.
	CommonInOnlookers bool
	_                 [1]byte
	// DurationFrom and DurationTo apply to children with DurationRelation and define the
	// range of the parent's duration: DurationFrom <= minutes < DurationTo, where
	// NoUpperBound means no limit. Both are 0 if unset.
	DurationFrom, DurationTo uint32
	// Leak is the share of people who report the observation without any condition linked to
	// it. For a risk factor, it is the share of people who have it.
	Leak float64
}

// A Link is the probability that a condition causes an observation. Every link is
// stored twice: in LinksByCondition, where Other is the observation, and in
// LinksByObservation, where Other is the condition. Both are sorted by index.
type Link struct {
	Other int32
	_     [4]byte
	// Probability is the share of patients with the condition who report the observation,
	// whatever its cause.
	Probability float64
	// Lambda is the share caused by the condition alone, (Probability - Leak) / (1 - Leak):
	// the link probability of the noisy-OR.
	Lambda float64
	// Entropy is the binary entropy of Probability in nats.
	Entropy float64
}

// A Factor adjusts the prior odds of a condition for an observation, which is a risk
// factor or a finding declared protective. Present and Absent are the odds multipliers
// for the respective answer; an unknown answer changes nothing.
type Factor struct {
	Condition       ConditionIndex
	_               [4]byte
	Present, Absent float64
}

// A ConditionFactor is the same factor from the perspective of the condition: the share
// of its patients with the observation that makes it more or less likely.
// ConditionFactors are sorted by observation.
type ConditionFactor struct {
	Observation ObservationIndex
	_           [4]byte
	// Probability follows from the multipliers; see FactorProbability. Entropy is its binary
	// entropy in nats.
	Probability, Entropy float64
}

// A Group is a set of sibling observations that are asked in one question.
type Group struct {
	Question, QuestionThirdPerson StringRef
	Items                         Span // of GroupItems, in the order asked
	Parent                        ObservationIndex
	Type                          GroupType
	// Ordered groups (severity, duration) run from least to most. At most one of their items
	// is present, and each item implies the parent.
	Ordered bool
	_       [2]byte
}

// A Tuple is a set of observations that are more serious together than individually.
type Tuple struct {
	Observations Span // of TupleItems
	Reason       StringRef
	Level        TriageLevel
	_            [7]byte
}

// A NamedItem is a specialist or a category: a public number and a name.
type NamedItem struct {
	Number uint32
	Name   StringRef
}

// A LabTest is a laboratory test. Its results are mutually exclusive: they are the items
// of one group, which has no question.
type LabTest struct {
	// Number is the integer of the public id, lab_<Number>.
	Number                     uint32
	Name, CommonName, Category StringRef
	Results                    Span // of LabResultRefs, from VeryLow to ResultPresent
}

// An Article is patient information about a condition.
type Article struct {
	Condition ConditionIndex
	Title     uint32 // position in Nodes
	Sections  Span   // of ArticleSections, in reading order
}

// An ArticleSection is a titled part of an article.
type ArticleSection struct {
	Name    SectionName
	_       [3]byte
	Title   uint32 // position in Nodes
	Content Span   // of Nodes
}

// A Node is an element of an article: either text or a container of other nodes.
type Node struct {
	Type     NodeType
	_        [3]byte
	Text     StringRef // the text, or the target of a link
	Children Span      // of Nodes, all after this node
}

// A Wording is a full name of a concept.
type Wording struct {
	Text StringRef
	// Concept is an ObservationIndex, or a ConditionIndex if IsCondition is set. For
	// ListWordings, see Release.ListWordings.
	Concept     int32
	IsCondition bool
	Kind        WordingKind
	WordCount   uint16 // number of different words
}

// A Word is a word used by wordings, folded as by token.Words.
type Word struct {
	Text     StringRef
	Postings Span // of WordPostings, ascending
}

// Meta identifies a release.
type Meta struct {
	// ModelID is the id that clients send in the Model header.
	ModelID string `json:"model"`
	// Version is the RFC 3339 timestamp of the release, in UTC and whole seconds, so that
	// byte order is chronological order.
	Version string `json:"version"`
	// Language is the BCP 47 tag of the texts.
	Language string `json:"language"`
	// Experimental marks a language whose texts have not been reviewed to the same standard
	// as the texts of other languages.
	Experimental bool `json:"experimental,omitempty"`
	// Stemmer is the name of the stemmer in package stem that produced Stems.
	Stemmer string `json:"stemmer"`
	// ChoicePresent, ChoiceAbsent and ChoiceUnknown are the labels of the
	// three answers.
	ChoicePresent string `json:"present"`
	ChoiceAbsent  string `json:"absent"`
	ChoiceUnknown string `json:"unknown"`
	// DurationQuestion and DurationQuestionThirdPerson ask how long a symptom has lasted.
	// They contain SymptomPlaceholder in place of its name.
	DurationQuestion            string `json:"durationQuestion"`
	DurationQuestionThirdPerson string `json:"durationQuestionThirdPerson"`
	// LeakCourse is the Course of symptoms that no condition of the model causes.
	LeakCourse Course `json:"leakCourse"`
}

// SymptomPlaceholder is the placeholder for the symptom name in duration questions.
const SymptomPlaceholder = "{symptom}"

// A Release is one version of a model: its structure and numbers, and the texts in one
// language. All slices point into the release file; neither they nor strings returned
// by Text may outlive the lease of the release. Meta is a copy and may outlive it.
type Release struct {
	Meta               Meta
	Conditions         []Condition   // by Number
	Observations       []Observation // by Kind, then Number
	Aliases            []Alias       // by Kind of the observation, then Number
	Groups             []Group
	Tuples             []Tuple
	Specialists        []NamedItem
	Categories         []NamedItem
	LinksByCondition   []Link
	LinksByObservation []Link
	Factors            []Factor
	ConditionFactors   []ConditionFactor
	LabTests           []LabTest // by Number
	Articles           []Article // by Condition
	ArticleSections    []ArticleSection
	Nodes              []Node
	// Wordings are the names of concepts, observations before conditions, sorted by Concept,
	// then Kind. No concept has the same wording twice.
	Wordings []Wording
	// Words are the words of all wordings, in byte order.
	Words        []Word
	WordPostings []uint32 // positions in Wordings
	// VocabularyFST and StemFST are the transducers that WordFrequency and FindWord use.
	VocabularyFST []byte
	StemFST       []byte
	Stems         []Stem
	TermRefs      []Term
	// WordWeights holds, for each stem, the present weights by Observation and then the
	// absent weights.
	WordWeights []WordWeight
	// TermPatterns lists, by Term, the patterns that have the term as their key.
	TermPatterns []Span       // of PatternRefs
	PatternRefs  []PatternRef // by Pattern for each term
	// TermlessPatterns are the patterns without a term, whose key is a number or a time.
	TermlessPatterns []uint32  // positions in Patterns, ascending
	Patterns         []Pattern // by Meaning, then Observation
	Elements         []Element
	Ranges           []Range // ranges of the number elements
	// Deletions map words with deleted letters to the full word, sorted by Hash, then Word.
	Deletions       []Deletion
	DeletionWords   []StringRef   // words used by patterns, in byte order
	Misspellings    []Misspelling // by the misspelling, in byte order
	ChildRefs       []ObservationIndex
	GroupItems      []ObservationIndex
	TupleItems      []ObservationIndex
	LabResultRefs   []ObservationIndex
	CategoryRefs    []uint32 // positions in Categories
	SpecialistRefs  []uint32 // positions in Specialists, most preferred first
	Drugs           []Drug   // by Number
	DrugBrands      []StringRef
	DrugRiskFactors []ObservationIndex
	// ChronicDiseases are the conditions that patients can report as chronic, by Condition.
	ChronicDiseases    []ChronicDisease
	DiseaseRiskFactors []ObservationIndex
	// Hospitalizations are the risk factors offered as reasons for a hospital stay, in
	// display order.
	Hospitalizations []ObservationIndex
	// ListWordings are the names of drugs, specialists and chronic diseases, sorted like
	// Wordings. Concept is a position in Drugs or, from len(Drugs) on, in Specialists and
	// then in ChronicDiseases; IsCondition is never set. They are separate from Wordings
	// because a symptom search must not find brands.
	ListWordings     []Wording
	ListWords        []Word   // of ListWordings, sorted like Words
	ListWordPostings []uint32 // positions in ListWordings
	// NameRanks are the ranks of concepts by folded common name within their section:
	// Observations, then Conditions, Drugs, Specialists and ChronicDiseases.
	NameRanks []uint32
	strings   []byte
	fsts      fstIndexes
	unmap     func() error // nil if the memory is garbage-collected
}
