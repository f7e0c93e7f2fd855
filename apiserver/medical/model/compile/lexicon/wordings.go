// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp/match"
)

// The maximum number of words between two words of a wording: by default, and at three
// dots.
const (
	defaultGap = 2
	wideGap    = 6
)

// maxForms is the maximum number of forms of a wording, including the forms of its
// classes and of the observations that it refers to.
const maxForms = 2048

// matchMode is how strictly a wording is matched.
type matchMode struct {
	gap         uint8 // between words without dots
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
	trailingWideGap bool // dots after the last element
	fromReference   bool // contains a reference, whose forms another author wrote
}

// parse parses a wording without references to observations.
func (b *builder) parse(text string, as matchMode) (wording, error) {
	return b.parseWithReferences(text, as, func(string) (wording, error) {
		return wording{}, errors.New("unexpected reference to an observation: only wordings of observations may have one")
	})
}

// parseWithReferences parses a wording. It calls resolve for references.
func (b *builder) parseWithReferences(text string, as matchMode, resolve func(slug string) (wording, error)) (wording, error) {
	parsed, err := match.Parse(text)
	if err != nil {
		return wording{}, err
	}
	return b.resolve(parsed, as, resolve)
}

func (b *builder) resolve(parsed match.Wording, as matchMode, resolve func(slug string) (wording, error)) (wording, error) {
	expanded, err := parsed.Expand()
	if err != nil {
		return wording{}, err
	}
	w := wording{anyOrder: parsed.AnyOrder}
	for _, elements := range expanded {
		forms, anyOrder, err := b.expandForms(elements, as, resolve)
		if err != nil {
			return wording{}, err
		}
		w.anyOrder = w.anyOrder || anyOrder
		if w.forms = append(w.forms, forms...); len(w.forms) > maxForms {
			return wording{}, fmt.Errorf("more than %d forms, including its classes and references", maxForms)
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
func (b *builder) expandForms(elements []match.Element, as matchMode, resolve func(slug string) (wording, error)) (forms []form, anyOrder bool, err error) {
	forms = []form{{}}
	for _, e := range elements {
		options, mixed, err := b.elementOptions(e, as, resolve)
		if err != nil {
			return nil, false, err
		}
		anyOrder = anyOrder || mixed
		if len(forms)*len(options) > maxForms {
			return nil, false, fmt.Errorf("more than %d forms, including its classes and references", maxForms)
		}
		var longer []form
		for _, f := range forms {
			for _, option := range options {
				longer = append(longer, f.extend(option, e.GapBefore, as.gap))
			}
		}
		forms = longer
	}
	return forms, anyOrder, nil
}

// extend returns a form with an option appended.
func (f form) extend(option form, dots bool, gap uint8) form {
	dots = dots || f.trailingWideGap
	joined := form{fromReference: f.fromReference || option.fromReference, trailingWideGap: dots && len(option.elements) == 0 && len(f.elements) > 0}
	joined.elements = slices.Concat(f.elements, option.elements)
	if at := len(f.elements); len(option.elements) > 0 && at > 0 {
		joined.elements[at].Gap = gap
		if dots {
			joined.elements[at].Gap = wideGap
		}
	}
	return joined
}

// elementOptions returns the forms that can match an element.
func (b *builder) elementOptions(e match.Element, as matchMode, resolve func(slug string) (wording, error)) (elementOptions []form, anyOrder bool, err error) {
	switch e.Kind {
	case match.Word:
		if b.fillers[e.Text] && !as.keepFillers {
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
		return b.choiceOptions(e.Words, as), false, nil
	default:
		referred, err := resolve(e.Text)
		for _, f := range referred.forms {
			f.fromReference = true
			elementOptions = append(elementOptions, f)
		}
		return elementOptions, referred.anyOrder, err
	}
}

// usableForms returns the forms that can be matched. Forms that are too long or empty are
// errors, unless they come from a reference.
func usableForms(forms []form) ([]form, error) {
	var fit []form
	for _, f := range forms {
		switch {
		case len(f.elements) == 0:
			return nil, errors.New("at least one of its forms consists of fillers only")
		case len(f.elements) <= model.MaxPatternElements:
			fit = append(fit, f)
		case !f.fromReference:
			return nil, fmt.Errorf("%d words excluding fillers in at least one of its forms: expected at most %d", len(f.elements), model.MaxPatternElements)
		}
	}
	return fit, nil
}

// equalizeGaps sets the largest gap on all elements: in any order, each may follow any
// other.
func equalizeGaps(elements []model.DraftElement) {
	greatest := uint8(0)
	for i := 1; i < len(elements); i++ {
		greatest = max(greatest, elements[i].Gap)
	}
	for i := range elements {
		elements[i].Gap = greatest
	}
}
