// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A DemoSurvey describes a demo survey to create.
type DemoSurvey struct {
	Type           record.Type
	Dependent      bool
	Age            record.Age // known for a child
	AcceptLanguage string     // languages, as in Accept-Language
}

// showDemo renders the form to choose a demo survey.
func (h *handlers) showDemo(w http.ResponseWriter, r *http.Request) {
	h.render(w, r, http.StatusOK, "demo", h.messages.Match(r.Header.Get("Accept-Language")), nil)
}

// startDemo creates a demo survey and opens it.
func (h *handlers) startDemo(w http.ResponseWriter, r *http.Request) {
	audience := r.PostFormValue("who")
	request := DemoSurvey{
		Type: record.TypeTriage, Dependent: audience == "child" || audience == "other", AcceptLanguage: r.Header.Get("Accept-Language"),
	}
	if kind := record.Type(r.PostFormValue("type")); kind == record.TypeIntake || kind == record.TypeFollowUp {
		request.Type = kind
	}
	if audience == "child" {
		request.Age = record.Age{Value: 7, Unit: assessment.Year}
	}
	session, err := h.CreateDemoSurvey(r.Context(), request)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	token, err := h.Sessions.IssueSession(session, h.Now().AddDate(0, 0, 1))
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	setSession(w, pathForSurvey(session.SurveyID), token)
	seeOther(w, r, pathForSurvey(session.SurveyID))
}
