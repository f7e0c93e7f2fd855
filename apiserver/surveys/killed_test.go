// SPDX-License-Identifier: Apache-2.0

package surveys_test

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

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// childVariable says what a child process answers: a database, a directory of
// releases, and the ids of surveys.
const childVariable = "ANAMNESIS_TEST_ANSWERS"

// child makes a process that TestKilledUnderAnswers started answer surveys until it is
// killed, with a line for each answer that was taken. In every other process it does
// nothing.
func child() {
	told := strings.Fields(os.Getenv(childVariable))
	if len(told) == 0 {
		return
	}
	r, _, err := newRegister(told[0], told[1])
	for err == nil {
		for _, id := range told[2:] {
			if err = answerOnce(r, id); err != nil {
				break
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// answerOnce answers the current question of a survey, if it has one.
func answerOnce(r *surveys.Register, id string) error {
	step, err := r.Current(context.Background(), portal, id)
	if err != nil || step == nil {
		return err
	}
	index := step.Question.Index
	if _, err := r.Answer(context.Background(), portal, id, survey.Given{Answer: anAnswer(&step.Question), Index: &index}); err != nil {
		return err
	}
	fmt.Println(id, index)
	return nil
}

// kills is how often a process is killed: of the twenty times that CI has for both
// storages, half.
func kills() int {
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// A process that is killed while it takes answers has lost none that it acknowledged
// and doubled none, and every survey goes on to its end.
func TestKilledUnderAnswers(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		dir := shelve(t)
		r := opened(t, url, dir)
		patient := aPatient(t, r)
		taken := map[string]int{} // by survey
		for range kills() {
			for _, kind := range []guidance.Type{guidance.Triage, guidance.Intake} {
				taken[begin(t, r, patient, kind).ID] = 0
			}
			answerUntilKilled(t, url, dir, taken)
			for id, answers := range taken {
				wantWhole(t, r, id, answers)
			}
		}
		for id := range taken {
			for range 50 {
				if err := answerOnce(r, id); err != nil {
					t.Fatal(err)
				}
			}
			wantCompleted(t, r, id)
		}
	})
}

// answerUntilKilled starts a child, kills it at any moment after some answers, and
// counts those that it reported.
func answerUntilKilled(t *testing.T, url, dir string, taken map[string]int) {
	t.Helper()
	told := []string{url, dir}
	for id := range taken {
		told = append(told, id)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+strings.Join(told, " "))
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
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // it may have failed before
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if answers < 3 {
		t.Fatalf("the child gave %d answers: %s", answers, failure.String())
	}
}

// wantWhole wants all answers that were taken, and one more at most; each question
// once, in its place, and the survey to say so.
func wantWhole(t *testing.T, r *surveys.Register, id string, taken int) {
	t.Helper()
	err := r.Storage.Transact(t.Context(), func(tx storage.Tx) error {
		found, err := tx.Survey(t.Context(), id)
		if err != nil {
			return err
		}
		steps, err := tx.Steps(t.Context(), id)
		answered := len(guidance.Answered(steps))
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

func wantCompleted(t *testing.T, r *surveys.Register, id string) {
	t.Helper()
	found, err := r.Survey(t.Context(), portal, id)
	if err != nil || found.Status != guidance.Completed {
		t.Errorf("the survey is %s, %v", found.Status, err)
	}
	if _, err := r.Assessment(t.Context(), portal, id); err != nil {
		t.Errorf("what it came to: %v", err)
	}
}
