// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// An interview collects evidence from a patient at the terminal.
type interview struct {
	engine  *enginev3.API
	in      *bufio.Scanner
	out     io.Writer
	request enginev3.Interview
}

func (i *interview) printf(format string, arguments ...any) {
	// If the terminal is closed, a signal terminates the program.
	_, _ = fmt.Fprintf(i.out, format, arguments...)
}

// run asks for complaints, asks the server's questions and prints the result.
func (i *interview) run(ctx context.Context, complaints []string) error {
	if err := i.collectComplaints(ctx, complaints); err != nil {
		return err
	}
	if err := i.askQuestions(ctx); err != nil {
		return err
	}
	return i.printResult(ctx)
}

// askQuestions asks until the server has no more questions or the patient stops
// answering.
func (i *interview) askQuestions(ctx context.Context) error {
	for {
		diagnosis, err := i.engine.Diagnose(ctx, i.request)
		if err != nil {
			return err
		}
		if diagnosis.Question == nil || diagnosis.ShouldStop != nil && *diagnosis.ShouldStop {
			return nil
		}
		switch err := i.askQuestion(diagnosis.Question); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// askQuestion repeats one question until the answer is valid. It returns io.EOF at the
// end of input.
func (i *interview) askQuestion(question *enginev3.Question) error {
	i.printf("\n%s\n", question.Text)
	if question.Type == enginev3.QuestionTypeGroupSingle || question.Type == enginev3.QuestionTypeGroupMultiple {
		for n, item := range question.Items {
			i.printf("  %d  %s\n", n+1, item.Name)
		}
	}
	for {
		i.printf("%s > ", answerHint(question.Type))
		if !i.in.Scan() {
			i.printf("\n")
			return cmp.Or(i.in.Err(), io.EOF)
		}
		if addAnswer(&i.request.Evidence, question, strings.Fields(i.in.Text())) {
			return nil
		}
	}
}

// printResult prints the result of the interview.
func (i *interview) printResult(ctx context.Context) error {
	diagnosis, diagnosisErr := i.engine.Diagnose(ctx, i.request)
	triage, triageErr := i.engine.Triage(ctx, i.request)
	recommendation, recommendationErr := i.engine.RecommendSpecialist(ctx, i.request)
	if err := errors.Join(diagnosisErr, triageErr, recommendationErr); err != nil {
		return err
	}
	i.printf("\n%s, because of %s\n", triage.TriageLevel, triage.RootCause)
	for _, serious := range triage.Serious {
		i.printf("  %s: %s\n", serious.Seriousness, serious.CommonName)
	}
	if recommendation.RecommendedSpecialist != nil {
		i.printf("see: %s (%s)\n", recommendation.RecommendedSpecialist.Name, *recommendation.RecommendedChannel)
	}
	for n, condition := range diagnosis.Conditions {
		i.printf("%6.1f %%  %s\n", 100*condition.Probability, condition.CommonName)
		if n == 0 {
			if err := i.printExplanation(ctx, condition.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// printExplanation prints the evidence for and against a condition.
func (i *interview) printExplanation(ctx context.Context, condition string) error {
	explanation, err := i.engine.Explain(ctx, enginev3.ExplainRequest{
		Sex: i.request.Sex, Age: i.request.Age, Evidence: i.request.Evidence, Extras: i.request.Extras, Target: condition,
	})
	if err != nil {
		return err
	}
	i.printObservations("for", explanation.SupportingEvidence)
	i.printObservations("against", explanation.ConflictingEvidence)
	return nil
}

func (i *interview) printObservations(title string, observations []enginev3.ObservationName) {
	if len(observations) == 0 {
		return
	}
	names := make([]string, len(observations))
	for n, observation := range observations {
		names[n] = observation.CommonName
	}
	i.printf("            %s: %s\n", title, strings.Join(names, ", "))
}
