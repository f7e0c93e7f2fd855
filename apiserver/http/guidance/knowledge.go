// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// ListKnowledge implements contract.StrictServerInterface.
func (h handlers) ListKnowledge(ctx context.Context, request contract.ListKnowledgeRequestObject) (contract.ListKnowledgeResponseObject, error) {
	list, err := search.ParseList(request.List)
	if err != nil {
		return nil, record.ErrNotFound
	}
	params := request.Params
	requested, fieldErrs := readPagination(ctx, params.Limit, params.Cursor)
	query, err := readKnowledgeQuery(list, params)
	if err := joinValidationErrors(fieldErrs, err); err != nil {
		return nil, err
	}
	items, total, err := h.Surveys.SearchItems(query, requested.page())
	if err != nil {
		return nil, err
	}
	links, err := requested.withFilters(map[string]*string{
		"query": params.Query, "sex": params.Sex, "age": params.Age, "age.value": params.AgeValue, "age.unit": params.AgeUnit, "language": params.Language,
	}).links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListKnowledge200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.NamedItem, len(items)),
	}
	for i, item := range items {
		response.Items[i] = contract.NamedItem{ID: item.ID, Name: item.Name}
	}
	return response, nil
}

func readKnowledgeQuery(list search.List, params contract.ListKnowledgeParams) (query service.ListQuery, err error) {
	var fieldErrs validationError
	query = service.ListQuery{List: list, Phrase: stringOrEmpty(params.Query), Language: stringOrEmpty(params.Language), AcceptLanguage: stringOrEmpty(params.AcceptLanguage)}
	query.Sex, err = record.ParseSex("sex", stringOrEmpty(params.Sex))
	fieldErrs.add(err)
	field, text := "age.value", stringOrEmpty(params.AgeValue)
	if text == "" {
		field, text = "age", stringOrEmpty(params.Age)
	}
	if text == "" {
		return query, fieldErrs.errorOrNil()
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: "expected a whole number"})
		return query, fieldErrs.errorOrNil()
	}
	query.Age, err = record.ParseAge("age", &value, stringOrEmpty(params.AgeUnit))
	fieldErrs.add(err)
	return query, fieldErrs.errorOrNil()
}
