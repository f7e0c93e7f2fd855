// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// childEnvVar configures a child process. It contains a database URL, a directory of
// releases, and the IDs of the surveys to answer.
const childEnvVar = "ANAMNESIS_TEST_ANSWERS"

// runChildProcess answers surveys until the process is killed, and prints a line for each
// accepted answer. It does nothing unless TestAnswersSurviveProcessKill started the process.
func runChildProcess() {
	arguments := strings.Fields(os.Getenv(childEnvVar))
	if len(arguments) == 0 {
		return
	}
	r, _, err := newService(arguments[0], arguments[1])
	for err == nil {
		for _, id := range arguments[2:] {
			if err = answerCurrent(r, id); err != nil {
				break
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// answerCurrent answers the current question of a survey, if it has one.
func answerCurrent(r *service.Service, id string) error {
	step, err := r.Current(context.Background(), portal, id)
	if err != nil || step == nil {
		return err
	}
	index := step.Question.Index
	if _, err := r.Answer(context.Background(), portal, id, flow.Submission{Answer: validAnswer(&step.Question), Index: &index}); err != nil {
		return err
	}
	fmt.Println(id, index)
	return nil
}

// killCount returns how many processes to kill per storage: half of the twenty that CI kills
// for both.
func killCount() int {
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// TestAnswersSurviveProcessKill checks that a process killed while accepting answers neither
// loses nor duplicates acknowledged answers, and that every survey can be completed.
func TestAnswersSurviveProcessKill(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		dir := writeRelease(t)
		r := openService(t, url, dir)
		patient := createPatient(t, r)
		accepted := map[string]int{} // by survey
		for range killCount() {
			for _, kind := range []record.Type{record.TypeTriage, record.TypeIntake} {
				accepted[createSurvey(t, r, patient, kind).ID] = 0
			}
			answerUntilKilled(t, url, dir, accepted)
			for id, answers := range accepted {
				checkConsistent(t, r, id, answers)
			}
		}
		for id := range accepted {
			for range 50 {
				if err := answerCurrent(r, id); err != nil {
					t.Fatal(err)
				}
			}
			checkCompleted(t, r, id)
		}
	})
}

// answerUntilKilled starts a child process, kills it at a random moment, and counts the
// answers that it reported.
func answerUntilKilled(t *testing.T, url, dir string, accepted map[string]int) {
	t.Helper()
	arguments := []string{url, dir}
	for id := range accepted {
		arguments = append(arguments, id)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childEnvVar+"="+strings.Join(arguments, " "))
	var failure strings.Builder
	command.Stderr = &failure
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	answers := 0
	for lines := bufio.NewScanner(output); lines.Scan(); answers++ {
		id, _, _ := strings.Cut(lines.Text(), " ")
		accepted[id]++
		if answers == 3 {
			after := rand.N(30 * time.Millisecond)
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // the child may have failed earlier
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if answers < 3 {
		t.Fatalf("child process reported %d answers: %s", answers, failure.String())
	}
}

// checkConsistent checks that a survey contains all accepted answers and at most one more,
// each question once and at its index, and has a matching status.
func checkConsistent(t *testing.T, r *service.Service, id string, accepted int) {
	t.Helper()
	err := serviceStore(r).Transact(t.Context(), func(tx storage.Tx) error {
		// PostgreSQL may still be committing on behalf of the killed process, so the survey
		// and its steps are read in one snapshot.
		found, steps, err := tx.GetSurveyWithSteps(t.Context(), id)
		answered := len(record.AnsweredSteps(steps))
		if answered < accepted || answered > accepted+1 || found.Version != int64(answered)+1 {
			t.Errorf("accepted %d answers, but %d are stored, at version %d", accepted, answered, found.Version)
		}
		asked := map[string]bool{}
		for i, step := range steps {
			if step.Question.Index != i || asked[step.Question.ID] {
				t.Errorf("question %s at position %d has index %d", step.Question.ID, i, step.Question.Index)
			}
			asked[step.Question.ID] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkCompleted(t *testing.T, r *service.Service, id string) {
	t.Helper()
	found, err := r.Get(t.Context(), portal, id)
	if err != nil || found.Status != record.StatusCompleted {
		t.Errorf("got status %s, %v", found.Status, err)
	}
	if _, err := r.Assessment(t.Context(), portal, id); err != nil {
		t.Errorf("reading the assessment: %v", err)
	}
}
