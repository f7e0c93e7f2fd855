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
	// Acquire leases the release of a model, or of the default model if the ID is empty. If
	// the model is not served, the error is a *model.UnknownModelError.
	Acquire(modelID string) (*model.Lease, error)
	// Releases returns the served releases, the default first.
	Releases() []model.Meta
}

// A leasedEnv is the environment of a survey with the lease of its release. Callers release
// it when they are done.
type leasedEnv struct {
	section.Env
	lease *model.Lease
}

func (env leasedEnv) release() { env.lease.Done() }

// envForModel returns the environment of a model, or of the default model if the ID is
// empty.
func (s *Service) envForModel(modelID string) (leasedEnv, error) {
	lease, err := s.Models.Acquire(modelID)
	if err != nil {
		return leasedEnv{}, err
	}
	release := lease.Release()
	return leasedEnv{section.Env{
		Release: release, Engine: s.Engine, Texts: s.Texts.Match(release.Meta.Language),
		Lists: section.ReleaseLists{Release: release}, Features: s.Features(),
	}, lease}, nil
}

// envForSurvey returns the environment of the model that the survey started with. If the
// model is not served, it falls back to a model in the language of the survey, and then to
// the default model.
func (s *Service) envForSurvey(survey *record.Survey) (leasedEnv, error) {
	env, err := s.envForModel(survey.ModelID)
	if unknown := (*model.UnknownModelError)(nil); !errors.As(err, &unknown) {
		return env, err
	}
	modelID, _ := s.matchModel(survey.Language)
	return s.envForModel(modelID)
}

// matchModel returns the model that best matches the languages, given as a tag or an
// Accept-Language header, and reports whether any model matches.
func (s *Service) matchModel(languages string) (modelID string, matched bool) {
	preferred, _, err := language.ParseAcceptLanguage(languages)
	if err != nil || len(preferred) == 0 {
		return "", false
	}
	served := s.Models.Releases()
	tags := make([]language.Tag, len(served))
	for i, meta := range served {
		tags[i] = language.Make(meta.Language)
	}
	_, position, confidence := language.NewMatcher(tags).Match(preferred...)
	if confidence < language.High {
		return "", false
	}
	return served[position].ModelID, true
}

// selectModel returns the model for the requested language, which must be served. Without a
// requested language, it returns the model for an accepted language, or the default model.
func (s *Service) selectModel(requested, accepted string) (modelID string, err error) {
	if requested == "" {
		modelID, _ = s.matchModel(accepted)
		return modelID, nil
	}
	modelID, matched := s.matchModel(requested)
	if !matched {
		return "", assessment.NotSupported("language", requested, "one of "+strings.Join(s.servedLanguages(), ", "))
	}
	return modelID, nil
}

func (s *Service) servedLanguages() []string {
	served := s.Models.Releases()
	languages := make([]string, len(served))
	for i, meta := range served {
		languages[i] = meta.Language
	}
	return languages
}
