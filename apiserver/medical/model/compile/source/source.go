// SPDX-License-Identifier: Apache-2.0

// Package source reads content sources: the YAML files in which clinicians write
// concepts, numbers and texts. It defines the syntax of the files and keeps the line of
// each value. Package compile performs semantic checks.
//
// The files of the content are
//
//	core/release.yaml    the version, and data that is not specific to a condition
//	core/registry.yaml   the permanent ID of every slug
//	core/**.yaml         observations, groups, tuples, laboratory tests, conditions,
//	                     drugs, chronic diseases, hospitalizations
//	lang/<xx>/language.yaml
//	lang/<xx>/**.yaml    the texts of conditions, observations, groups, laboratory tests, drugs
//	lang/<xx>/articles/<condition slug>.md
//	lang/<xx>/lexicon*.yaml        vocabulary and wordings of free text
//	lang/<xx>/examples*.yaml       example sentences for training
//	lang/<xx>/ordinary-words.txt   correctly spelled words
//	lang/<xx>/texts/**             texts of surveys, pages and messages; read by package i18n
//
// A language may be derived from a base language. It then contains only the differences:
// whole words to replace, and names that override the names of the base. It inherits the
// lexicon of its base unless it has its own.
package source

// The files with fixed names.
const (
	ReleaseFile  = "core/release.yaml"
	RegistryFile = "core/registry.yaml"
	languageFile = "language.yaml"
	articlesDir  = "articles"
	textsDir     = "texts"
	articleExt   = ".md"
)

// Core is the content shared by all languages.
type Core struct {
	Version      Scalar // from ReleaseFile
	LeakCourse   Range  // from ReleaseFile: course of symptoms that no condition causes
	Registry     Registry
	Observations []*Observation
	Groups       []*Group
	Tuples       []*Tuple
	SimilarPairs []*SimilarPair
	LabTests     []*LabTest
	Conditions   []*Condition
	Drugs        []*Drug
	// ChronicDiseases are conditions that patients can report as chronic. Hospitalizations
	// are the reasons for a hospital stay.
	ChronicDiseases  []*ChronicDisease
	Hospitalizations []*Hospitalization
}

// Registry assigns a permanent ID to every slug.
type Registry struct {
	Conditions   map[Scalar]Scalar `yaml:"conditions"`
	Observations map[Scalar]Scalar `yaml:"observations"`
	Specialists  map[Scalar]Scalar `yaml:"specialists"`
	Categories   map[Scalar]Scalar `yaml:"categories"`
	LabTests     map[Scalar]Scalar `yaml:"lab_tests"`
	Drugs        map[Scalar]Scalar `yaml:"drugs"`
	// Aliases maps additional IDs of observations to slugs.
	Aliases map[Scalar]Scalar `yaml:"aliases"`
	// Reserved maps IDs that concepts must not use to the reason.
	Reserved map[Scalar]Scalar `yaml:"reserved"`
	// Removed lists the IDs of deleted concepts.
	Removed []Scalar `yaml:"removed"`
}

// An Observation is a symptom, a risk factor or a laboratory result.
type Observation struct {
	File         string `yaml:"-"`
	Slug         Scalar `yaml:"slug"`
	Kind         Scalar `yaml:"kind"`
	Parent       Scalar `yaml:"parent"`
	Relation     Scalar `yaml:"relation"`
	Background   Number `yaml:"background"`
	Seriousness  Scalar `yaml:"seriousness"`
	Sex          Scalar `yaml:"sex"`
	Ages         Range  `yaml:"ages"`
	Professional Bool   `yaml:"professional"`
	Onlooker     Bool   `yaml:"onlooker"`
	Topic        Scalar `yaml:"topic"`
	Duration     Range  `yaml:"lasts"`
}

// A Range is a range of ages, such as 18m or 5y, both inclusive, or of durations, such as
// 6h or 2w.
type Range struct {
	From Scalar `yaml:"from"`
	To   Scalar `yaml:"to"`
}

// Line returns the line of the range, or 0 if it is unset or empty.
func (r Range) Line() int { return max(r.From.Line, r.To.Line) }

// A Group is a set of observations asked in one question.
type Group struct {
	File    string   `yaml:"-"`
	Slug    Scalar   `yaml:"slug"`
	Type    Scalar   `yaml:"type"`
	Parent  Scalar   `yaml:"parent"`
	Ordered Bool     `yaml:"ordered"`
	Items   []Scalar `yaml:"items"`
}

// A Tuple is a set of observations that are more serious together.
type Tuple struct {
	File         string   `yaml:"-"`
	Slug         Scalar   `yaml:"slug"`
	Observations []Scalar `yaml:"observations"`
	Level        Scalar   `yaml:"level"`
	Reason       Scalar   `yaml:"reason"`
}

// A SimilarPair is a pair of conditions that patients' answers hardly distinguish, with
// the reason.
type SimilarPair struct {
	File       string   `yaml:"-"`
	Conditions []Scalar `yaml:"conditions"`
	Reason     Scalar   `yaml:"reason"`
}

// A LabTest is a laboratory test with its mutually exclusive results, each an
// observation.
type LabTest struct {
	File     string            `yaml:"-"`
	Slug     Scalar            `yaml:"slug"`
	Category Scalar            `yaml:"category"`
	Results  map[Scalar]Scalar `yaml:"results"`
}

// A Condition is a disease or disorder that a patient may have.
type Condition struct {
	File        string                      `yaml:"-"`
	Slug        Scalar                      `yaml:"slug"`
	Categories  []Scalar                    `yaml:"categories"`
	ICD10       ScalarOrList                `yaml:"icd10"`
	Acuteness   Scalar                      `yaml:"acuteness"`
	Severity    Scalar                      `yaml:"severity"`
	TriageLevel Scalar                      `yaml:"triage_level"`
	Channel     Scalar                      `yaml:"channel"`
	Specialists []Scalar                    `yaml:"specialists"`
	Sex         Scalar                      `yaml:"sex"`
	Ages        Range                       `yaml:"ages"`
	Course      Range                       `yaml:"course"`
	Prior       Prior                       `yaml:"prior"`
	Findings    map[Scalar]Number           `yaml:"findings"`
	Protective  map[Scalar]ProtectiveFactor `yaml:"protective"`
	RiskFactors map[Scalar]Number           `yaml:"risk_factors"`
	Sources     []Scalar                    `yaml:"sources"`
}

// Prior is the frequency with which a condition causes a new symptom episode.
type Prior struct {
	Per10000 Number            `yaml:"per_10000"`
	Sex      map[Scalar]Number `yaml:"sex"`
	Ages     map[Scalar]Number `yaml:"ages"`
}

// ProtectiveFactor holds the odds multipliers of a finding that counts against a
// condition.
type ProtectiveFactor struct {
	Present Number `yaml:"present"`
	Absent  Number `yaml:"absent"`
}

// A Drug is an active substance, or a combination sold as one product, with the risk
// factors that every patient taking it has.
type Drug struct {
	File        string   `yaml:"-"`
	Slug        Scalar   `yaml:"slug"`
	ATC         Scalar   `yaml:"atc"`
	RiskFactors []Scalar `yaml:"factors"`
	// Source cites evidence that taking the drug implies the risk factors, if that is not
	// evident from the nature of the drug.
	Source Scalar `yaml:"source"`
}

// A ChronicDisease is a condition that patients can report as chronic, with the risk
// factors that every patient with it has.
type ChronicDisease struct {
	File        string   `yaml:"-"`
	Condition   Scalar   `yaml:"condition"`
	RiskFactors []Scalar `yaml:"factors"`
}

// A Hospitalization is a risk factor that can be the reason for a hospital stay.
type Hospitalization struct {
	File       string
	RiskFactor Scalar
}

// Language holds the texts of one language.
type Language struct {
	File    string `yaml:"-"`
	ModelID Scalar `yaml:"model"`
	Tag     Scalar `yaml:"language"`
	// Base is the language from which this language is derived, and Replacements maps
	// words of the base to words of this language.
	Base          Scalar            `yaml:"base"`
	Replacements  map[Scalar]Scalar `yaml:"replace"`
	Choices       Choices           `yaml:"choices"`
	Questions     Questions         `yaml:"questions"`
	Specialists   map[Scalar]Scalar `yaml:"specialists"`
	Categories    map[Scalar]Scalar `yaml:"categories"`
	LabCategories map[Scalar]Scalar `yaml:"lab_categories"`
	Conditions    []*Localization   `yaml:"-"`
	Observations  []*Localization   `yaml:"-"`
	Groups        []*Localization   `yaml:"-"`
	LabTests      []*Localization   `yaml:"-"`
	Drugs         []*Localization   `yaml:"-"`
	// ChronicDiseases are the diseases with names other than the common name of their
	// condition.
	ChronicDiseases []*Localization `yaml:"-"`
	Articles        []*Article      `yaml:"-"`
	// Experimental marks a language whose texts have not been reviewed to the same standard
	// as the texts of other languages.
	Experimental  Bool        `yaml:"experimental"`
	Lexicons      []*Lexicon  `yaml:"-"`
	Examples      []*Examples `yaml:"-"`
	OrdinaryWords []Scalar    `yaml:"-"`
	// InheritedCount is the number of concepts, groups and articles with texts only in the
	// base.
	InheritedCount int `yaml:"-"`
}

// Choices are the labels of the three answers.
type Choices struct {
	Present Scalar `yaml:"present"`
	Absent  Scalar `yaml:"absent"`
	Unknown Scalar `yaml:"unknown"`
}

// Questions are the questions that are not specific to a concept.
type Questions struct {
	Duration            Scalar `yaml:"duration"`
	DurationThirdPerson Scalar `yaml:"duration_third_person"`
}

// Localization holds the texts of one condition, observation, group, laboratory test or
// drug. The schema of the file determines which fields are allowed for each kind.
type Localization struct {
	File                string
	Slug                Scalar
	Name                Scalar
	CommonName          Scalar
	Hint                Scalar
	Question            Scalar
	QuestionThirdPerson Scalar
	Synonyms            []Scalar
	Brands              []Scalar
}

// coreFile is the schema of every file under core except ReleaseFile and RegistryFile.
type coreFile struct {
	Observations []*Observation `yaml:"observations"`
	Groups       []*Group       `yaml:"groups"`
	Tuples       []*Tuple       `yaml:"tuples"`
	SimilarPairs []*SimilarPair `yaml:"alike"`
	LabTests     []*LabTest     `yaml:"lab_tests"`
	Conditions   []*Condition   `yaml:"conditions"`
	Drugs        []*Drug        `yaml:"drugs"`

	ChronicDiseases  []*ChronicDisease `yaml:"chronic_diseases"`
	Hospitalizations []Scalar          `yaml:"hospitalizations"`
}

// releaseFile is the schema of ReleaseFile.
type releaseFile struct {
	Version Scalar `yaml:"version"`
	Course  Range  `yaml:"course"`
}

// localizationFile is the schema of the files under lang/<xx> except language.yaml.
type localizationFile struct {
	Conditions   map[Scalar]localizedCondition   `yaml:"conditions"`
	Observations map[Scalar]localizedObservation `yaml:"observations"`
	Groups       map[Scalar]localizedGroup       `yaml:"groups"`
	LabTests     map[Scalar]localizedLabTest     `yaml:"lab_tests"`
	Drugs        map[Scalar]localizedDrug        `yaml:"drugs"`

	ChronicDiseases map[Scalar]localizedDisease `yaml:"chronic_diseases"`
}

type localizedCondition struct {
	Name       Scalar   `yaml:"name"`
	CommonName Scalar   `yaml:"common_name"`
	Hint       Scalar   `yaml:"hint"`
	Synonyms   []Scalar `yaml:"synonyms"`
}

type localizedObservation struct {
	Name                Scalar   `yaml:"name"`
	CommonName          Scalar   `yaml:"common_name"`
	Question            Scalar   `yaml:"question"`
	QuestionThirdPerson Scalar   `yaml:"question_third_person"`
	Synonyms            []Scalar `yaml:"synonyms"`
}

type localizedGroup struct {
	Question            Scalar `yaml:"question"`
	QuestionThirdPerson Scalar `yaml:"question_third_person"`
}

type localizedLabTest struct {
	Name       Scalar `yaml:"name"`
	CommonName Scalar `yaml:"common_name"`
}

type localizedDisease struct {
	Name     Scalar   `yaml:"name"`
	Synonyms []Scalar `yaml:"synonyms"`
}

type localizedDrug struct {
	Name     Scalar   `yaml:"name"`
	Synonyms []Scalar `yaml:"synonyms"`
	Brands   []Scalar `yaml:"brands"`
}
