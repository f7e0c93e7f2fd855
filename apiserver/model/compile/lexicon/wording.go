// SPDX-License-Identifier: Apache-2.0

package lexicon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/pattern"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// How many words may stand between two of a wording, by where it stands, and
// where it has three dots.
const (
	near = 2
	wide = 6
)

// mostForms is how many forms a wording has at most, with those of classes and
// of the observations that it refers to.
const mostForms = 2048

// manner is how strictly a wording is taken.
type manner struct {
	gap     uint8 // between words without dots
	fillers bool  // whether they count
}

var (
	loose   = manner{gap: near}
	literal = manner{gap: 0, fillers: true}
)

// A wording is one with its forms, in which classes are chosen, references
// followed and fillers left out.
type wording struct {
	anyOrder bool
	forms    []form
}

// A form is what is to be found in a text.
type form struct {
	elements []model.DraftElement
	wide     bool // dots behind the last element
	far      bool // by a reference, whose forms are of another's making
}

// parse reads a wording that refers to no observation.
func (b *builder) parse(text string, as manner) (wording, error) {
	return b.parseReferring(text, as, func(string) (wording, error) {
		return wording{}, errors.New("a reference to an observation, which only wordings of observations may have")
	})
}

// parseReferring reads a wording. References are followed by resolve.
func (b *builder) parseReferring(text string, as manner, resolve func(slug string) (wording, error)) (wording, error) {
	parsed, err := pattern.Parse(text)
	if err != nil {
		return wording{}, err
	}
	return b.resolve(parsed, as, resolve)
}

func (b *builder) resolve(parsed pattern.Wording, as manner, resolve func(slug string) (wording, error)) (wording, error) {
	expanded, err := parsed.Expand()
	if err != nil {
		return wording{}, err
	}
	w := wording{anyOrder: parsed.AnyOrder}
	for _, elements := range expanded {
		forms, anyOrder, err := b.choose(elements, as, resolve)
		if err != nil {
			return wording{}, err
		}
		w.anyOrder = w.anyOrder || anyOrder
		if w.forms = append(w.forms, forms...); len(w.forms) > mostForms {
			return wording{}, fmt.Errorf("more than %d forms, with those of its classes and references", mostForms)
		}
	}
	if w.forms, err = fitting(w.forms); err != nil {
		return wording{}, err
	}
	if w.anyOrder {
		for _, f := range w.forms {
			levelGaps(f.elements)
		}
	}
	return w, nil
}

// choose makes the forms of a wording without alternatives.
func (b *builder) choose(elements []pattern.Element, as manner, resolve func(slug string) (wording, error)) (forms []form, anyOrder bool, err error) {
	forms = []form{{}}
	for _, e := range elements {
		options, mixed, err := b.options(e, as, resolve)
		if err != nil {
			return nil, false, err
		}
		anyOrder = anyOrder || mixed
		if len(forms)*len(options) > mostForms {
			return nil, false, fmt.Errorf("more than %d forms, with those of its classes and references", mostForms)
		}
		var longer []form
		for _, f := range forms {
			for _, option := range options {
				longer = append(longer, f.with(option, e.Wide, as.gap))
			}
		}
		forms = longer
	}
	return forms, anyOrder, nil
}

// with is a form with an option at its end.
func (f form) with(option form, dots bool, gap uint8) form {
	dots = dots || f.wide
	joined := form{far: f.far || option.far, wide: dots && len(option.elements) == 0 && len(f.elements) > 0}
	joined.elements = slices.Concat(f.elements, option.elements)
	if at := len(f.elements); len(option.elements) > 0 && at > 0 {
		joined.elements[at].Gap = gap
		if dots {
			joined.elements[at].Gap = wide
		}
	}
	return joined
}

// options are what may stand for an element.
func (b *builder) options(e pattern.Element, as manner, resolve func(slug string) (wording, error)) (options []form, anyOrder bool, err error) {
	switch e.Kind {
	case pattern.Word:
		if b.fillers[e.Text] && !as.fillers {
			return []form{{}}, false, nil
		}
		return []form{{elements: []model.DraftElement{{Word: e.Text}}}}, false, nil
	case pattern.Number:
		return []form{{elements: []model.DraftElement{{Kind: model.NumberElement, From: e.From, To: e.To}}}}, false, nil
	case pattern.Time:
		return []form{{elements: []model.DraftElement{{Kind: model.TimeElement}}}}, false, nil
	case pattern.Class:
		c := b.classes[e.Text]
		if c == nil {
			return nil, false, fmt.Errorf("unknown class <%s>", e.Text)
		}
		c.used = true
		return c.options(), false, nil
	case pattern.Choice:
		return b.chooseWord(e.Words, as), false, nil
	default:
		referred, err := resolve(e.Text)
		for _, f := range referred.forms {
			f.far = true
			options = append(options, f)
		}
		return options, referred.anyOrder, err
	}
}

// fitting are the forms that can be looked for. Those that are too long or say
// nothing are errors, unless a reference made them.
func fitting(forms []form) ([]form, error) {
	var fit []form
	for _, f := range forms {
		switch {
		case len(f.elements) == 0:
			return nil, errors.New("nothing but fillers, at least in one of its forms")
		case len(f.elements) <= model.MostElements:
			fit = append(fit, f)
		case !f.far:
			return nil, fmt.Errorf("%d words without fillers, at least in one of its forms: expected %d at most", len(f.elements), model.MostElements)
		}
	}
	return fit, nil
}

// levelGaps gives all elements the greatest gap: in any order each may be
// behind any other.
func levelGaps(elements []model.DraftElement) {
	greatest := uint8(0)
	for i := 1; i < len(elements); i++ {
		greatest = max(greatest, elements[i].Gap)
	}
	for i := range elements {
		elements[i].Gap = greatest
	}
}
