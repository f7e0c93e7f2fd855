// SPDX-License-Identifier: Apache-2.0

package section

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance"

const (
	allergyDetails = "allergy_details"
	// mostDetails is the most code points of what somebody says about allergies.
	mostDetails = 500
)

// allergyMeans are the risk factors that answers mean.
var allergyMeans = map[string]string{
	"food":   "p_408", // a known allergy to food
	"severe": "p_542", // a severe reaction before
}

// allergies asks for kinds of allergies and, where there are any, in the patient's
// own words for what exactly.
type allergies struct{}

// Name implements Section.
func (allergies) Name() string { return Allergies }

// Asks implements Section.
func (allergies) Asks() map[string][]string {
	return map[string][]string{
		Allergies:      {"medicine", "food", "pollen", "animals", "insects", "latex", "contact", "other", "severe"},
		allergyDetails: nil,
	}
}

// Needs implements Section.
func (allergies) Needs() bool { return false }

// Next implements Section.
func (a allergies) Next(c *Case) (*guidance.Question, error) {
	switch {
	case !c.asked(Allergies):
		options := c.options(Allergies, a.Asks()[Allergies])
		return c.question(Allergies, Allergies, guidance.MultipleChoice, guidance.Meta{Options: options}), nil
	case len(c.Answer(Allergies).Items) > 0 && !c.asked(allergyDetails):
		return c.question(Allergies, allergyDetails, guidance.Text, guidance.Meta{MaxLength: mostDetails}), nil
	default:
		return nil, nil
	}
}

// Evidence implements Section.
func (allergies) Evidence(c *Case) []guidance.Evidence {
	var evidence []guidance.Evidence
	for _, chosen := range c.Answer(Allergies).Items {
		if id, ok := allergyMeans[chosen.ID]; ok {
			evidence = append(evidence, guidance.Evidence{ID: id, ChoiceID: guidance.Present, Source: guidance.Predefined})
		}
	}
	return evidence
}
