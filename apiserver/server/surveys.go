// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// newSurveyService returns the survey service on the process's storage and releases.
func (p *process) newSurveyService() (*service.Service, error) {
	texts, err := section.LoadTexts()
	if err != nil {
		return nil, fmt.Errorf("reading survey messages: %w", err)
	}
	return &service.Service{
		Storage: surveysStorage{Store: p.store}, Models: p.library, Engine: inference.New(), Texts: texts,
		Features: p.settings.features, Now: time.Now, Observer: p.metrics,
		LimiterFor: func(findings int) service.Limiter { return p.limiter.Assessments(findings) },
	}, nil
}

// features returns the tenant's features. In development, prefilling is always enabled.
func (s *settings) features() section.Features {
	features := s.config.Load().features
	features.Prefill = features.Prefill || s.devMode
	return features
}
