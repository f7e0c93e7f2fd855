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

// BenchmarkAnswer reports the cost of an interview answer by the number of present
// findings, and the share of the inference engine for the same patient, on the
// synthetic model with the size of a full catalog.
func BenchmarkAnswer(b *testing.B) {
	w := surveytest.NewEnv(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := newMidwaySurveys(b, w, present)
		b.Run(fmt.Sprintf("present=%d/survey", present), func(b *testing.B) {
			measure(b, func(i int) {
				p := surveys[i%len(surveys)]
				if _, err := flow.Answer(p, flow.Submission{Answer: []byte(minimalAnswer(&p.Steps[len(p.Steps)-1].Question))}, now, w); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("present=%d/engine", present), func(b *testing.B) {
			patients := make([]inference.Patient, len(surveys))
			for i, p := range surveys {
				patients[i] = patientAfterAnswer(b, w, p)
			}
			measure(b, func(i int) { w.Engine.Assess(w.Release, patients[i%len(patients)], inference.Options{}) })
		})
	}
}

// BenchmarkLastAnswer reports the cost of the last answer, including the full result.
func BenchmarkLastAnswer(b *testing.B) {
	w := surveytest.NewEnv(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := newMidwaySurveys(b, w, present)
		for i := range surveys {
			surveys[i].Survey.Sections = []string{section.Symptoms, section.Notes}
			surveys[i].Steps = surveys[i].Steps[:1]
			question, _, err := flow.CurrentQuestion(surveys[i], w)
			if err != nil {
				b.Fatal(err)
			}
			surveys[i].Steps = append(surveys[i].Steps, record.Step{Question: *question})
		}
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) {
			measure(b, func(i int) {
				if move, err := flow.Answer(surveys[i%len(surveys)], flow.Submission{Answer: []byte(`null`)}, now, w); err != nil || move.Result == nil {
					b.Fatal(move, err)
				}
			})
		})
	}
}

// newMidwaySurveys returns surveys in the middle of their interviews, of patients with
// the given number of present symptoms.
func newMidwaySurveys(b *testing.B, w section.Env, present int) []flow.Progress {
	var surveys []flow.Progress
	for _, patient := range modeltest.SamplePatients(w.Release, 100, present) {
		person := record.Patient{ID: "1", Sex: patient.Sex.String(), Age: ageInYears(max(1, patient.AgeMonths/12))}
		p, err := flow.Create(flow.CreateOptions{Patient: person, Type: "triage", Sections: []string{"dynamic"}}, now, w)
		if err != nil {
			b.Fatal(err)
		}
		move, err := flow.Answer(p, flow.Submission{Answer: []byte(surveytest.ItemsJSON(patient.Present, nil))}, now, w)
		if err == nil && move.NextQuestion() != nil {
			surveys = append(surveys, applyTransition(p, move))
		}
	}
	if len(surveys) < 50 {
		b.Fatalf("only %d of 100 patients are asked anything", len(surveys))
	}
	return surveys
}

// patientAfterAnswer returns the patient of a survey after the current question is
// answered.
func patientAfterAnswer(b *testing.B, w section.Env, p flow.Progress) inference.Patient {
	move, err := flow.Answer(p, flow.Submission{Answer: []byte(minimalAnswer(&p.Steps[len(p.Steps)-1].Question))}, now, w)
	if err != nil {
		b.Fatal(err)
	}
	next := applyTransition(p, move)
	c := section.State{Env: w, Survey: &next.Survey, Steps: record.AnsweredSteps(next.Steps)}
	patient, _, err := c.Patient()
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
