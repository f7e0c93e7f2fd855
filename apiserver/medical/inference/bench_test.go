// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// workload resolves synthetic patients with eight pieces of evidence.
func workload(t testing.TB, r *model.Release, count, present int) []Patient {
	var patients []Patient
	for _, drawn := range modeltest.SamplePatients(r, count, present) {
		patients = append(patients, mustResolve(t, r, drawn))
	}
	return patients
}

// mustResolve converts a synthetic patient to a Patient.
func mustResolve(t testing.TB, r *model.Release, drawn modeltest.Patient) Patient {
	var reported []ReportedEvidence
	for i, id := range drawn.Present {
		source := SourceUnspecified
		if i == 0 {
			source = SourceInitial
		}
		reported = append(reported, ReportedEvidence{ID: id, Choice: Present, Source: source})
	}
	for _, id := range drawn.Absent {
		reported = append(reported, ReportedEvidence{ID: id, Choice: Absent})
	}
	p, err := NewPatient(r, drawn.Sex, drawn.AgeMonths, reported)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fullCatalog is the synthetic release that all tests share.
var fullCatalog struct {
	once    sync.Once
	release *model.Release
}

// syntheticRelease returns the synthetic release of the size of a full catalog.
func syntheticRelease(t testing.TB) *model.Release {
	t.Helper()
	fullCatalog.once.Do(func() { fullCatalog.release = modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t) })
	return fullCatalog.release
}

// BenchmarkAssess reports the median and the 99th percentile of a call in
// microseconds, on the synthetic model of the size of a full catalog.
func BenchmarkAssess(b *testing.B) {
	r := syntheticRelease(b)
	for _, present := range []int{4, 8, 12, 16, 20, 30, 45} {
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) { assessAll(b, r, workload(b, r, 500, present)) })
	}
}

// BenchmarkAssessContent reports the same for the content, with patients drawn from it
// in the middle of their interviews.
func BenchmarkAssessContent(b *testing.B) {
	r := contentRelease(b)
	for _, present := range []int{4, 8} {
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) { assessAll(b, r, interviewedPatients(b, r, present)) })
	}
}

// interviewedPatients returns patients of some conditions after the given number of
// present symptoms is known.
func interviewedPatients(t testing.TB, r *model.Release, present int) []Patient {
	var patients []Patient
	e := New()
	for c := range someConditions(r, 7) {
		random := rand.New(rand.NewPCG(uint64(c), 71))
		p, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			continue
		}
		evidence, known := p.interviewAbout(t, e, complaint, Options{}, true, random).evidence, 0
		for i := range evidence {
			if evidence[i].Choice == Present {
				known++
			}
			if known == present {
				patients = append(patients, p.after(t, evidence[:i+1]))
				break
			}
		}
	}
	return patients
}

func assessAll(b *testing.B, r *model.Release, patients []Patient) {
	e := New()
	durations := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		e.Assess(r, patients[i%len(patients)], Options{})
		durations = append(durations, time.Since(start))
	}
	slices.Sort(durations)
	for _, percent := range []int{50, 99} {
		at := durations[len(durations)*percent/100]
		b.ReportMetric(float64(at.Nanoseconds())/1000, fmt.Sprintf("p%d-µs", percent))
	}
}
