// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/record"

const (
	allergyDetails = "allergy_details"
	// maxAllergyDetailsLength is the maximum length of the description of allergies, in
	// code points.
	maxAllergyDetailsLength = 500
)

// allergyRiskFactors maps answers to implied risk factors.
var allergyRiskFactors = map[string]string{
	"food":   "p_408", // known food allergy
	"severe": "p_542", // previous severe reaction
}

// allergies asks for kinds of allergies and, if the patient has any, for details as free
// text.
type allergies struct{}

// Name implements Section.
func (allergies) Name() string { return Allergies }

// Questions implements Section.
func (allergies) Questions() map[string][]string {
	return map[string][]string{
		Allergies:      {"medicine", "food", "pollen", "animals", "insects", "latex", "contact", "other", "severe"},
		allergyDetails: nil,
	}
}

// NeedsDemographics implements Section.
func (allergies) NeedsDemographics() bool { return false }

// Next implements Section.
func (a allergies) Next(state *State) (*record.Question, error) {
	switch {
	case !state.wasAsked(Allergies):
		options := state.options(Allergies, a.Questions()[Allergies])
		return state.newQuestion(Allergies, Allergies, record.AnswerMultipleChoice, record.Meta{Options: options}), nil
	case len(state.AnswerTo(Allergies).Items) > 0 && !state.wasAsked(allergyDetails):
		return state.newQuestion(Allergies, allergyDetails, record.AnswerText, record.Meta{MaxLength: maxAllergyDetailsLength}), nil
	default:
		return nil, nil
	}
}

// Evidence implements Section.
func (allergies) Evidence(state *State) []record.Evidence {
	var evidence []record.Evidence
	for _, chosen := range state.AnswerTo(Allergies).Items {
		if id, ok := allergyRiskFactors[chosen.ID]; ok {
			evidence = append(evidence, record.Evidence{ID: id, ChoiceID: record.ChoicePresent, Source: record.SourcePredefined})
		}
	}
	return evidence
}
