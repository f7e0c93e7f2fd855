// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// An interview is a request of the interview in the engine's terms.
type interview struct {
	patient  engine.Patient
	options  engine.Options
	evidence []engine.ReportedEvidence // as it was sent
}

// begin resolves a body against the release of the call, and waits for its turn
// to be assessed. What begins must end.
func (a *API) begin(ctx context.Context, body *enginev3.Interview) (asked interview, end func(), err error) {
	asked, err = readInterview(releaseOf(ctx), body)
	if err != nil {
		return asked, nil, err
	}
	lane := a.guard.Lane(asked.patient.Findings())
	return asked, lane.Leave, lane.Enter(ctx)
}

// readInterview resolves a body against a release. Its errors are the
// client's.
func readInterview(r *model.Release, body *enginev3.Interview) (interview, error) {
	sex, err := assessment.ReadSex("sex", string(body.Sex))
	if err != nil {
		return interview{}, err
	}
	months, err := assessment.ReadAge("age", body.Age.Value, wordOrNone(body.Age.Unit))
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
	patient, err := engine.NewPatient(r, sex, months, evidence)
	return interview{patient, options, evidence}, err
}

func readOptions(extras *enginev3.InterviewExtras) (engine.Options, error) {
	if extras == nil {
		return engine.Options{}, nil
	}
	mode, ok := modeOf(extras.InterviewMode)
	if !ok {
		return engine.Options{}, assessment.WrongWord("extras.interview_mode", string(*extras.InterviewMode), "default, triage or short_triage")
	}
	return engine.Options{
		DisableGroups:   isTrue(extras.DisableGroups),
		SymptomDuration: isTrue(extras.EnableSymptomDuration),
		ThreeLevels:     isTrue(extras.EnableTriage3),
		Mode:            mode,
	}, nil
}

func modeOf(mode *enginev3.InterviewMode) (engine.Mode, bool) {
	if mode == nil || *mode == "" {
		return engine.DefaultMode, true
	}
	switch *mode {
	case enginev3.InterviewModeDefault:
		return engine.DefaultMode, true
	case enginev3.InterviewModeTriage:
		return engine.TriageMode, true
	case enginev3.InterviewModeShortTriage:
		return engine.ShortTriage, true
	}
	return engine.DefaultMode, false
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
