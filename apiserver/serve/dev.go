// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/docs"
)

// The application that --dev serves.
const (
	developmentID  = "dev"
	developmentKey = "dev-key"
)

// greeting is what a developer sees: a call that works as it stands, where the
// application is the one that --dev makes up.
func greeting(s started) string {
	application := s.application
	if application.ID == "" {
		application = docs.Application{ID: "<id>", Key: "<key>"}
	}
	return fmt.Sprintf(`Anamnesis serves on http://%[1]s, for the application %[2]s with the key %[3]s. Ask it:

  curl -H 'App-Id: %[2]s' -H 'App-Key: %[3]s' -H 'Content-Type: application/json' \
    -d '{"sex":"female","age":{"value":34},"evidence":[{"id":"%[4]s","choice_id":"present","source":"initial"}]}' \
    http://%[1]s/v3/diagnosis

Read what else it answers, and try it out: http://%[1]s/docs
See what patients see, in a survey of your own: http://%[1]s/survey/demo

`, s.tenant, application.ID, application.Key, s.symptom)
}

// exampleSymptom is the symptom that says most: of those that any adult can be
// asked about, the one that the most conditions bring.
func exampleSymptom(r *model.Release) string {
	const adult = 34 * 12
	best := model.ObservationIndex(model.None)
	for _, i := range catalogue.Observations(r, model.Symptom, adult) {
		o := &r.Observations[i]
		asked := o.Parent == model.None && o.Question.Length > 0 && o.Sex == model.BothSexes
		if asked && (best == model.None || o.Links.Len() > r.Observations[best].Links.Len()) {
			best = i
		}
	}
	if best == model.None {
		return "s_1"
	}
	return r.ObservationID(best)
}
