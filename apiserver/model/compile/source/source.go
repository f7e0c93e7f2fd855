// SPDX-License-Identifier: Apache-2.0

// Package source reads content sources: the YAML in which clinicians write
// concepts, numbers and words. It knows the form of the files and keeps the
// line of everything it reads; whether what they say makes sense is judged by
// package compile, not here.
//
// The files of the content are
//
//	core/release.yaml    the version, and what is said of no one condition
//	core/registry.yaml   the id of every slug, for ever
//	core/**.yaml         observations, groups, tuples, laboratory tests, conditions,
//	                     drugs, chronic diseases, hospitalizations
//	lang/<xx>/language.yaml
//	lang/<xx>/**.yaml    the words of conditions, observations, groups, laboratory tests, drugs
//	lang/<xx>/articles/<slug of a condition>.md
//	lang/<xx>/lexicon*.yaml        what free text says, and how
//	lang/<xx>/examples*.yaml       what people say, to learn from
//	lang/<xx>/ordinary-words.txt   words that are no misspellings
//
// A language may be derived from another one, its base. Then it says only what
// differs: whole words that are others, and what a concept is called in place
// of that. It takes the lexicon of its base unless it has one of its own.
package source

// The files with a name of their own.
const (
	ReleaseFile  = "core/release.yaml"
	RegistryFile = "core/registry.yaml"
	languageFile = "language.yaml"
	articles     = "articles"
	articleExt   = ".md"
)

// Core is what every language has in common.
type Core struct {
	Version      Word  // in ReleaseFile
	Course       Range // in ReleaseFile: of symptoms that no condition brings
	Registry     Registry
	Observations []*Observation
	Groups       []*Group
	Tuples       []*Tuple
	Alike        []*Alike
	LabTests     []*LabTest
	Conditions   []*Condition
	Drugs        []*Drug
	// ChronicDiseases are conditions that patients live with, Hospitalizations
	// what they were in hospital for.
	ChronicDiseases  []*ChronicDisease
	Hospitalizations []*Hospitalization
}

// Registry gives every slug its id, for ever.
type Registry struct {
	Conditions   map[Word]Word `yaml:"conditions"`
	Observations map[Word]Word `yaml:"observations"`
	Specialists  map[Word]Word `yaml:"specialists"`
	Categories   map[Word]Word `yaml:"categories"`
	LabTests     map[Word]Word `yaml:"lab_tests"`
	Drugs        map[Word]Word `yaml:"drugs"`
	// Aliases are further ids of observations, each with the slug.
	Aliases map[Word]Word `yaml:"aliases"`
	// Reserved are ids that no concept may have, each with the reason.
	Reserved map[Word]Word `yaml:"reserved"`
	// Removed are the ids of concepts that are no more.
	Removed []Word `yaml:"removed"`
}

// An Observation is a symptom, a risk factor or a laboratory result.
type Observation struct {
	File         string `yaml:"-"`
	Slug         Word   `yaml:"slug"`
	Kind         Word   `yaml:"kind"`
	Parent       Word   `yaml:"parent"`
	Relation     Word   `yaml:"relation"`
	Background   Number `yaml:"background"`
	Seriousness  Word   `yaml:"seriousness"`
	Sex          Word   `yaml:"sex"`
	Ages         Range  `yaml:"ages"`
	Professional Flag   `yaml:"professional"`
	Onlooker     Flag   `yaml:"onlooker"`
	Topic        Word   `yaml:"topic"`
	Lasts        Range  `yaml:"lasts"`
}

// A Range is of ages, as in 18m or 5y, both inclusive, or of times, as in 6h
// or 2w.
type Range struct {
	From Word `yaml:"from"`
	To   Word `yaml:"to"`
}

// Line is the line of the range, 0 when it was left out or is empty.
func (r Range) Line() int { return max(r.From.Line, r.To.Line) }

// A Group is a set of observations asked in one question.
type Group struct {
	File    string `yaml:"-"`
	Slug    Word   `yaml:"slug"`
	Type    Word   `yaml:"type"`
	Parent  Word   `yaml:"parent"`
	Ordered Flag   `yaml:"ordered"`
	Items   []Word `yaml:"items"`
}

// A Tuple is a set of observations that are worse together.
type Tuple struct {
	File         string `yaml:"-"`
	Slug         Word   `yaml:"slug"`
	Observations []Word `yaml:"observations"`
	Level        Word   `yaml:"level"`
	Reason       Word   `yaml:"reason"`
}

// An Alike is a pair of conditions that what patients can tell hardly separates,
// and why that is so.
type Alike struct {
	File       string `yaml:"-"`
	Conditions []Word `yaml:"conditions"`
	Reason     Word   `yaml:"reason"`
}

// A LabTest is a laboratory test with its results, which exclude each other:
// each is an observation.
type LabTest struct {
	File     string        `yaml:"-"`
	Slug     Word          `yaml:"slug"`
	Category Word          `yaml:"category"`
	Results  map[Word]Word `yaml:"results"`
}

// A Condition is what a patient may have.
type Condition struct {
	File        string                `yaml:"-"`
	Slug        Word                  `yaml:"slug"`
	Categories  []Word                `yaml:"categories"`
	ICD10       OneOrMore             `yaml:"icd10"`
	Acuteness   Word                  `yaml:"acuteness"`
	Severity    Word                  `yaml:"severity"`
	TriageLevel Word                  `yaml:"triage_level"`
	Channel     Word                  `yaml:"channel"`
	Specialists []Word                `yaml:"specialists"`
	Sex         Word                  `yaml:"sex"`
	Ages        Range                 `yaml:"ages"`
	Course      Range                 `yaml:"course"`
	Prior       Prior                 `yaml:"prior"`
	Findings    map[Word]Number       `yaml:"findings"`
	Protective  map[Word]ProtectiveOf `yaml:"protective"`
	RiskFactors map[Word]Number       `yaml:"risk_factors"`
	Sources     []Word                `yaml:"sources"`
}

// Prior is how often a condition is what a new symptom episode brings.
type Prior struct {
	Per10000 Number          `yaml:"per_10000"`
	Sex      map[Word]Number `yaml:"sex"`
	Ages     map[Word]Number `yaml:"ages"`
}

// ProtectiveOf are the odds multipliers of a finding that speaks against a
// condition.
type ProtectiveOf struct {
	Present Number `yaml:"present"`
	Absent  Number `yaml:"absent"`
}

// A Drug is an active substance that patients take, or several in one product,
// with the risk factors that whoever takes it has.
type Drug struct {
	File    string `yaml:"-"`
	Slug    Word   `yaml:"slug"`
	ATC     Word   `yaml:"atc"`
	Factors []Word `yaml:"factors"`
	// Source says where it stands that taking the drug means the factors, where
	// that does not follow from what the drug is.
	Source Word `yaml:"source"`
}

// A ChronicDisease is a condition that patients live with, with the risk factors
// that whoever lives with it has.
type ChronicDisease struct {
	File      string `yaml:"-"`
	Condition Word   `yaml:"condition"`
	Factors   []Word `yaml:"factors"`
}

// A Hospitalization is a risk factor that people were in hospital for.
type Hospitalization struct {
	File   string
	Factor Word
}

// Language is the words of one language.
type Language struct {
	File     string `yaml:"-"`
	Model    Word   `yaml:"model"`
	Language Word   `yaml:"language"`
	// Base is the language that this one is derived from, and Replace the words
	// of it that are others here.
	Base          Word          `yaml:"base"`
	Replace       map[Word]Word `yaml:"replace"`
	Choices       Choices       `yaml:"choices"`
	Questions     Questions     `yaml:"questions"`
	Specialists   map[Word]Word `yaml:"specialists"`
	Categories    map[Word]Word `yaml:"categories"`
	LabCategories map[Word]Word `yaml:"lab_categories"`
	Conditions    []*Words      `yaml:"-"`
	Observations  []*Words      `yaml:"-"`
	Groups        []*Words      `yaml:"-"`
	LabTests      []*Words      `yaml:"-"`
	Drugs         []*Words      `yaml:"-"`
	// ChronicDiseases are those that patients do not know by the common name of their
	// condition.
	ChronicDiseases []*Words   `yaml:"-"`
	Articles        []*Article `yaml:"-"`
	// Experimental says that the words are not reviewed yet as those of other
	// languages are.
	Experimental  Flag        `yaml:"experimental"`
	Lexicons      []*Lexicon  `yaml:"-"`
	Examples      []*Examples `yaml:"-"`
	OrdinaryWords []Word      `yaml:"-"`
	// Inherited are the concepts, groups and articles that the base alone has
	// words of.
	Inherited int `yaml:"-"`
}

// Choices are the labels of the three answers.
type Choices struct {
	Present Word `yaml:"present"`
	Absent  Word `yaml:"absent"`
	Unknown Word `yaml:"unknown"`
}

// Questions are those that are not about one concept.
type Questions struct {
	Duration            Word `yaml:"duration"`
	DurationThirdPerson Word `yaml:"duration_third_person"`
}

// Words are what a language says about one condition, observation, group,
// laboratory test or drug.
// Which of the fields each of them has is up to the form of the file.
type Words struct {
	File                string
	Slug                Word
	Name                Word
	CommonName          Word
	Hint                Word
	Question            Word
	QuestionThirdPerson Word
	Synonyms            []Word
	Brands              []Word
}

// coreFile is the form of every file under core but the two with a name.
type coreFile struct {
	Observations []*Observation `yaml:"observations"`
	Groups       []*Group       `yaml:"groups"`
	Tuples       []*Tuple       `yaml:"tuples"`
	Alike        []*Alike       `yaml:"alike"`
	LabTests     []*LabTest     `yaml:"lab_tests"`
	Conditions   []*Condition   `yaml:"conditions"`
	Drugs        []*Drug        `yaml:"drugs"`

	ChronicDiseases  []*ChronicDisease `yaml:"chronic_diseases"`
	Hospitalizations []Word            `yaml:"hospitalizations"`
}

// releaseFile is the form of ReleaseFile.
type releaseFile struct {
	Version Word  `yaml:"version"`
	Course  Range `yaml:"course"`
}

// wordsFile is the form of the files under lang/<xx> but language.yaml.
type wordsFile struct {
	Conditions   map[Word]conditionWords   `yaml:"conditions"`
	Observations map[Word]observationWords `yaml:"observations"`
	Groups       map[Word]groupWords       `yaml:"groups"`
	LabTests     map[Word]labTestWords     `yaml:"lab_tests"`
	Drugs        map[Word]drugWords        `yaml:"drugs"`

	ChronicDiseases map[Word]diseaseWords `yaml:"chronic_diseases"`
}

type conditionWords struct {
	Name       Word   `yaml:"name"`
	CommonName Word   `yaml:"common_name"`
	Hint       Word   `yaml:"hint"`
	Synonyms   []Word `yaml:"synonyms"`
}

type observationWords struct {
	Name                Word   `yaml:"name"`
	CommonName          Word   `yaml:"common_name"`
	Question            Word   `yaml:"question"`
	QuestionThirdPerson Word   `yaml:"question_third_person"`
	Synonyms            []Word `yaml:"synonyms"`
}

type groupWords struct {
	Question            Word `yaml:"question"`
	QuestionThirdPerson Word `yaml:"question_third_person"`
}

type labTestWords struct {
	Name       Word `yaml:"name"`
	CommonName Word `yaml:"common_name"`
}

type diseaseWords struct {
	Name     Word   `yaml:"name"`
	Synonyms []Word `yaml:"synonyms"`
}

type drugWords struct {
	Name     Word   `yaml:"name"`
	Synonyms []Word `yaml:"synonyms"`
	Brands   []Word `yaml:"brands"`
}
