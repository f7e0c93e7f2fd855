// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// The maximum number of words between two words of a wording: by default, and for three
// dots.
const (
	defaultGap = 2
	wideGap    = 6
)

// maxForms is the maximum number of forms of a wording, including the forms of its
// classes and references.
const maxForms = 2048

// A matchMode determines how strictly a wording is matched.
type matchMode struct {
	gap         uint8 // maximum number of words between words without dots
	keepFillers bool  // whether fillers count
}

var (
	loose   = matchMode{gap: defaultGap}
	literal = matchMode{gap: 0, keepFillers: true}
)

// A wording is a wording with its forms, in which classes are expanded, references
// resolved and fillers removed.
type wording struct {
	anyOrder bool
	forms    []form
}

// A form is a sequence of elements to match in a text.
type form struct {
	elements        []model.DraftElement
	trailingWideGap bool // whether dots follow the last element
	fromReference   bool // whether it contains forms of a reference, which another author wrote
}

// parse parses a wording without references to observations.
func (b *builder) parse(text string, mode matchMode) (wording, error) {
	return b.parseWithReferences(text, mode, func(string) (wording, error) {
		return wording{}, errors.New("references are only allowed in observation wordings")
	})
}

// parseWithReferences parses a wording. It calls resolve for each reference.
func (b *builder) parseWithReferences(text string, mode matchMode, resolve func(slug string) (wording, error)) (wording, error) {
	parsed, err := match.Parse(text)
	if err != nil {
		return wording{}, err
	}
	return b.resolve(parsed, mode, resolve)
}

func (b *builder) resolve(parsed match.Wording, mode matchMode, resolve func(slug string) (wording, error)) (wording, error) {
	expanded, err := parsed.Expand()
	if err != nil {
		return wording{}, err
	}
	w := wording{anyOrder: parsed.AnyOrder}
	for _, elements := range expanded {
		forms, anyOrder, err := b.expandForms(elements, mode, resolve)
		if err != nil {
			return wording{}, err
		}
		w.anyOrder = w.anyOrder || anyOrder
		if w.forms = append(w.forms, forms...); len(w.forms) > maxForms {
			return wording{}, fmt.Errorf("wording expands to more than %d forms, including classes and references", maxForms)
		}
	}
	if w.forms, err = usableForms(w.forms); err != nil {
		return wording{}, err
	}
	if w.anyOrder {
		for _, f := range w.forms {
			equalizeGaps(f.elements)
		}
	}
	return w, nil
}

// expandForms expands a wording without alternatives into its forms.
func (b *builder) expandForms(elements []match.Element, mode matchMode, resolve func(slug string) (wording, error)) (forms []form, anyOrder bool, err error) {
	forms = []form{{}}
	for _, e := range elements {
		options, anyElementOrder, err := b.elementOptions(e, mode, resolve)
		if err != nil {
			return nil, false, err
		}
		anyOrder = anyOrder || anyElementOrder
		if len(forms)*len(options) > maxForms {
			return nil, false, fmt.Errorf("wording expands to more than %d forms, including classes and references", maxForms)
		}
		var longer []form
		for _, f := range forms {
			for _, option := range options {
				longer = append(longer, f.extend(option, e.GapBefore, mode.gap))
			}
		}
		forms = longer
	}
	return forms, anyOrder, nil
}

// extend returns a form with an option appended.
func (f form) extend(option form, hasDots bool, gap uint8) form {
	hasDots = hasDots || f.trailingWideGap
	joined := form{fromReference: f.fromReference || option.fromReference, trailingWideGap: hasDots && len(option.elements) == 0 && len(f.elements) > 0}
	joined.elements = slices.Concat(f.elements, option.elements)
	if first := len(f.elements); len(option.elements) > 0 && first > 0 {
		joined.elements[first].Gap = gap
		if hasDots {
			joined.elements[first].Gap = wideGap
		}
	}
	return joined
}

// elementOptions returns the forms that can match an element.
func (b *builder) elementOptions(e match.Element, mode matchMode, resolve func(slug string) (wording, error)) (options []form, anyOrder bool, err error) {
	switch e.Kind {
	case match.Word:
		if b.fillers[e.Text] && !mode.keepFillers {
			return []form{{}}, false, nil
		}
		return []form{{elements: []model.DraftElement{{Word: e.Text}}}}, false, nil
	case match.Number:
		return []form{{elements: []model.DraftElement{{Kind: model.NumberElement, From: e.From, To: e.To}}}}, false, nil
	case match.Time:
		return []form{{elements: []model.DraftElement{{Kind: model.TimeElement}}}}, false, nil
	case match.Class:
		c := b.classes[e.Text]
		if c == nil {
			return nil, false, fmt.Errorf("unknown class <%s>", e.Text)
		}
		c.used = true
		return c.forms(), false, nil
	case match.Choice:
		return b.choiceOptions(e.Words, mode), false, nil
	default:
		reference, err := resolve(e.Text)
		for _, f := range reference.forms {
			f.fromReference = true
			options = append(options, f)
		}
		return options, reference.anyOrder, err
	}
}

// usableForms returns the forms that can be matched. It returns an error if a form is
// empty, or too long and not from a reference.
func usableForms(forms []form) ([]form, error) {
	var usable []form
	for _, f := range forms {
		switch {
		case len(f.elements) == 0:
			return nil, errors.New("wording has a form that consists only of fillers")
		case len(f.elements) <= model.MaxPatternElements:
			usable = append(usable, f)
		case !f.fromReference:
			return nil, fmt.Errorf("wording has a form with %d words, not counting fillers: expected at most %d", len(f.elements), model.MaxPatternElements)
		}
	}
	return usable, nil
}

// equalizeGaps sets the gaps of all elements to the largest gap, because in any order,
// each element may follow any other.
func equalizeGaps(elements []model.DraftElement) {
	largest := uint8(0)
	for i := 1; i < len(elements); i++ {
		largest = max(largest, elements[i].Gap)
	}
	for i := range elements {
		elements[i].Gap = largest
	}
}
