// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// answersBetweenKills is the number of answers between two pod kills.
const answersBetweenKills = 10

// TestSurveysSurvivePodRestarts completes a triage and an intake survey with a client
// that retries, while the only pod of the Instance is killed repeatedly. No answer may
// be lost or recorded twice.
func TestSurveysSurvivePodRestarts(t *testing.T) {
	t.Parallel()
	n := createReadyInstance(t, newNamespace(t, "survey"), "clinic", embeddedSpec())
	api := n.newAPIClient("http/1.1")
	user := uuid.MustParse(api.mustCreateUser(t))
	patient, err := api.Guidance.CreatePatient(t.Context(), guidance.NewPatient{UserID: new(user.String())})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"intake", "triage"} { // intake first: it asks for sex and age
		made, err := api.Guidance.CreateSurvey(t.Context(), nil, guidance.NewSurvey{Type: new(kind), PatientID: new(patient.ID.String())})
		if err != nil {
			t.Fatal(err)
		}
		answered := n.completeWithRetries(api, made.ID)
		summary, err := api.Guidance.GetSummary(t.Context(), made.ID)
		if err != nil || len(summary.Questions) != answered || summary.Survey.Status != guidance.SurveyStatusCompleted {
			t.Errorf("%s: sent %d answers, got %d in the summary, error %v", kind, answered, len(summary.Questions), err)
		}
		assessment, err := api.Guidance.GetAssessment(t.Context(), made.ID, nil)
		if err != nil || len(assessment.Conditions) == 0 || assessment.Triage.Level == "" {
			t.Errorf("%s: got assessment %+v, error %v", kind, assessment, err)
		}
	}
}

// completeWithRetries completes a survey and returns the number of answers.
func (tn tenant) completeWithRetries(api apiClient, survey uuid.UUID) (answered int) {
	tn.t.Helper()
	question, err := api.Guidance.GetCurrentQuestion(tn.t.Context(), survey)
	if err != nil {
		tn.t.Fatal(err)
	}
	for next := &question; next != nil; answered++ {
		if next.Index != answered {
			tn.t.Fatalf("got question %d after %d answers", next.Index, answered)
		}
		if answered%answersBetweenKills == answersBetweenKills/2 {
			tn.killPods()
		}
		next = tn.answerWithRetries(api, survey, next)
	}
	return answered
}

// answerWithRetries answers a question and retries if the outcome is unknown. The
// question's index makes retries safe: the server records one answer.
func (tn tenant) answerWithRetries(api apiClient, survey uuid.UUID, question *guidance.Question) (next *guidance.Question) {
	tn.t.Helper()
	params := &guidance.AnswerCurrentQuestionParams{Index: new(question.Index)}
	NewWithT(tn.t).Eventually(func() (err error) {
		ctx, cancel := context.WithTimeout(tn.t.Context(), 20*time.Second)
		defer cancel()
		next, err = api.Guidance.AnswerCurrentQuestion(ctx, survey, params, guidance.NewAnswer{Answer: validAnswer(question)})
		if err != nil {
			err = fmt.Errorf("question %d, %s: %w", question.Index, question.ID, err)
		}
		return err
	}, defaultTimeout, "500ms").Should(Succeed())
	return next
}

// killPods deletes the Instance's pods without a grace period and waits for their
// replacements.
func (tn tenant) killPods() {
	tn.t.Helper()
	killed := tn.pods()
	for _, pod := range killed {
		if err := kubeClient.Delete(tn.t.Context(), &pod, client.GracePeriodSeconds(0)); err != nil {
			tn.t.Fatal(err)
		}
	}
	for _, pod := range killed {
		NewWithT(tn.t).Eventually(tn.podNames, defaultTimeout, "200ms").Should(And(HaveLen(len(killed)), Not(ContainElement(pod.Name))))
	}
}

// validAnswer returns an answer that the question accepts.
func validAnswer(question *guidance.Question) json.RawMessage {
	first := func(answers []guidance.PossibleAnswer) string { return answers[0].ID }
	switch question.AnswerType {
	case guidance.AnswerTypeChoice:
		return json.RawMessage(fmt.Sprintf(`{"id": %q}`, first(question.Meta.Answers)))
	case guidance.AnswerTypeNumber:
		return json.RawMessage("34")
	case guidance.AnswerTypeText:
		return json.RawMessage(`"since yesterday"`)
	case guidance.AnswerTypeSymptoms:
		if *question.Meta.Component == guidance.QuestionMetaComponentSingle {
			return json.RawMessage(fmt.Sprintf(`[{"id": %q, "choice_id": "absent"}]`, first(question.Meta.Answers)))
		}
	case guidance.AnswerTypeList:
		if question.ID == "symptoms" {
			return json.RawMessage(`[{"id": "s_21"}]`)
		}
	}
	return json.RawMessage("[]")
}
