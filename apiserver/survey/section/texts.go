// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"io/fs"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// LoadTexts loads the embedded texts of all questions. The error names missing texts and
// texts that no section uses. Call it once at startup and keep the result.
func LoadTexts() (*i18n.Catalog, error) { return loadTexts(content.Texts) }

func loadTexts(from fs.FS) (*i18n.Catalog, error) {
	catalog, err := i18n.Load(from, "surveys")
	if err != nil {
		return nil, err
	}
	if err := catalog.RequireIDs(textIDs()); err != nil {
		return nil, fmt.Errorf("comparing the survey texts to the questions of the sections: %w", err)
	}
	return catalog, nil
}

// textIDs returns the IDs of the texts that the sections use.
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

// textID returns the ID of a question's text: addressed to the patient, or about the patient
// and addressed to someone else.
func textID(question string, thirdPerson bool) string {
	if thirdPerson {
		return question + ".third_person"
	}
	return question + ".text"
}

// labelID returns the ID of the label of an option.
func labelID(question, option string) string { return question + ".answers." + option }
