// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// BenchmarkAnswer reports what an answer in the interview takes when so many
// findings are present, and what the engine takes of that to assess the same
// patient, on the synthetic model of a full catalogue's size.
func BenchmarkAnswer(b *testing.B) {
	w := guidancetest.World(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := midway(b, w, present)
		b.Run(fmt.Sprintf("present=%d/survey", present), func(b *testing.B) {
			measure(b, func(i int) {
				p := surveys[i%len(surveys)]
				if _, err := survey.Answer(p, survey.Given{Answer: []byte(good(&p.Steps[len(p.Steps)-1].Question))}, now, w); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("present=%d/engine", present), func(b *testing.B) {
			patients := make([]engine.Patient, len(surveys))
			for i, p := range surveys {
				patients[i] = afterwards(b, w, p)
			}
			measure(b, func(i int) { w.Engine.Assess(w.Release, patients[i%len(patients)], engine.Options{}) })
		})
	}
}

// BenchmarkConclude reports what the last answer takes, with all that a result says.
func BenchmarkConclude(b *testing.B) {
	w := guidancetest.World(b, modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(b))
	for _, present := range []int{4, 8, 16} {
		surveys := midway(b, w, present)
		for i := range surveys {
			surveys[i].Survey.Sections = []string{section.Symptoms, section.Notes}
			surveys[i].Steps = surveys[i].Steps[:1]
			question, _, err := survey.Current(surveys[i], w)
			if err != nil {
				b.Fatal(err)
			}
			surveys[i].Steps = append(surveys[i].Steps, guidance.Step{Question: *question})
		}
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) {
			measure(b, func(i int) {
				if move, err := survey.Answer(surveys[i%len(surveys)], survey.Given{Answer: []byte(`null`)}, now, w); err != nil || move.Result == nil {
					b.Fatal(move, err)
				}
			})
		})
	}
}

// midway are surveys in the middle of their interviews, of patients who have so many
// symptoms.
func midway(b *testing.B, w section.World, present int) []survey.Progress {
	var surveys []survey.Progress
	for _, patient := range modeltest.Patients(w.Release, 100, present) {
		person := guidance.Patient{ID: "1", Sex: patient.Sex.String(), Age: years(max(1, patient.AgeMonths/12))}
		p, err := survey.Create(survey.Creation{Patient: person, Type: "triage", Sections: []string{"dynamic"}}, now, w)
		if err != nil {
			b.Fatal(err)
		}
		move, err := survey.Answer(p, survey.Given{Answer: []byte(guidancetest.ItemsOf(patient.Present, nil))}, now, w)
		if err == nil && move.Next() != nil {
			surveys = append(surveys, apply(p, move))
		}
	}
	if len(surveys) < 50 {
		b.Fatalf("only %d of 100 patients are asked anything", len(surveys))
	}
	return surveys
}

// afterwards is the patient of a survey once the current question is answered.
func afterwards(b *testing.B, w section.World, p survey.Progress) engine.Patient {
	move, err := survey.Answer(p, survey.Given{Answer: []byte(good(&p.Steps[len(p.Steps)-1].Question))}, now, w)
	if err != nil {
		b.Fatal(err)
	}
	next := apply(p, move)
	c := section.Case{World: w, Survey: &next.Survey, Steps: guidance.Answered(next.Steps)}
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
