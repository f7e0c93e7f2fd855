// SPDX-License-Identifier: Apache-2.0

package model

// A Draft is a release before Build lays it out in sections: concepts that refer to
// each other, in any order, with the numbers from the sources. Package compile creates
// drafts from content; tests create them by hand.
//
// Every referenced concept must be in the lists of the draft.
type Draft struct {
	Meta         Meta
	Conditions   []*DraftCondition
	Observations []*DraftObservation
	Aliases      []DraftAlias
	Groups       []*DraftGroup
	Tuples       []DraftTuple
	Specialists  []*DraftNamedItem
	Categories   []*DraftNamedItem
	LabTests     []*DraftLabTest
	Drugs        []*DraftDrug
	Lexicon      DraftLexicon
	// ChronicDiseases refer to conditions of the draft. Hospitalizations are observations
	// of the draft, in display order.
	ChronicDiseases  []*DraftChronicDisease
	Hospitalizations []*DraftObservation
}

// A DraftCondition becomes a Condition; fields of the same name have the same meaning.
type DraftCondition struct {
	Number                        uint32
	Name, CommonName, ICD10, Hint string
	Synonyms                      []string
	Categories                    []*DraftNamedItem
	Specialists                   []*DraftNamedItem // most preferred first
	AgeFrom, AgeTo                uint16
	Sex                           SexFilter
	Prevalence                    Prevalence
	Acuteness                     Acuteness
	Severity                      Severity
	Triage                        TriageLevel
	Channel                       Channel
	Course                        Course
	Article                       *DraftArticle // nil if the condition has no article
	Prior                         [2][NumAgeBands]float64
	Findings                      []DraftFinding
	Factors                       []DraftFactor
}

// A DraftFinding becomes the two Links between a condition and an observation.
type DraftFinding struct {
	Observation *DraftObservation
	Probability float64
}

// A DraftFactor becomes a Factor of its observation.
type DraftFactor struct {
	Observation     *DraftObservation
	Present, Absent float64
}

// A DraftObservation becomes an Observation; fields of the same name have the same
// meaning.
type DraftObservation struct {
	Number                        uint32
	Kind                          ObservationKind
	Name, CommonName              string
	Question, QuestionThirdPerson string
	Synonyms                      []string
	LayWordings                   []string          // lexicon wordings in their spoken form
	Parent                        *DraftObservation // nil for roots
	Relation                      Relation
	AgeFrom, AgeTo                uint16
	Sex                           SexFilter
	Seriousness                   Seriousness
	LabResult                     ResultType // result type in the DraftLabTest that lists the observation
	Topic                         Topic
	CommonInOnlookers             bool
	DurationFrom, DurationTo      uint32
	Leak                          float64
}

// A DraftAlias becomes an Alias; fields of the same name have the same meaning.
type DraftAlias struct {
	Number      uint32
	Observation *DraftObservation
}

// A DraftGroup becomes a Group; fields of the same name have the same meaning.
type DraftGroup struct {
	Question, QuestionThirdPerson string
	Type                          GroupType
	Ordered                       bool
	Parent                        *DraftObservation // nil if the items have no parent
	Items                         []*DraftObservation
}

// A DraftTuple becomes a Tuple; fields of the same name have the same meaning.
type DraftTuple struct {
	Observations []*DraftObservation
	Level        TriageLevel
	Reason       string
}

// A DraftNamedItem becomes a NamedItem.
type DraftNamedItem struct {
	Number uint32
	Name   string
}

// A DraftLabTest becomes a LabTest and the group of its results; fields of the same name
// have the same meaning.
type DraftLabTest struct {
	Number                     uint32
	Name, CommonName, Category string
	Results                    []*DraftObservation
}

// A DraftDrug becomes a Drug; fields of the same name have the same meaning.
type DraftDrug struct {
	Number      uint32
	Name, ATC   string
	Synonyms    []string // other names of the substance
	Brands      []string
	RiskFactors []*DraftObservation
}

// A DraftChronicDisease becomes a ChronicDisease; fields of the same name have the same
// meaning.
type DraftChronicDisease struct {
	Condition   *DraftCondition
	Name        string   // defaults to the common name of the condition
	Synonyms    []string // other names of the disease
	RiskFactors []*DraftObservation
}

// A DraftArticle becomes an Article.
type DraftArticle struct {
	Title    DraftNode
	Sections []DraftSection // in reading order
}

// A DraftSection becomes an ArticleSection.
type DraftSection struct {
	Name    SectionName
	Title   DraftNode
	Content []DraftNode
}

// A DraftNode becomes a Node; fields of the same name have the same meaning.
type DraftNode struct {
	Type     NodeType
	Text     string
	Children []DraftNode
}

// A DraftLexicon holds the vocabulary and patterns used to parse free text. Its words are
// folded by package token and stemmed with Meta.Stemmer.
type DraftLexicon struct {
	Patterns   []DraftPattern
	Fillers    []string
	PlainWords []string
	ExactWords []string // words that are never stemmed
	Numbers    map[string]float64
	Units      map[string]uint32 // in minutes
	// Misspellings maps common misspellings to the correct word.
	Misspellings  map[string]string
	OrdinaryWords []string // correctly spelled words that are never corrected
	Examples      []DraftExample
}

// A DraftExample is a sample sentence of a patient who has an observation, does not have
// it, or talks about no observation at all.
type DraftExample struct {
	Observation *DraftObservation // nil if the sentence mentions no observation
	Absent      bool
	Words       []string
}

// A DraftPattern becomes a Pattern; fields of the same name have the same meaning.
type DraftPattern struct {
	Meaning       Meaning
	Observation   *DraftObservation // nil for cues and times
	Elements      []DraftElement
	AnyOrder      bool
	NamesRelative bool
	Minutes       uint32
	Sex           SexFilter
	AgeFrom       uint16
}

// A DraftElement becomes an Element; fields of the same name have the same meaning. A
// TermElement is a class or, if Class is unset, a word.
type DraftElement struct {
	Kind     ElementKind
	Word     string
	Class    *DraftClass
	From, To float64
	Gap      uint8
}

// A DraftClass is a class of single words. It becomes a Term.
type DraftClass struct {
	Name  string
	Words []string
}
