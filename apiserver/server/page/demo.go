// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// A Demonstration is a survey that somebody wants to try.
type Demonstration struct {
	Type      guidance.Type
	Dependent bool
	Age       guidance.Age // known of a child
	Accepts   string       // languages, as in the header Accept-Language
}

// offerDemonstration lets somebody say what to try.
func (h *handlers) offerDemonstration(w http.ResponseWriter, r *http.Request) {
	h.render(w, r, http.StatusOK, "demo", h.words.In(r.Header.Get("Accept-Language")), nil)
}

// demonstrate makes a survey and opens it.
func (h *handlers) demonstrate(w http.ResponseWriter, r *http.Request) {
	who := r.PostFormValue("who")
	wanted := Demonstration{
		Type: guidance.Triage, Dependent: who == "child" || who == "other", Accepts: r.Header.Get("Accept-Language"),
	}
	if kind := guidance.Type(r.PostFormValue("type")); kind == guidance.Intake || kind == guidance.FollowUp {
		wanted.Type = kind
	}
	if who == "child" {
		wanted.Age = guidance.Age{Value: 7, Unit: assessment.Year}
	}
	session, err := h.Demonstrate(r.Context(), wanted)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	token, err := h.Sessions.IssueSession(session, h.Now().AddDate(0, 0, 1))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	setSession(w, pathOf(session.SurveyID), token)
	seeOther(w, r, pathOf(session.SurveyID))
}
