// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// newSurveys is the register of surveys over the process's storage and releases.
func (p *process) newSurveys() (*surveys.Register, error) {
	words, err := section.ReadVocabulary()
	if err != nil {
		return nil, fmt.Errorf("reading the words of surveys: %w", err)
	}
	return &surveys.Register{
		Storage: p.store, Models: p.library, Engine: engine.New(), Words: words,
		Features: p.settings.features, Now: time.Now, Observer: p.metrics,
		Lane: func(findings int) surveys.Lane { return p.guard.Lane(findings) },
	}, nil
}

// features are what the tenant turned on and off; in development prefilling is on, so
// that it can be tried.
func (s *settings) features() section.Features {
	features := s.config.Load().Features
	features.Prefill = features.Prefill || s.development
	return features
}
