// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// An interview is an interview request in terms of package inference.
type interview struct {
	patient  inference.Patient
	options  inference.Options
	evidence []inference.ReportedEvidence // as sent
}

// acquireInterview resolves a body against the release of the request and waits for an
// assessment slot. The caller must call end.
func (a *API) acquireInterview(ctx context.Context, body *enginev3.Interview) (interview interview, end func(), err error) {
	interview, err = readInterview(releaseFrom(ctx), body)
	if err != nil {
		return interview, nil, err
	}
	slot := a.limiter.Assessments(interview.patient.FindingCount())
	return interview, slot.Release, slot.Acquire(ctx)
}

// readInterview resolves a body against a release. Its errors are meant for the client.
func readInterview(r *model.Release, body *enginev3.Interview) (interview, error) {
	sex, err := assessment.ParseSex("sex", string(body.Sex))
	if err != nil {
		return interview{}, err
	}
	months, err := assessment.ParseAge("age", body.Age.Value, stringOrEmpty(body.Age.Unit))
	if err != nil {
		return interview{}, err
	}
	options, err := readOptions(body.Extras)
	if err != nil {
		return interview{}, err
	}
	evidence, err := readEvidence(body.Evidence, options.SymptomDuration)
	if err != nil {
		return interview{}, err
	}
	patient, err := inference.NewPatient(r, sex, months, evidence)
	return interview{patient, options, evidence}, err
}

func readOptions(extras *enginev3.InterviewExtras) (inference.Options, error) {
	if extras == nil {
		return inference.Options{}, nil
	}
	mode, ok := readInterviewMode(extras.InterviewMode)
	if !ok {
		return inference.Options{}, assessment.NotSupported("extras.interview_mode", string(*extras.InterviewMode), "default, triage or short_triage")
	}
	return inference.Options{
		DisableGroups:   isTrue(extras.DisableGroups),
		SymptomDuration: isTrue(extras.EnableSymptomDuration),
		ThreeLevels:     isTrue(extras.EnableTriage3),
		Mode:            mode,
	}, nil
}

func readInterviewMode(mode *enginev3.InterviewMode) (inference.Mode, bool) {
	if mode == nil || *mode == "" {
		return inference.DefaultMode, true
	}
	switch *mode {
	case enginev3.InterviewModeDefault:
		return inference.DefaultMode, true
	case enginev3.InterviewModeTriage:
		return inference.TriageMode, true
	case enginev3.InterviewModeShortTriage:
		return inference.ShortTriageMode, true
	}
	return inference.DefaultMode, false
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
