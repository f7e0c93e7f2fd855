// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/search"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// The fields of a form by which somebody finds items of a list.
const (
	wordsField      = "words"      // in one's own words
	understoodField = "understood" // the words that were read already
	phraseField     = "phrase"     // the beginning of a name
	lookedField     = "looked"     // the phrase that was looked for already
	doField         = "do"         // the button
)

// What the buttons of a form do, beside the one that goes on: all but the first are of
// such a form.
const (
	doSkip       = "skip"
	doUnderstand = "understand"
	doFind       = "find"
	doAdd        = "add"
	doRegion     = "region:" // with the id of a region of the body
)

// mostFound is how many items of a list are shown at a time, and mostShown up to how many
// a list is shown whole.
const mostFound, mostShown = 15, 30

// A draft is a form on the way to an answer: what is filled in, what of a list is chosen,
// and what there is to choose.
type draft struct {
	Form    url.Values
	Problem *problem
	// Of a list:
	Chosen, Found []chip
	More          bool // whether more was found
	Looked        bool // whether something was looked for
	Understood    bool // whether words were read
	// Of a list of symptoms:
	Body   *bodyView
	Region string // the name of what was pointed at; empty for nothing
}

// A chip is an item of a list that can be chosen.
type chip struct {
	Value, Name string
	Absent      bool // it is said not to be there
}

// isDrafting says whether a form is a step on the way to an answer: somebody looks for
// something, or goes on with words that were not read yet.
func isDrafting(q *guidance.Question, form url.Values) bool {
	if q.AnswerType != guidance.List {
		return false
	}
	switch form.Get(doField) {
	case doUnderstand, doFind, doAdd:
		return true
	case doSkip:
		return false
	}
	if strings.HasPrefix(form.Get(doField), doRegion) {
		return true
	}
	return unread(form, wordsField, understoodField) || unread(form, phraseField, lookedField) && len(form[answerField]) == 0
}

// unread says whether a field has a text that nobody has read yet.
func unread(form url.Values, field, read string) bool {
	text := plain(form.Get(field))
	return text != "" && text != plain(form.Get(read))
}

// drafting shows a form after a step on the way to an answer.
func (h *handlers) drafting(w http.ResponseWriter, r *http.Request, sight *survey.Sight, step *guidance.Step) {
	draft, err := h.draftOf(&step.Question, r.PostForm)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	status := http.StatusOK
	if draft.Problem != nil {
		status = http.StatusUnprocessableEntity
	}
	h.ask(w, r, status, sight, step, draft)
}

// draftOf is a form with what can be chosen.
func (h *handlers) draftOf(q *guidance.Question, form url.Values) (*draft, error) {
	d := &draft{Form: form}
	if q.AnswerType != guidance.List {
		return d, nil
	}
	var err error
	if d.Chosen, err = h.chips(*q.Meta.SourceList, form[answerField]); err != nil {
		return nil, err
	}
	if unread(form, wordsField, understoodField) {
		if err := h.understand(d, q, form.Get(wordsField)); err != nil {
			return nil, err
		}
	}
	if q.Meta.SourceList.Name == guidance.SymptomList {
		if err := h.point(d, q, strings.TrimPrefix(form.Get(doField), doRegion)); err != nil {
			return nil, err
		}
	}
	return d, h.find(d, q, strings.TrimSpace(form.Get(phraseField)))
}

// understand adds what words say to what is chosen.
func (h *handlers) understand(d *draft, q *guidance.Question, words string) error {
	words = strings.TrimSpace(words)
	if len([]rune(words)) > section.LongestWords {
		d.Problem = &problem{"error.words", []string{"max", strconv.Itoa(section.LongestWords)}}
		return nil
	}
	items, err := h.Surveys.Understand(*q.Meta.SourceList, words)
	if err != nil {
		return err
	}
	d.Understood = true
	for _, item := range items {
		d.Chosen = slices.DeleteFunc(d.Chosen, func(c chip) bool { return idOf(c.Value) == item.ID })
		d.Chosen = append(d.Chosen, chipOf(item))
	}
	if len(items) == 0 {
		d.Understood = false
		d.Problem = &problem{Text: "words.nothing"}
	}
	return nil
}

// find looks a phrase up; a short list it shows whole.
func (h *handlers) find(d *draft, q *guidance.Question, phrase string) error {
	list := *q.Meta.SourceList
	if d.Region != "" || phrase == "" && list.Name == guidance.SymptomList {
		return nil // something else was looked for, or nothing in a list that is long
	}
	kind, err := search.ParseList(list.Name)
	if err != nil {
		return err
	}
	items, total, err := h.Surveys.Items(surveys.ListQuery{
		List: kind, Phrase: phrase, Sex: list.Sex, Age: list.Age, Language: list.Language,
	}, surveys.Page{AtMost: mostShown})
	if err != nil {
		return err
	}
	d.Looked = phrase != ""
	if !d.Looked && total > mostShown {
		return nil
	}
	if d.Looked && len(items) > mostFound {
		items = items[:mostFound]
	}
	d.More = total > int64(len(items))
	d.offer(items)
	return nil
}

// has says whether an item is among those that are chosen.
func (d *draft) has(id string) bool {
	return slices.ContainsFunc(d.Chosen, func(c chip) bool { return idOf(c.Value) == id })
}

// chips are the items that a form names, with the names that the list has; what it does
// not have is left out.
func (h *handlers) chips(list guidance.SourceList, values []string) ([]chip, error) {
	ids := make([]string, len(values))
	for i, value := range values {
		ids[i] = idOf(value)
	}
	items, err := h.Surveys.Named(list, ids)
	if err != nil {
		return nil, err
	}
	var chips []chip
	for _, item := range items {
		if slices.ContainsFunc(chips, func(c chip) bool { return idOf(c.Value) == item.ID }) {
			continue
		}
		_, item.ChoiceID, _ = strings.Cut(values[slices.Index(ids, item.ID)], besides)
		chips = append(chips, chipOf(item))
	}
	return chips, nil
}

func chipOf(item guidance.Item) chip {
	return chip{Value: listValue(item), Name: item.Name, Absent: item.ChoiceID == guidance.Absent}
}

// idOf is the id in what a form says for an item of a list.
func idOf(value string) string {
	id, _, _ := strings.Cut(value, besides)
	return id
}
