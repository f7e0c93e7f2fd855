// SPDX-License-Identifier: Apache-2.0

package service

import (
	"errors"
	"strings"

	"golang.org/x/text/language"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Models leases releases. *model.Library implements it.
type Models interface {
	// Acquire leases the release of a model, or of the default model if the ID is empty.
	// For a model that is not served, the error is a *model.UnknownModelError.
	Acquire(modelID string) (*model.Lease, error)
	// Releases returns the served releases, the default first.
	Releases() []model.Meta
}

// A leasedEnv is the environment of a survey with the lease to release after the call.
type leasedEnv struct {
	section.Env
	lease *model.Lease
}

func (w leasedEnv) release() { w.lease.Done() }

// envForModel returns the environment of a model, or of the default model if the ID is
// empty.
func (r *Service) envForModel(modelID string) (leasedEnv, error) {
	lease, err := r.Models.Acquire(modelID)
	if err != nil {
		return leasedEnv{}, err
	}
	release := lease.Release()
	return leasedEnv{section.Env{
		Release: release, Engine: r.Engine, Texts: r.Texts.Match(release.Meta.Language),
		Lists: section.ReleaseLists{Release: release}, Features: r.Features(),
	}, lease}, nil
}

// envForSurvey returns the environment of the model that the survey started with, else
// of a model in its language, else of the default model.
func (r *Service) envForSurvey(s *record.Survey) (leasedEnv, error) {
	w, err := r.envForModel(s.ModelID)
	if unknown := (*model.UnknownModelError)(nil); !errors.As(err, &unknown) {
		return w, err
	}
	modelID, _ := r.matchModel(s.Language)
	return r.envForModel(modelID)
}

// matchModel returns the model that best matches the languages, given as a tag or an
// Accept-Language header, and reports whether any model matches.
func (r *Service) matchModel(languages string) (modelID string, speaks bool) {
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

// selectModel returns the model of the requested language, which must be served;
// without a request, the model of an accepted language, else the default model.
func (r *Service) selectModel(asked, accepted string) (modelID string, err error) {
	if asked == "" {
		modelID, _ = r.matchModel(accepted)
		return modelID, nil
	}
	modelID, speaks := r.matchModel(asked)
	if !speaks {
		return "", assessment.NotSupported("language", asked, "one of "+strings.Join(r.servedLanguages(), ", "))
	}
	return modelID, nil
}

func (r *Service) servedLanguages() []string {
	served := r.Models.Releases()
	languages := make([]string, len(served))
	for i, meta := range served {
		languages[i] = meta.Language
	}
	return languages
}
