// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// maxTextLength is the maximum length of a text in Unicode code points, regardless of their
// encoding in the body.
const maxTextLength = 2048

// Parse implements enginev3.StrictServerInterface.
func (a *API) Parse(ctx context.Context, request enginev3.ParseRequestObject) (enginev3.ParseResponseObject, error) {
	release := releaseFrom(ctx)
	query, err := readParseQuery(release, request.Body)
	if err != nil {
		return nil, err
	}
	result := nlp.Parse(release, query)
	return enginev3.Parse200JSONResponse(encodeParsed(release, &result, isTrue(request.Body.IncludeTokens))), nil
}

// readParseQuery resolves a body against a release. Its errors are meant for the client
// and never repeat the text.
func readParseQuery(r *model.Release, body *enginev3.ParseRequest) (query nlp.Query, err error) {
	if body.Text == nil {
		return query, badRequest("text: missing, expected the patient's text, which may be empty")
	}
	if length := utf8.RuneCountInString(*body.Text); length > maxTextLength {
		return query, badRequest("text: expected at most %d characters (Unicode code points), got %d", maxTextLength, length)
	}
	query.Text = *body.Text
	if query.AgeMonths, err = assessment.ParseAge("age", body.Age.Value, stringOrEmpty(body.Age.Unit)); err != nil {
		return query, err
	}
	if query.Sex, err = readOptionalSex(body.Sex); err != nil {
		return query, err
	}
	if query.Context, err = readContext(r, body.Context); err != nil {
		return query, err
	}
	if query.Symptoms, query.RiskFactors, err = readConceptTypes(body.ConceptTypes); err != nil {
		return query, err
	}
	query.KeepSpelling = body.CorrectSpelling != nil && !*body.CorrectSpelling
	query.AllMentions = isTrue(body.IncludeTokens)
	return query, nil
}

// readContext resolves observation IDs and removes duplicates.
func readContext(r *model.Release, ids *[]string) ([]model.ObservationIndex, error) {
	if ids == nil {
		return nil, nil
	}
	known := make([]model.ObservationIndex, len(*ids))
	for i, id := range *ids {
		observation, ok := r.ObservationByID(id)
		if !ok {
			return nil, assessment.NotSupported(fmt.Sprintf("context[%d]", i), id, "the id of an observation, such as s_21")
		}
		known[i] = observation
	}
	slices.Sort(known)
	return slices.Compact(known), nil
}

// readConceptTypes parses the concept types to look for. Defaults to both.
func readConceptTypes(types *[]enginev3.ObservationType) (symptoms, riskFactors bool, err error) {
	if types == nil || len(*types) == 0 {
		return true, true, nil
	}
	for i, word := range *types {
		switch word {
		case enginev3.ObservationTypeSymptom:
			symptoms = true
		case enginev3.ObservationTypeRiskFactor:
			riskFactors = true
		default:
			return false, false, assessment.NotSupported(fmt.Sprintf("concept_types[%d]", i), string(word), "symptom or risk_factor")
		}
	}
	return symptoms, riskFactors, nil
}

func encodeParsed(r *model.Release, result *nlp.Result, withTokens bool) enginev3.Parsed {
	parsed := enginev3.Parsed{Obvious: result.Obvious, Mentions: make([]enginev3.Mention, len(result.Mentions))}
	if withTokens {
		tokens := append([]string{}, result.Tokens...) // never null
		parsed.Tokens = &tokens
	}
	for i := range result.Mentions {
		parsed.Mentions[i] = encodeMention(r, &result.Mentions[i], withTokens)
	}
	return parsed
}

func encodeMention(r *model.Release, mention *nlp.Mention, withTokens bool) enginev3.Mention {
	o := &r.Observations[mention.Observation]
	encoded := enginev3.Mention{
		ID:         r.ObservationID(mention.Observation),
		Name:       r.Text(o.Name),
		CommonName: r.Text(o.CommonName),
		Orth:       mention.Orth,
		ChoiceID:   enginev3.MentionChoiceIDPresent,
		Type:       enginev3.ObservationTypeSymptom,
	}
	if mention.Absent {
		encoded.ChoiceID = enginev3.MentionChoiceIDAbsent
	}
	if o.Kind == model.RiskFactor {
		encoded.Type = enginev3.ObservationTypeRiskFactor
	}
	if withTokens {
		encoded.Positions, encoded.HeadPosition = mention.Positions, &mention.Head
	}
	return encoded
}
