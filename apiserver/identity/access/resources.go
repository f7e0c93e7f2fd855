// SPDX-License-Identifier: Apache-2.0

package access

import "github.com/anamnesis-dev/anamnesis/apiserver/identity"

// SeesAllUsers reports whether a principal may see the resources of every user. Callers use
// it to skip loading the owner of a resource.
func SeesAllUsers(p identity.Principal) bool { return p.Kind() == identity.KindApplication }

// CanSeePatient reports whether a principal may see a patient of a user. Applications see
// all patients, end users their own.
func CanSeePatient(p identity.Principal, ownerID string) bool {
	return SeesAllUsers(p) || p.Kind() == identity.KindEndUser && p.UserID == ownerID
}

// CanSeeSurvey reports whether a principal may see a survey of a user's patient.
// Applications see all surveys, end users their own, and a survey session its survey.
func CanSeeSurvey(p identity.Principal, surveyID, ownerID string) bool {
	return SeesAllUsers(p) || p.UserID != "" && p.UserID == ownerID && ReachesSurvey(p, surveyID)
}

// ReachesSurvey reports whether a principal may access a survey as far as its session is
// concerned: only survey sessions are restricted to one survey. It does not check the owner
// of the survey; CanSeeSurvey does.
func ReachesSurvey(p identity.Principal, surveyID string) bool {
	return p.SurveyID == "" || p.SurveyID == surveyID
}

// ListOwner returns the user that a list of resources is restricted to for a principal: the
// requested user, or all users if both are empty. It returns false if the principal may not
// see the resources of the requested user.
func ListOwner(p identity.Principal, requestedID string) (ownerID string, ok bool) {
	switch {
	case SeesAllUsers(p):
		return requestedID, true
	case p.Kind() == identity.KindEndUser && (requestedID == "" || requestedID == p.UserID):
		return p.UserID, true
	}
	return "", false
}

// CanSeeConditions reports whether a principal may see the conditions of an assessment.
// Applications always may; end users may if the tenant enables the patientResults feature.
func CanSeeConditions(p identity.Principal, patientResults bool) bool {
	return patientResults || SeesAllUsers(p)
}
