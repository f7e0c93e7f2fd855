// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// BenchmarkAnswer measures an interview answer by the number of present findings, and the
// inference engine alone for the same patients, on a synthetic model of the size of a full
// catalog.
func BenchmarkAnswer(b *testing.B) {
	env := surveytest.NewEnv(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := newMidwaySurveys(b, env, present)
		b.Run(fmt.Sprintf("present=%d/survey", present), func(b *testing.B) {
			measure(b, func(i int) {
				p := surveys[i%len(surveys)]
				if _, err := flow.Answer(p, flow.Submission{Answer: []byte(minimalAnswer(&p.Steps[len(p.Steps)-1].Question))}, now, env); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("present=%d/engine", present), func(b *testing.B) {
			patients := make([]inference.Patient, len(surveys))
			for i, p := range surveys {
				patients[i] = patientAfterAnswer(b, env, p)
			}
			measure(b, func(i int) { env.Engine.Assess(env.Release, patients[i%len(patients)], inference.Options{}) })
		})
	}
}

// BenchmarkLastAnswer measures the last answer, including the computation of the full result.
func BenchmarkLastAnswer(b *testing.B) {
	env := surveytest.NewEnv(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := newMidwaySurveys(b, env, present)
		for i := range surveys {
			surveys[i].Survey.Sections = []string{section.Symptoms, section.Notes}
			surveys[i].Steps = surveys[i].Steps[:1]
			question, _, err := flow.CurrentQuestion(surveys[i], env)
			if err != nil {
				b.Fatal(err)
			}
			surveys[i].Steps = append(surveys[i].Steps, record.Step{Question: *question})
		}
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) {
			measure(b, func(i int) {
				if transition, err := flow.Answer(surveys[i%len(surveys)], flow.Submission{Answer: []byte(`null`)}, now, env); err != nil || transition.Result == nil {
					b.Fatal(transition, err)
				}
			})
		})
	}
}

// newMidwaySurveys returns surveys in the middle of the interview. The patients have the
// given number of present symptoms.
func newMidwaySurveys(b *testing.B, env section.Env, present int) []flow.Progress {
	var surveys []flow.Progress
	for _, patient := range modeltest.SamplePatients(env.Release, 100, present) {
		person := record.Patient{ID: "1", Sex: patient.Sex.String(), Age: ageInYears(max(1, patient.AgeMonths/12))}
		p, err := flow.Create(flow.CreateOptions{Patient: person, Type: "triage", Sections: []string{"dynamic"}}, now, env)
		if err != nil {
			b.Fatal(err)
		}
		transition, err := flow.Answer(p, flow.Submission{Answer: []byte(surveytest.ItemsJSON(patient.Present, nil))}, now, env)
		if err == nil && transition.NextQuestion() != nil {
			surveys = append(surveys, applyTransition(p, transition))
		}
	}
	if len(surveys) < 50 {
		b.Fatalf("only %d of 100 surveys have a question", len(surveys))
	}
	return surveys
}

// patientAfterAnswer returns the patient of a survey after answering the current question.
func patientAfterAnswer(b *testing.B, env section.Env, p flow.Progress) inference.Patient {
	transition, err := flow.Answer(p, flow.Submission{Answer: []byte(minimalAnswer(&p.Steps[len(p.Steps)-1].Question))}, now, env)
	if err != nil {
		b.Fatal(err)
	}
	next := applyTransition(p, transition)
	state := section.State{Env: env, Survey: &next.Survey, Steps: record.AnsweredSteps(next.Steps)}
	patient, _, err := state.Patient()
	if err != nil {
		b.Fatal(err)
	}
	return patient
}

func measure(b *testing.B, call func(i int)) {
	durations := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		call(i)
		durations = append(durations, time.Since(start))
	}
	slices.Sort(durations)
	for _, percent := range []int{50, 99} {
		at := durations[len(durations)*percent/100]
		b.ReportMetric(float64(at.Nanoseconds())/1000, fmt.Sprintf("p%d-µs", percent))
	}
}
