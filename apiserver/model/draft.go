// SPDX-License-Identifier: Apache-2.0

package model

// A Draft is a release before it is laid out in sections: concepts that point
// to each other, in any order, with the numbers as sources give them. Package
// compile makes one from content, tests make one by hand; Layout turns either
// into a Release.
//
// Every concept that is pointed to must be in the draft's own lists.
type Draft struct {
	Meta         Meta
	Conditions   []*DraftCondition
	Observations []*DraftObservation
	Aliases      []DraftAlias
	Groups       []*DraftGroup
	Tuples       []DraftTuple
	Specialists  []*DraftNamed
	Categories   []*DraftNamed
	LabTests     []*DraftLabTest
	Drugs        []*DraftDrug
	Lexicon      DraftLexicon
	// ChronicDiseases are conditions of the draft, Hospitalizations observations
	// in the order in which they are offered.
	ChronicDiseases  []*DraftChronicDisease
	Hospitalizations []*DraftObservation
}

// A DraftCondition becomes a Condition; fields of the same name mean the same.
type DraftCondition struct {
	Number                        uint32
	Name, CommonName, ICD10, Hint string
	Synonyms                      []string
	Categories                    []*DraftNamed
	Specialists                   []*DraftNamed // the first preferred
	AgeFrom, AgeTo                uint16
	Sex                           SexFilter
	Prevalence                    Prevalence
	Acuteness                     Acuteness
	Severity                      Severity
	Triage                        TriageLevel
	Channel                       Channel
	Course                        Course
	Article                       *DraftArticle // nil: none
	Prior                         [2][AgeBands]float64
	Findings                      []DraftFinding
	Factors                       []DraftFactor
}

// A DraftFinding becomes the two Links of a condition and an observation.
type DraftFinding struct {
	Observation *DraftObservation
	Share       float64
}

// A DraftFactor becomes a Factor of its observation.
type DraftFactor struct {
	Observation     *DraftObservation
	Present, Absent float64
}

// A DraftObservation becomes an Observation; fields of the same name mean the
// same.
type DraftObservation struct {
	Number                        uint32
	Kind                          ObservationKind
	Name, CommonName              string
	Question, QuestionThirdPerson string
	Synonyms                      []string
	LayWordings                   []string          // of the lexicon, as they are spoken
	Parent                        *DraftObservation // nil: none
	Relation                      Relation
	AgeFrom, AgeTo                uint16
	Sex                           SexFilter
	Seriousness                   Seriousness
	LabResult                     ResultType // of which DraftLabTest: one that lists the observation
	Topic                         Topic
	Onlooker                      bool
	LastsFrom, LastsTo            uint32
	Leak                          float64
}

// A DraftAlias becomes an Alias; fields of the same name mean the same.
type DraftAlias struct {
	Number      uint32
	Observation *DraftObservation
}

// A DraftGroup becomes a Group; fields of the same name mean the same.
type DraftGroup struct {
	Question, QuestionThirdPerson string
	Type                          GroupType
	Ordered                       bool
	Parent                        *DraftObservation // nil: none
	Items                         []*DraftObservation
}

// A DraftTuple becomes a Tuple; fields of the same name mean the same.
type DraftTuple struct {
	Observations []*DraftObservation
	Level        TriageLevel
	Reason       string
}

// A DraftNamed becomes a Named.
type DraftNamed struct {
	Number uint32
	Name   string
}

// A DraftLabTest becomes a LabTest and the group of its results; fields of the
// same name mean the same.
type DraftLabTest struct {
	Number                     uint32
	Name, CommonName, Category string
	Results                    []*DraftObservation
}

// A DraftDrug becomes a Drug; fields of the same name mean the same.
type DraftDrug struct {
	Number    uint32
	Name, ATC string
	Synonyms  []string // other names of the substance
	Brands    []string
	Factors   []*DraftObservation
}

// A DraftChronicDisease becomes a ChronicDisease; fields of the same name mean
// the same.
type DraftChronicDisease struct {
	Condition *DraftCondition
	Name      string   // empty for the common name of the condition
	Synonyms  []string // other names of the disease
	Factors   []*DraftObservation
}

// A DraftArticle becomes an Article.
type DraftArticle struct {
	Title    DraftNode
	Sections []DraftSection // in the order read
}

// A DraftSection becomes an ArticleSection.
type DraftSection struct {
	Name    SectionName
	Title   DraftNode
	Content []DraftNode
}

// A DraftNode becomes a Node; fields of the same name mean the same.
type DraftNode struct {
	Type     NodeType
	Text     string
	Children []DraftNode
}

// A DraftLexicon is what free text is read by. Its words are folded, as package
// token does it; the stems of them are those of Meta.Stemmer.
type DraftLexicon struct {
	Patterns []DraftPattern
	Fillers  []string
	Plain    []string
	Exact    []string // words that no stem is made of
	Numbers  map[string]float64
	Units    map[string]uint32 // in minutes
	// Misspellings lead from what is often written to the word that is meant.
	Misspellings map[string]string
	Ordinary     []string // words that no misspelling is corrected from
	Examples     []DraftExample
}

// A DraftExample is something that somebody says who has an observation, who does
// not have it, or who says of none.
type DraftExample struct {
	Observation *DraftObservation // nil: none
	Absent      bool
	Words       []string
}

// A DraftPattern becomes a Pattern; fields of the same name mean the same.
type DraftPattern struct {
	Meaning     Meaning
	Observation *DraftObservation // nil: none
	Elements    []DraftElement
	AnyOrder    bool
	Relative    bool
	Minutes     uint32
	Sex         SexFilter
	AgeFrom     uint16
}

// A DraftElement becomes an Element; fields of the same name mean the same. A
// TermElement is a class or, when it has none, a word.
type DraftElement struct {
	Kind     ElementKind
	Word     string
	Class    *DraftClass
	From, To float64
	Gap      uint8
}

// A DraftClass is a class of single words, which becomes a Term.
type DraftClass struct {
	Name  string
	Words []string
}
