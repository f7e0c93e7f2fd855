// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// The application that --dev creates.
const (
	devApplicationID  = "dev"
	devApplicationKey = "dev-key"
)

// devBanner returns the startup message for developers. Its example call works as printed
// if --dev created the application.
func devBanner(s startInfo) string {
	application := s.application
	if application.ID == "" {
		application = docs.Application{ID: "<id>", Key: "<key>"}
	}
	return fmt.Sprintf(`Anamnesis is listening on http://%[1]s (application %[2]s, key %[3]s). Try it:

  curl -H 'App-Id: %[2]s' -H 'App-Key: %[3]s' -H 'Content-Type: application/json' \
    -d '{"sex":"female","age":{"value":34},"evidence":[{"id":"%[4]s","choice_id":"present","source":"initial"}]}' \
    http://%[1]s/v3/diagnosis

API reference: http://%[1]s/docs
Demo survey, as patients see it: http://%[1]s/survey/demo

`, s.tenant, application.ID, application.Key, s.symptom)
}

// pickExampleSymptom returns the symptom that applies to any adult and occurs in the most
// conditions.
func pickExampleSymptom(r *model.Release) string {
	const adult = 34 * 12
	best := model.ObservationIndex(model.None)
	for _, i := range catalog.Observations(r, model.Symptom, adult) {
		o := &r.Observations[i]
		standalone := o.Parent == model.None && o.Question.Length > 0 && o.Sex == model.BothSexes
		if standalone && (best == model.None || o.Links.Len() > r.Observations[best].Links.Len()) {
			best = i
		}
	}
	if best == model.None {
		return "s_1"
	}
	return r.ObservationID(best)
}
