// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/search"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// ListKnowledge implements the contract.
func (h handlers) ListKnowledge(ctx context.Context, request contract.ListKnowledgeRequestObject) (contract.ListKnowledgeResponseObject, error) {
	list, err := search.ParseList(request.List)
	if err != nil {
		return nil, storage.ErrNotFound
	}
	params := request.Params
	wanted, wrong := readPage(ctx, params.Limit, params.Cursor)
	query, err := readListQuery(list, params)
	if err := joined(wrong, err); err != nil {
		return nil, err
	}
	items, total, err := h.Surveys.Items(query, wanted.surveys())
	if err != nil {
		return nil, err
	}
	links, err := wanted.filtered(map[string]*string{
		"query": params.Query, "sex": params.Sex, "age": params.Age, "age.value": params.AgeValue, "age.unit": params.AgeUnit, "language": params.Language,
	}).of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListKnowledge200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.NamedItem, len(items)),
	}
	for i, item := range items {
		answer.Items[i] = contract.NamedItem{ID: item.ID, Name: item.Name}
	}
	return answer, nil
}

func readListQuery(list search.List, params contract.ListKnowledgeParams) (query surveys.ListQuery, err error) {
	var wrong refusal
	query = surveys.ListQuery{List: list, Phrase: orEmpty(params.Query), Language: orEmpty(params.Language), Accepts: orEmpty(params.AcceptLanguage)}
	query.Sex, err = guidance.ReadSex("sex", orEmpty(params.Sex))
	wrong.note(err)
	field, text := "age.value", orEmpty(params.AgeValue)
	if text == "" {
		field, text = "age", orEmpty(params.Age)
	}
	if text == "" {
		return query, wrong.err()
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		wrong = append(wrong, contract.FieldError{Field: field, Message: "expected a whole number"})
		return query, wrong.err()
	}
	query.Age, err = guidance.ReadAge("age", &value, orEmpty(params.AgeUnit))
	wrong.note(err)
	return query, wrong.err()
}
