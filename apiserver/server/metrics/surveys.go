// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// surveyMetrics are how patients go through surveys, and never who.
type surveyMetrics struct {
	surveys   *prometheus.CounterVec
	questions *prometheus.CounterVec
	answers   *prometheus.CounterVec
	times     *prometheus.HistogramVec
}

func newSurveyMetrics() surveyMetrics {
	return surveyMetrics{
		surveys: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_surveys_total",
			Help: "Surveys that were begun and that were completed, by type.",
		}, []string{"type", "event"}),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_survey_questions_total",
			Help: "Questions that were put to patients, by section. More of them than answers say where surveys are left.",
		}, []string{"section"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_survey_answers_total",
			Help: "Answers that were kept, by the section of their question.",
		}, []string{"section"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "anamnesis_survey_answer_seconds",
			Help:    "Time from a question to its first answer, by section.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 3600, 86400},
		}, []string{"section"}),
	}
}

func (s surveyMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{s.surveys, s.questions, s.answers, s.times}
}

// SurveyBegun counts a survey that was made.
func (m *Metrics) SurveyBegun(kind guidance.Type) {
	m.surveys.surveys.WithLabelValues(string(kind), "begun").Inc()
}

// SurveyCompleted counts a survey that has no more to ask.
func (m *Metrics) SurveyCompleted(kind guidance.Type) {
	m.surveys.surveys.WithLabelValues(string(kind), "completed").Inc()
}

// QuestionAsked counts a question that was put to a patient.
func (m *Metrics) QuestionAsked(section string) {
	m.surveys.questions.WithLabelValues(section).Inc()
}

// QuestionAnswered counts an answer that was kept, so long after the question; zero for
// a time that is not known.
func (m *Metrics) QuestionAnswered(section string, after time.Duration) {
	m.surveys.answers.WithLabelValues(section).Inc()
	if after > 0 {
		m.surveys.times.WithLabelValues(section).Observe(after.Seconds())
	}
}
