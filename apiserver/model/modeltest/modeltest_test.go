// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// refusal is a TB that keeps what a test would fail with.
type refusal struct{ message string }

func (r *refusal) Helper() {}

func (r *refusal) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	panic(r)
}

// refused is what Build fails a test with, or empty.
func refused(b *modeltest.Builder) (message string) {
	r := &refusal{}
	defer func() {
		if recovered := recover(); recovered != nil && recovered != any(r) {
			panic(recovered)
		}
		message = r.message
	}()
	b.Build(r)
	return ""
}

func TestBuildReportsTheFirstMistake(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		builder *modeltest.Builder
		says    string
	}{
		"a condition with the id of a symptom": {modeltest.New().Condition("s_1", 0.1), `condition "s_1"`},
		"a condition twice":                    {modeltest.New().Condition("c_1", 0.1).Condition("c_1", 0.1), `condition "c_1"`},
		"a symptom with the id of a factor":    {modeltest.New().Symptom("p_1", 0.1), `symptom "p_1"`},
		"a symptom twice":                      {modeltest.New().Symptom("s_1", 0.1).Symptom("s_1", 0.1), `symptom "s_1"`},
		"a link of an unknown condition":       {modeltest.New().Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5), `unknown condition "c_1"`},
		"a link to an unknown symptom":         {modeltest.New().Condition("c_1", 0.1).Link("c_1", "s_1", 0.5), `unknown observation "s_1"`},
		"a factor of an unknown condition":     {modeltest.New().Symptom("s_1", 0.1).Factor("c_1", "s_1", 1, 1), `unknown condition "c_1"`},
		"a child of an unknown parent":         {modeltest.New().Child("s_1", "s_2", model.Location, 0.1), `unknown observation "s_2"`},
		"a group of unknown items":             {modeltest.New().Group(model.GroupSingle, "s_1"), `unknown observation "s_1"`},
		"a release that servers refuse":        {modeltest.New().Symptom("s_1", 2), "refused"},
	} {
		if got := refused(test.builder); !strings.Contains(got, test.says) {
			t.Errorf("%s: Build says %q, want %q in it", name, got, test.says)
		}
	}
	if got := refused(modeltest.New()); got != "" {
		t.Errorf("an empty release is refused: %s", got)
	}
}
