// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// Form fields for finding items of a knowledge list.
const (
	freeTextField   = "words"      // free text
	parsedTextField = "understood" // free text that was already parsed
	phraseField     = "phrase"     // beginning of a name
	searchedField   = "looked"     // phrase that was already searched for
	actionField     = "do"         // the pressed button
)

// Values of the buttons other than the submit button. All except the first belong to forms
// with a knowledge list.
const (
	actionSkip   = "skip"
	actionParse  = "understand"
	actionSearch = "find"
	actionAdd    = "add"
	actionRegion = "region:" // followed by the ID of a body region
)

// maxFound is the maximum number of search results; maxShown is the maximum length of a list
// that is shown in full.
const maxFound, maxShown = 15, 30

// A draft is an unfinished answer: the form values, the selected list items, and the items to
// select from.
type draft struct {
	Form    url.Values
	Problem *formError
	// For a knowledge list:
	Chosen, Found []chip
	More          bool // whether there are more results
	Looked        bool // whether a search ran
	Understood    bool // whether free text was parsed
	// For a list of symptoms:
	Body   *bodyView
	Region string // name of the selected region; empty if none is selected
}

// A chip is a selectable list item.
type chip struct {
	Value, Name string
	Absent      bool // the patient denied it
}

// isDraftAction reports whether a form continues a draft instead of submitting the answer: it
// is a search, or it contains free text that has not been parsed.
func isDraftAction(q *record.Question, form url.Values) bool {
	if q.AnswerType != record.AnswerList {
		return false
	}
	switch form.Get(actionField) {
	case actionParse, actionSearch, actionAdd:
		return true
	case actionSkip:
		return false
	}
	if strings.HasPrefix(form.Get(actionField), actionRegion) {
		return true
	}
	return hasUnreadText(form, freeTextField, parsedTextField) || hasUnreadText(form, phraseField, searchedField) && len(form[answerField]) == 0
}

// hasUnreadText reports whether a field contains text that has not been processed.
func hasUnreadText(form url.Values, field, read string) bool {
	text := normalizeText(form.Get(field))
	return text != "" && text != normalizeText(form.Get(read))
}

// showDraft renders the form after a draft action.
func (h *handlers) showDraft(w http.ResponseWriter, r *http.Request, view *flow.View, step *record.Step) {
	draft, err := h.newDraft(&step.Question, r.PostForm)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	status := http.StatusOK
	if draft.Problem != nil {
		status = http.StatusUnprocessableEntity
	}
	h.renderQuestion(w, r, status, view, step, draft)
}

// newDraft returns the draft of a form, with the items to select from.
func (h *handlers) newDraft(q *record.Question, form url.Values) (*draft, error) {
	d := &draft{Form: form}
	if q.AnswerType != record.AnswerList {
		return d, nil
	}
	var err error
	if d.Chosen, err = h.selectedChips(*q.Meta.SourceList, form[answerField]); err != nil {
		return nil, err
	}
	if hasUnreadText(form, freeTextField, parsedTextField) {
		if err := h.addParsedText(d, q, form.Get(freeTextField)); err != nil {
			return nil, err
		}
	}
	if q.Meta.SourceList.Name == record.SymptomList {
		if err := h.showBodyMap(d, q, strings.TrimPrefix(form.Get(actionField), actionRegion)); err != nil {
			return nil, err
		}
	}
	return d, h.searchList(d, q, strings.TrimSpace(form.Get(phraseField)))
}

// addParsedText parses free text and adds the mentioned items to the selected items.
func (h *handlers) addParsedText(d *draft, q *record.Question, words string) error {
	words = strings.TrimSpace(words)
	if len([]rune(words)) > section.MaxFreeTextLength {
		d.Problem = &formError{"error.words", []string{"max", strconv.Itoa(section.MaxFreeTextLength)}}
		return nil
	}
	items, err := h.Surveys.ParseText(*q.Meta.SourceList, words)
	if err != nil {
		return err
	}
	d.Understood = true
	for _, item := range items {
		d.Chosen = slices.DeleteFunc(d.Chosen, func(c chip) bool { return itemID(c.Value) == item.ID })
		d.Chosen = append(d.Chosen, newChip(item))
	}
	if len(items) == 0 {
		d.Understood = false
		d.Problem = &formError{MessageID: "words.nothing"}
	}
	return nil
}

// searchList searches for a phrase. A short list is shown in full.
func (h *handlers) searchList(d *draft, q *record.Question, phrase string) error {
	list := *q.Meta.SourceList
	if d.Region != "" || phrase == "" && list.Name == record.SymptomList {
		return nil // a region is selected, or there is no phrase for the long list of symptoms
	}
	kind, err := search.ParseList(list.Name)
	if err != nil {
		return err
	}
	items, total, err := h.Surveys.SearchItems(service.ListQuery{
		List: kind, Phrase: phrase, Sex: list.Sex, Age: list.Age, Language: list.Language,
	}, record.Page{Limit: maxShown})
	if err != nil {
		return err
	}
	d.Looked = phrase != ""
	if !d.Looked && total > maxShown {
		return nil
	}
	if d.Looked && len(items) > maxFound {
		items = items[:maxFound]
	}
	d.More = total > int64(len(items))
	d.addFound(items)
	return nil
}

// isChosen reports whether an item is chosen.
func (d *draft) isChosen(id string) bool {
	return slices.ContainsFunc(d.Chosen, func(c chip) bool { return itemID(c.Value) == id })
}

// selectedChips returns the items selected in a form with their names. It omits items that
// the list does not contain.
func (h *handlers) selectedChips(list record.SourceList, values []string) ([]chip, error) {
	ids := make([]string, len(values))
	for i, value := range values {
		ids[i] = itemID(value)
	}
	items, err := h.Surveys.ItemsByID(list, ids)
	if err != nil {
		return nil, err
	}
	var chips []chip
	for _, item := range items {
		if slices.ContainsFunc(chips, func(c chip) bool { return itemID(c.Value) == item.ID }) {
			continue
		}
		_, item.ChoiceID, _ = strings.Cut(values[slices.Index(ids, item.ID)], choiceSeparator)
		chips = append(chips, newChip(item))
	}
	return chips, nil
}

func newChip(item record.Item) chip {
	return chip{Value: encodeListItem(item), Name: item.Name, Absent: item.ChoiceID == record.ChoiceAbsent}
}

// itemID returns the ID in the form value of a list item.
func itemID(value string) string {
	id, _, _ := strings.Cut(value, choiceSeparator)
	return id
}
