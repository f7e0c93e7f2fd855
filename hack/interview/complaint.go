// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// open makes initial evidence of what brings the patient: of the complaints,
// or, when there are none, of what the patient answers until something of it is
// understood.
func (i *interview) open(ctx context.Context, complaints []string) error {
	i.body.Evidence = &[]enginev3.Evidence{}
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
	var parsed enginev3.Parsed
	err = i.client.post(ctx, "/parse", enginev3.ParseRequest{Text: &complaint, Sex: &i.body.Sex, Age: i.body.Age, Context: i.present()}, &parsed)
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
func (i *interview) lookUp(ctx context.Context, words string) (found []enginev3.SearchResult, err error) {
	query := url.Values{
		"phrase": {words}, "types": {"symptom"}, "max_results": {"1"}, "sex": {string(i.body.Sex)},
		"age.value": {strconv.Itoa(int(*i.body.Age.Value))}, "age.unit": {string(*i.body.Age.Unit)},
	}
	return found, i.client.get(ctx, "/search?"+query.Encode(), &found)
}

// add adds initial evidence, unless something is known of the observation.
func (i *interview) add(words, name, id string, choice enginev3.Choice) {
	if slices.ContainsFunc(*i.body.Evidence, func(e enginev3.Evidence) bool { return e.ID == id }) {
		return
	}
	initial := enginev3.SourceInitial
	*i.body.Evidence = append(*i.body.Evidence, enginev3.Evidence{ID: id, ChoiceID: choice, Source: &initial})
	i.print("  %s: %s (%s, %s)\n", words, name, id, choice)
}

// present are the ids of what the patient is known to have.
func (i *interview) present() *[]string {
	var ids []string
	for _, e := range *i.body.Evidence {
		if e.ChoiceID == enginev3.ChoicePresent {
			ids = append(ids, e.ID)
		}
	}
	return &ids
}
