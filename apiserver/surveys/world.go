// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"errors"
	"strings"

	"golang.org/x/text/language"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Models lends releases. *model.Library is one.
type Models interface {
	// Acquire leases the release of a model, of the default one when the id is empty.
	// Its error for a model that is not served is a *model.UnknownModelError.
	Acquire(modelID string) (*model.Lease, error)
	// Releases says what is served, the default first.
	Releases() []model.Meta
}

// A world is what a survey goes on in, and what has to be given back after the call.
type world struct {
	section.World
	lease *model.Lease
}

func (w world) done() { w.lease.Done() }

// worldIn is the world of a model, of the default one for an empty id.
func (r *Register) worldIn(modelID string) (world, error) {
	lease, err := r.Models.Acquire(modelID)
	if err != nil {
		return world{}, err
	}
	release := lease.Release()
	return world{section.World{
		Release: release, Engine: r.Engine, Words: r.Words.In(release.Meta.Language),
		Lists: section.ReleaseLists{Release: release}, Features: r.Features(),
	}, lease}, nil
}

// worldOf is the world of a survey: of the model that it began with, else of one in
// its language, else of the default one.
func (r *Register) worldOf(s *guidance.Survey) (world, error) {
	w, err := r.worldIn(s.ModelID)
	if unknown := (*model.UnknownModelError)(nil); !errors.As(err, &unknown) {
		return w, err
	}
	modelID, _ := r.modelFor(s.Language)
	return r.worldIn(modelID)
}

// modelFor is the model that speaks one of the languages, which are a tag or a list as
// in the header Accept-Language; and whether one does.
func (r *Register) modelFor(languages string) (modelID string, speaks bool) {
	wanted, _, err := language.ParseAcceptLanguage(languages)
	if err != nil || len(wanted) == 0 {
		return "", false
	}
	served := r.Models.Releases()
	tags := make([]language.Tag, len(served))
	for i, meta := range served {
		tags[i] = language.Make(meta.Language)
	}
	_, position, confidence := language.NewMatcher(tags).Match(wanted...)
	if confidence < language.High {
		return "", false
	}
	return served[position].ModelID, true
}

// chosenModel is the model of the language that a client asks for, which has to be
// served, else of one that it accepts, else the default one.
func (r *Register) chosenModel(asked, accepted string) (modelID string, err error) {
	if asked == "" {
		modelID, _ = r.modelFor(accepted)
		return modelID, nil
	}
	modelID, speaks := r.modelFor(asked)
	if !speaks {
		return "", assessment.WrongWord("language", asked, "one of "+strings.Join(r.languages(), ", "))
	}
	return modelID, nil
}

func (r *Register) languages() []string {
	served := r.Models.Releases()
	languages := make([]string, len(served))
	for i, meta := range served {
		languages[i] = meta.Language
	}
	return languages
}
