// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// surveyMetrics track the progress of surveys, without identifying patients.
type surveyMetrics struct {
	surveys     *prometheus.CounterVec
	questions   *prometheus.CounterVec
	answers     *prometheus.CounterVec
	answerTimes *prometheus.HistogramVec
}

func newSurveyMetrics() surveyMetrics {
	return surveyMetrics{
		surveys: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_surveys_total",
			Help: "Surveys by type and event: begun or completed.",
		}, []string{"type", "event"}),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_survey_questions_total",
			Help: "Questions asked, by section. An excess over answers shows where patients abandon surveys.",
		}, []string{"section"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anamnesis_survey_answers_total",
			Help: "Answers stored, by section of the question.",
		}, []string{"section"}),
		answerTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "anamnesis_survey_answer_duration_seconds",
			Help:    "Time from asking a question to its first answer, by section.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 3600, 86400},
		}, []string{"section"}),
	}
}

func (s surveyMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{s.surveys, s.questions, s.answers, s.answerTimes}
}

// SurveyStarted counts a new survey.
func (m *Metrics) SurveyStarted(kind record.Type) {
	m.surveys.surveys.WithLabelValues(string(kind), "begun").Inc()
}

// SurveyCompleted counts a completed survey.
func (m *Metrics) SurveyCompleted(kind record.Type) {
	m.surveys.surveys.WithLabelValues(string(kind), "completed").Inc()
}

// QuestionAsked counts a question put to a patient.
func (m *Metrics) QuestionAsked(section string) {
	m.surveys.questions.WithLabelValues(section).Inc()
}

// QuestionAnswered counts a stored answer and records the time since the question was
// asked. Zero means unknown.
func (m *Metrics) QuestionAnswered(section string, after time.Duration) {
	m.surveys.answers.WithLabelValues(section).Inc()
	if after > 0 {
		m.surveys.answerTimes.WithLabelValues(section).Observe(after.Seconds())
	}
}
