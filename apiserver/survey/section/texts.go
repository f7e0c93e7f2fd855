// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"io/fs"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// LoadTexts loads the embedded texts of all questions. The error lists missing and unused
// texts. Call it once at startup and keep the result.
func LoadTexts() (*i18n.Catalog, error) { return loadTexts(content.Texts) }

func loadTexts(files fs.FS) (*i18n.Catalog, error) {
	catalog, err := i18n.Load(files, "surveys")
	if err != nil {
		return nil, err
	}
	if err := catalog.RequireIDs(textIDs()); err != nil {
		return nil, fmt.Errorf("validating survey texts: %w", err)
	}
	return catalog, nil
}

// textIDs returns the IDs of the texts that sections use.
func textIDs() (ids []string) {
	ids = append(ids, pronounsID)
	for _, s := range registry {
		for question, options := range s.Questions() {
			ids = append(ids, textID(question, false), textID(question, true))
			for _, option := range options {
				ids = append(ids, labelID(question, option))
			}
		}
	}
	return ids
}

// textID returns the ID of a question's text, either addressed to the patient or, in the
// third person, to someone else about the patient.
func textID(question string, thirdPerson bool) string {
	if thirdPerson {
		return question + ".third_person"
	}
	return question + ".text"
}

// labelID returns the ID of the label of an option.
func labelID(question, option string) string { return question + ".answers." + option }
