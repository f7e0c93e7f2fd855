// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// newPageHandler returns the handler of the patient pages.
func (p *process) newPageHandler(sessions page.Sessions, guessThrottle *throttle.Throttle) http.Handler {
	options := page.Options{
		Surveys: p.surveys, Users: p.users, Sessions: sessions, Content: p.pageContent,
		Theme: func() *page.Branding { return &p.settings.config.Load().page },
		Now:   time.Now, Limiter: p.limiter, Throttle: guessThrottle, Log: p.log,
	}
	if p.Dev {
		options.CreateDemoSurvey = p.createDemoSurvey
	}
	return page.New(options)
}

// devPrincipal is the principal that creates demo surveys in development.
var devPrincipal = identity.Principal{Actor: audit.Actor{Application: devApplicationID}}

// createDemoSurvey creates a user, a patient and a survey.
func (p *process) createDemoSurvey(ctx context.Context, demo page.DemoSurvey) (identity.Session, error) {
	user, err := p.users.CreateUser(ctx, devPrincipal, record.Contact{})
	if err != nil {
		return identity.Session{}, err
	}
	patient, err := p.users.CreatePatient(ctx, devPrincipal, record.Patient{UserID: user.ID, Dependent: demo.Dependent, Age: demo.Age})
	if err != nil {
		return identity.Session{}, err
	}
	survey, err := p.surveys.Create(ctx, devPrincipal, service.CreateRequest{
		PatientID: patient.ID, AcceptLanguage: demo.AcceptLanguage, CreateOptions: flow.CreateOptions{Type: string(demo.Type)},
	})
	return identity.Session{UserID: user.ID, SurveyID: survey.ID}, err
}
