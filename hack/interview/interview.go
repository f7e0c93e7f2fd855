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

// An interview is the evidence gathered so far, and how more is gathered.
type interview struct {
	engine *enginev3.API
	in     *bufio.Scanner
	out    io.Writer
	body   enginev3.Interview
}

func (i *interview) print(format string, arguments ...any) {
	// A terminal that is gone ends the program by a signal.
	_, _ = fmt.Fprintf(i.out, format, arguments...)
}

// hold holds the interview from the complaints to the conclusion.
func (i *interview) hold(ctx context.Context, complaints []string) error {
	if err := i.open(ctx, complaints); err != nil {
		return err
	}
	if err := i.ask(ctx); err != nil {
		return err
	}
	return i.conclude(ctx)
}

// ask asks until the server has no more questions, or the patient does not
// answer any more.
func (i *interview) ask(ctx context.Context) error {
	for {
		diagnosis, err := i.engine.Diagnose(ctx, i.body)
		if err != nil {
			return err
		}
		if diagnosis.Question == nil || diagnosis.ShouldStop != nil && *diagnosis.ShouldStop {
			return nil
		}
		switch err := i.put(diagnosis.Question); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// put puts one question until it gets an answer that fits. Without any more
// input it is io.EOF.
func (i *interview) put(question *enginev3.Question) error {
	i.print("\n%s\n", question.Text)
	if question.Type == enginev3.QuestionTypeGroupSingle || question.Type == enginev3.QuestionTypeGroupMultiple {
		for n, item := range question.Items {
			i.print("  %d  %s\n", n+1, item.Name)
		}
	}
	for {
		i.print("%s > ", hint(question.Type))
		if !i.in.Scan() {
			i.print("\n")
			return cmp.Or(i.in.Err(), io.EOF)
		}
		if answer(&i.body.Evidence, question, strings.Fields(i.in.Text())) {
			return nil
		}
	}
}

// conclude shows what the evidence comes to.
func (i *interview) conclude(ctx context.Context) error {
	diagnosis, diagnosisErr := i.engine.Diagnose(ctx, i.body)
	triage, triageErr := i.engine.Triage(ctx, i.body)
	recommendation, recommendationErr := i.engine.RecommendSpecialist(ctx, i.body)
	if err := errors.Join(diagnosisErr, triageErr, recommendationErr); err != nil {
		return err
	}
	i.print("\n%s, because of %s\n", triage.TriageLevel, triage.RootCause)
	for _, serious := range triage.Serious {
		i.print("  %s: %s\n", serious.Seriousness, serious.CommonName)
	}
	if recommendation.RecommendedSpecialist != nil {
		i.print("see: %s (%s)\n", recommendation.RecommendedSpecialist.Name, *recommendation.RecommendedChannel)
	}
	for n, condition := range diagnosis.Conditions {
		i.print("%6.1f %%  %s\n", 100*condition.Probability, condition.CommonName)
		if n == 0 {
			if err := i.explain(ctx, condition.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain shows what speaks for and against a condition.
func (i *interview) explain(ctx context.Context, condition string) error {
	explanation, err := i.engine.Explain(ctx, enginev3.ExplainRequest{
		Sex: i.body.Sex, Age: i.body.Age, Evidence: i.body.Evidence, Extras: i.body.Extras, Target: condition,
	})
	if err != nil {
		return err
	}
	i.list("for", explanation.SupportingEvidence)
	i.list("against", explanation.ConflictingEvidence)
	return nil
}

func (i *interview) list(title string, observations []enginev3.ObservationName) {
	if len(observations) == 0 {
		return
	}
	names := make([]string, len(observations))
	for n, observation := range observations {
		names[n] = observation.CommonName
	}
	i.print("            %s: %s\n", title, strings.Join(names, ", "))
}
