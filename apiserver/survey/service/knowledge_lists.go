// SPDX-License-Identifier: Apache-2.0

package service

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A ListQuery selects entries of a knowledge list and the language of their names.
type ListQuery struct {
	List           search.List
	Phrase         string // if empty, all entries
	Sex            string // female or male; if empty, both
	Age            record.Age
	Language       string // if empty, chosen by AcceptLanguage
	AcceptLanguage string // the Accept-Language header
}

// SearchItems returns a page of a knowledge list and the total number of matches.
func (s *Service) SearchItems(q ListQuery, page record.Page) (items []record.Item, total int64, err error) {
	modelID, err := s.selectModel(q.Language, q.AcceptLanguage)
	if err != nil {
		return nil, 0, err
	}
	lease, err := s.Models.Acquire(modelID)
	if err != nil {
		return nil, 0, err
	}
	defer lease.Done()
	query := search.ListQuery{List: q.List, Phrase: q.Phrase}
	if sex, err := model.ParseSex(q.Sex); err == nil {
		query.Sex = &sex
	}
	if q.Age.Known() {
		query.AgeMonths = new(q.Age.Months())
	}
	found := search.Items(lease.Release(), query)
	for _, item := range record.Slice(found, page) {
		items = append(items, record.Item{ID: item.ID, Name: strings.Clone(item.Name)}) // cloned because the release may be unmapped
	}
	return items, int64(len(found)), nil
}
