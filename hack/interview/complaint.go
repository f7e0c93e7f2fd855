// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// collectComplaints adds initial evidence from the complaints. Without complaints, it
// prompts for them until it recognizes a symptom.
func (i *interview) collectComplaints(ctx context.Context, complaints []string) error {
	for _, complaint := range complaints {
		i.printf("%s\n", complaint)
		if understood, err := i.addComplaint(ctx, complaint); err != nil || !understood {
			return cmp.Or(err, fmt.Errorf("failed to recognize a symptom in %q: rephrase the complaint", complaint))
		}
	}
	for understood := len(complaints) > 0; !understood; {
		i.printf("What are your symptoms? > ")
		if !i.in.Scan() {
			i.printf("\n")
			return cmp.Or(i.in.Err(), errors.New("missing complaint: end of input"))
		}
		var err error
		if understood, err = i.addComplaint(ctx, i.in.Text()); err != nil {
			return err
		}
		if !understood {
			i.printf("  No symptoms recognized; please rephrase.\n")
		}
	}
	return nil
}

// addComplaint adds the evidence in a complaint. If free-text parsing finds no present
// symptom, addComplaint searches for the words. It returns false if neither finds a
// symptom.
func (i *interview) addComplaint(ctx context.Context, complaint string) (understood bool, err error) {
	parsed, err := i.engine.Parse(ctx, enginev3.ParseRequest{Text: complaint, Sex: &i.request.Sex, Age: i.request.Age, Context: i.presentIDs()})
	if err != nil {
		return false, err
	}
	for _, mention := range parsed.Mentions {
		isPresent := mention.ChoiceID == enginev3.MentionChoiceIDPresent
		understood = understood || isPresent && mention.Type == enginev3.ObservationTypeSymptom
		i.addEvidence(mention.Orth, mention.CommonName, mention.ID, enginev3.Choice(mention.ChoiceID))
	}
	if understood || strings.TrimSpace(complaint) == "" {
		return understood, nil
	}
	found, err := i.searchSymptom(ctx, complaint)
	for _, result := range found {
		i.addEvidence(complaint, result.Label, result.ID, enginev3.ChoicePresent)
	}
	return len(found) > 0, err
}

// searchSymptom searches for the symptom that best matches the words.
func (i *interview) searchSymptom(ctx context.Context, words string) ([]enginev3.SearchResult, error) {
	return i.engine.Search(ctx, &enginev3.SearchParams{
		Phrase: words, Types: new("symptom"), MaxResults: new(1),
		Sex: &i.request.Sex, AgeValue: i.request.Age.Value, AgeUnit: i.request.Age.Unit,
	})
}

// addEvidence adds initial evidence unless the interview already has evidence for the
// observation.
func (i *interview) addEvidence(words, name, id string, choice enginev3.Choice) {
	if slices.ContainsFunc(i.request.Evidence, func(e enginev3.Evidence) bool { return e.ID == id }) {
		return
	}
	i.request.Evidence = append(i.request.Evidence, enginev3.Evidence{ID: id, ChoiceID: choice, Source: new(enginev3.SourceInitial)})
	i.printf("  %s: %s (%s, %s)\n", words, name, id, choice)
}

// presentIDs returns the IDs of the observations known to be present.
func (i *interview) presentIDs() []string {
	var ids []string
	for _, e := range i.request.Evidence {
		if e.ChoiceID == enginev3.ChoicePresent {
			ids = append(ids, e.ID)
		}
	}
	return ids
}
