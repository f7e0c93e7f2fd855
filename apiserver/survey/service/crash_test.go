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

// childEnvVar configures a child process: a database, a directory of releases, and the
// IDs of the surveys to answer.
const childEnvVar = "ANAMNESIS_TEST_ANSWERS"

// runChildProcess turns a process started by TestAnswersSurviveProcessKill into one
// that answers surveys until it is killed, and prints a line for each accepted answer.
// In any other process it is a no-op.
func runChildProcess() {
	told := strings.Fields(os.Getenv(childEnvVar))
	if len(told) == 0 {
		return
	}
	r, _, err := newService(told[0], told[1])
	for err == nil {
		for _, id := range told[2:] {
			if err = answerCurrent(r, id); err != nil {
				break
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// answerCurrent answers the current question of a survey, if any.
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

// killCount is how often a process is killed per storage: half of the twenty times
// that CI runs for both.
func killCount() int {
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// A process killed while it accepts answers neither loses nor duplicates acknowledged
// answers, and every survey can be completed.
func TestAnswersSurviveProcessKill(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		dir := writeRelease(t)
		r := openService(t, url, dir)
		patient := createPatient(t, r)
		taken := map[string]int{} // by survey
		for range killCount() {
			for _, kind := range []record.Type{record.TypeTriage, record.TypeIntake} {
				taken[createSurvey(t, r, patient, kind).ID] = 0
			}
			answerUntilKilled(t, url, dir, taken)
			for id, answers := range taken {
				checkConsistent(t, r, id, answers)
			}
		}
		for id := range taken {
			for range 50 {
				if err := answerCurrent(r, id); err != nil {
					t.Fatal(err)
				}
			}
			checkCompleted(t, r, id)
		}
	})
}

// answerUntilKilled starts a child, kills it at a random moment after some answers,
// and counts the answers that it reported.
func answerUntilKilled(t *testing.T, url, dir string, taken map[string]int) {
	t.Helper()
	told := []string{url, dir}
	for id := range taken {
		told = append(told, id)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childEnvVar+"="+strings.Join(told, " "))
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
		taken[id]++
		if answers == 3 {
			after := rand.N(30 * time.Millisecond)
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // the child may have failed earlier
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if answers < 3 {
		t.Fatalf("the child gave %d answers: %s", answers, failure.String())
	}
}

// checkConsistent checks that a survey has all accepted answers and at most one more,
// each question once and in its place, and a matching status.
func checkConsistent(t *testing.T, r *service.Service, id string, taken int) {
	t.Helper()
	err := storeOf(r).Transact(t.Context(), func(tx storage.Tx) error {
		// PostgreSQL may still be committing for the process that was killed, so survey and
		// steps are read at one moment.
		found, steps, err := tx.GetSurveyWithSteps(t.Context(), id)
		answered := len(record.AnsweredSteps(steps))
		if answered < taken || answered > taken+1 || found.Version != int64(answered)+1 {
			t.Errorf("%d answers were taken, %d are there, at version %d", taken, answered, found.Version)
		}
		asked := map[string]bool{}
		for i, step := range steps {
			if step.Question.Index != i || asked[step.Question.ID] {
				t.Errorf("question %s at %d says it is %d", step.Question.ID, i, step.Question.Index)
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
		t.Errorf("the survey is %s, %v", found.Status, err)
	}
	if _, err := r.Assessment(t.Context(), portal, id); err != nil {
		t.Errorf("what it came to: %v", err)
	}
}
