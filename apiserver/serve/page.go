// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// pages is what patients see.
func (p *process) pages(sessions page.Sessions, guessers *throttle.Throttle) http.Handler {
	options := page.Options{
		Surveys: p.surveys, People: p.people, Sessions: sessions, Content: p.pageContent,
		Look: func() *config.Page { return &p.settings.config.Load().Page },
		Now:  time.Now, Guard: p.guard, Throttle: guessers, Log: p.log,
	}
	if p.Dev {
		options.Demonstrate = p.demonstrate
	}
	return page.New(options)
}

// developer is who makes what is tried in development.
var developer = audit.Actor{Application: developmentID}

// demonstrate makes a survey of a patient of a user, all of them new.
func (p *process) demonstrate(ctx context.Context, wanted page.Demonstration) (identity.Session, error) {
	user, err := p.people.CreateUser(ctx, developer, guidance.Contact{})
	if err != nil {
		return identity.Session{}, err
	}
	patient, err := p.people.CreatePatient(ctx, developer, guidance.Patient{UserID: user.ID, Dependent: wanted.Dependent, Age: wanted.Age})
	if err != nil {
		return identity.Session{}, err
	}
	made, err := p.surveys.Create(ctx, developer, surveys.NewSurvey{
		PatientID: patient.ID, Accepts: wanted.Accepts, Creation: survey.Creation{Type: string(wanted.Type)},
	})
	return identity.Session{UserID: user.ID, SurveyID: made.ID}, err
}
