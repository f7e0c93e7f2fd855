// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/search"
)

// A ListQuery says which entries of a knowledge list are wanted, and in which words.
type ListQuery struct {
	List     search.List
	Phrase   string // empty for all
	Sex      string // female or male; empty for both
	Age      guidance.Age
	Language string // empty: one that the client accepts
	Accepts  string // as in the header Accept-Language
}

// Items is a part of a knowledge list, and how many entries there are.
func (r *Register) Items(q ListQuery, page Page) (items []guidance.Item, total int64, err error) {
	modelID, err := r.chosenModel(q.Language, q.Accepts)
	if err != nil {
		return nil, 0, err
	}
	lease, err := r.Models.Acquire(modelID)
	if err != nil {
		return nil, 0, err
	}
	defer lease.Done()
	wanted := search.ListQuery{List: q.List, Phrase: q.Phrase}
	if sex, err := model.ParseSex(q.Sex); err == nil {
		wanted.Sex = &sex
	}
	if q.Age.Known() {
		wanted.AgeMonths = new(q.Age.Months())
	}
	found := search.Items(lease.Release(), wanted)
	total = int64(len(found))
	from := min(page.Skipped, total)
	for _, item := range found[from:min(from+page.AtMost, total)] {
		items = append(items, guidance.Item{ID: item.ID, Name: strings.Clone(item.Name)}) // of a release that may go
	}
	return items, total, nil
}
