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

// open makes initial evidence of what brings the patient: of the complaints,
// or, when there are none, of what the patient answers until something of it is
// understood.
func (i *interview) open(ctx context.Context, complaints []string) error {
	for _, complaint := range complaints {
		i.print("%s\n", complaint)
		if understood, err := i.hear(ctx, complaint); err != nil || !understood {
			return cmp.Or(err, fmt.Errorf("no symptom is understood in %q: try other words", complaint))
		}
	}
	for understood := len(complaints) > 0; !understood; {
		i.print("What brings you here? > ")
		if !i.in.Scan() {
			i.print("\n")
			return cmp.Or(i.in.Err(), errors.New("there is no complaint to begin with"))
		}
		var err error
		if understood, err = i.hear(ctx, i.in.Text()); err != nil {
			return err
		}
		if !understood {
			i.print("  No symptom is understood: try other words.\n")
		}
	}
	return nil
}

// hear adds what a complaint says to the evidence. Where free text finds no
// symptom that the patient has, the words are looked up. It is false when
// nobody knows them.
func (i *interview) hear(ctx context.Context, complaint string) (understood bool, err error) {
	parsed, err := i.engine.Parse(ctx, enginev3.ParseRequest{Text: complaint, Sex: &i.body.Sex, Age: i.body.Age, Context: i.present()})
	if err != nil {
		return false, err
	}
	for _, mention := range parsed.Mentions {
		has := mention.ChoiceID == enginev3.MentionChoiceIDPresent
		understood = understood || has && mention.Type == enginev3.ObservationTypeSymptom
		i.add(mention.Orth, mention.CommonName, mention.ID, enginev3.Choice(mention.ChoiceID))
	}
	if understood || strings.TrimSpace(complaint) == "" {
		return understood, nil
	}
	found, err := i.lookUp(ctx, complaint)
	for _, result := range found {
		i.add(complaint, result.Label, result.ID, enginev3.ChoicePresent)
	}
	return len(found) > 0, err
}

// lookUp searches for the one symptom that words name best.
func (i *interview) lookUp(ctx context.Context, words string) ([]enginev3.SearchResult, error) {
	return i.engine.Search(ctx, &enginev3.SearchParams{
		Phrase: words, Types: new("symptom"), MaxResults: new(1),
		Sex: &i.body.Sex, AgeValue: i.body.Age.Value, AgeUnit: i.body.Age.Unit,
	})
}

// add adds initial evidence, unless something is known of the observation.
func (i *interview) add(words, name, id string, choice enginev3.Choice) {
	if slices.ContainsFunc(i.body.Evidence, func(e enginev3.Evidence) bool { return e.ID == id }) {
		return
	}
	i.body.Evidence = append(i.body.Evidence, enginev3.Evidence{ID: id, ChoiceID: choice, Source: new(enginev3.SourceInitial)})
	i.print("  %s: %s (%s, %s)\n", words, name, id, choice)
}

// present are the ids of what the patient is known to have.
func (i *interview) present() []string {
	var ids []string
	for _, e := range i.body.Evidence {
		if e.ChoiceID == enginev3.ChoicePresent {
			ids = append(ids, e.ID)
		}
	}
	return ids
}
