// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

const deadline = 10 * time.Minute

// proven is the memory of an Instance that was well with a template.
func proven(lastReady string) v1alpha1.Rollout {
	return v1alpha1.Rollout{LastReady: lastReady, ProvenServer: pin, ProvenAt: timeOf(noon.Add(-24 * time.Hour))}
}

// failing is the memory of one whose wish failed some time ago.
func failing(lastReady string, cause v1alpha1.FailureCause, ago time.Duration, changes ...func(*v1alpha1.Rollout)) v1alpha1.Rollout {
	memory := v1alpha1.Rollout{}
	if lastReady != "" {
		memory = proven(lastReady)
	}
	memory.Failed, memory.FailedGeneration, memory.FailedBecause = "new", 3, "why"
	memory.FailedServer, memory.FailedAt, memory.FailedCause = pin, timeOf(noon.Add(-ago)), cause
	for _, change := range changes {
		change(&memory)
	}
	return memory
}

func tries(count int32) func(*v1alpha1.Rollout) {
	return func(memory *v1alpha1.Rollout) { memory.Tries = count }
}

func with(memory v1alpha1.Rollout, changes ...func(*v1alpha1.Rollout)) v1alpha1.Rollout {
	for _, change := range changes {
		change(&memory)
	}
	return memory
}

func TestDecideRemembersWhatBecameReady(t *testing.T) {
	t.Parallel()
	now := func(memory v1alpha1.Rollout) v1alpha1.Rollout {
		memory.ProvenAt = timeOf(noon)
		return memory
	}
	other := v1alpha1.ServerPin{Image: "before", Revision: 1}
	for name, test := range map[string]struct {
		facts Facts
		want  v1alpha1.Rollout
	}{
		"the first":                      {Facts{}, v1alpha1.Rollout{}},
		"the first is ready":             {Facts{Live: "new", State: Settled, Pods: 1}, now(proven("new"))},
		"it still is":                    {Facts{Live: "new", State: Settled, Pods: 1, Memory: proven("new")}, proven("new")},
		"a change":                       {Facts{Live: "old", State: Settled, Pods: 1, Memory: proven("older")}, proven("old")},
		"on its way":                     {Facts{Live: "new", State: Progressing, Pods: 1, Memory: proven("old")}, proven("old")},
		"ready with the same build":      {Facts{Live: "new", State: Settled, Pods: 1, Memory: proven("old")}, proven("new")},
		"ready with another build":       {Facts{Live: "new", State: Settled, Pods: 1, Memory: with(proven("old"), func(m *v1alpha1.Rollout) { m.ProvenServer = other })}, now(proven("new"))},
		"proven before that was noted":   {Facts{Live: "new", State: Settled, Pods: 1, Memory: with(proven("new"), func(m *v1alpha1.Rollout) { m.ProvenAt = nil })}, now(proven("new"))},
		"asleep":                         {Facts{Live: "new", State: Settled, Memory: v1alpha1.Rollout{LastReady: "old"}}, now(proven("old"))},
		"ready at last":                  {Facts{Live: "new", State: Settled, Pods: 1, Memory: with(proven("old"), tries(4))}, proven("new")},
		"tried again, and on its way":    {Facts{Live: "new", State: Progressing, Pods: 1, Memory: with(proven("old"), tries(4))}, with(proven("old"), tries(4))},
		"another wish after many tries":  {Facts{Live: "old", State: Settled, Pods: 1, Memory: with(proven("old"), tries(4))}, proven("old")},
		"an older template is overdue":   {Facts{Live: "old", State: Overdue, Pods: 1, Memory: proven("older")}, proven("older")},
		"what was ready once is overdue": {Facts{Live: "new", State: Overdue, Pods: 1, Memory: proven("new")}, proven("new")},
	} {
		got := Decide(filled(test.facts))
		if diff := cmp.Diff(Plan{Wish: "new", Memory: test.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func filled(facts Facts) Facts {
	facts.Now, facts.Wish, facts.Generation, facts.Server, facts.Deadline = noon, "new", 3, pin, deadline
	return facts
}

func TestDecideGivesUp(t *testing.T) {
	t.Parallel()
	crash, hopeless, unready := Trouble{"why", server, false}, Trouble{"why", server, true}, Trouble{"why", tenant, false}
	because := func(what string) func(*v1alpha1.Rollout) {
		return func(memory *v1alpha1.Rollout) { memory.FailedBecause = what }
	}
	unproven := func(memory *v1alpha1.Rollout) {
		memory.ProvenServer, memory.ProvenAt = v1alpha1.ServerPin{}, nil
	}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"the first":                        {Facts{Live: "new", State: Overdue, Trouble: crash}, Plan{Failed: true, Memory: failing("", server, 0)}},
		"a change that crashes":            {Facts{Live: "new", State: Overdue, Trouble: crash, Memory: proven("old")}, Plan{Failed: true, PutBack: true, LookAt: noon.Add(problem.LookAgain), Memory: failing("old", server, 0)}},
		"a change that is not ready":       {Facts{Live: "new", State: Overdue, Trouble: unready, Memory: proven("old")}, Plan{Failed: true, PutBack: true, RetryAt: noon.Add(time.Minute), LookAt: noon.Add(problem.LookAgain), Memory: failing("old", tenant, 0)}},
		"nobody knows, of a proven build":  {Facts{Live: "new", State: Overdue, Memory: proven("old")}, Plan{Failed: true, PutBack: true, RetryAt: noon.Add(time.Minute), LookAt: noon.Add(problem.LookAgain), Memory: failing("old", tenant, 0, because(""))}},
		"nobody knows, of another build":   {Facts{Live: "new", State: Overdue, Memory: with(proven("old"), unproven)}, Plan{Failed: true, PutBack: true, LookAt: noon.Add(problem.LookAgain), Memory: with(failing("old", server, 0, because("")), unproven)}},
		"early, where waiting interrupts":  {Facts{Live: "new", State: Progressing, Trouble: hopeless, Interrupts: true, Memory: proven("old")}, Plan{Failed: true, PutBack: true, LookAt: noon.Add(problem.LookAgain), Memory: failing("old", server, 0)}},
		"not early, where others serve":    {Facts{Live: "new", State: Progressing, Trouble: hopeless, Memory: proven("old")}, Plan{Memory: proven("old")}},
		"not early, while there is hope":   {Facts{Live: "new", State: Progressing, Trouble: crash, Interrupts: true, Memory: proven("old")}, Plan{Memory: proven("old")}},
		"not early, with nothing before":   {Facts{Live: "new", State: Progressing, Trouble: hopeless, Interrupts: true}, Plan{}},
		"not early, where it was ready":    {Facts{Live: "new", State: Progressing, Trouble: hopeless, Interrupts: true, Memory: proven("new")}, Plan{Memory: proven("new")}},
		"not of another template":          {Facts{Live: "old", State: Progressing, Trouble: hopeless, Interrupts: true, Memory: proven("older")}, Plan{Memory: proven("older")}},
		"again, after a retry":             {Facts{Live: "new", State: Overdue, Trouble: unready, Memory: with(proven("old"), tries(3))}, Plan{Failed: true, PutBack: true, RetryAt: noon.Add(8 * time.Minute), LookAt: noon.Add(problem.LookAgain), Memory: failing("old", tenant, 0, tries(3))}},
		"the first, known since long":      {Facts{Live: "new", State: Overdue, Trouble: unready, Memory: failing("", server, time.Hour)}, Plan{Failed: true, Memory: failing("", server, time.Hour)}},
		"in another generation":            {Facts{Live: "new", State: Overdue, Trouble: crash, Memory: failing("", tenant, time.Hour, func(m *v1alpha1.Rollout) { m.FailedGeneration = 2 })}, Plan{Failed: true, Memory: failing("", server, 0)}},
		"of an operator that told no time": {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", "", 0, func(m *v1alpha1.Rollout) { m.FailedAt = nil })}, Plan{Failed: true, PutBack: true, Memory: failing("old", "", 0, func(m *v1alpha1.Rollout) { m.FailedAt = nil })}},
	} {
		test.want.Wish = "new"
		if diff := cmp.Diff(test.want, Decide(filled(test.facts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDecideAfterAFailure(t *testing.T) {
	t.Parallel()
	soon := noon.Add(problem.LookAgain)
	stays := func(memory v1alpha1.Rollout) Plan {
		return Plan{Failed: true, PutBack: true, RetryAt: retryAt(memory, false), LookAt: retryAt(memory, false), Memory: memory}
	}
	watched := func(plan Plan) Plan { plan.LookAt = soon; return plan }
	inVain := func(plan Plan) Plan { plan.InVain = true; return watched(plan) }
	retried := func(value string) func(*v1alpha1.Rollout) {
		return func(memory *v1alpha1.Rollout) { memory.Retried = value }
	}
	hopeless := Trouble{"why", server, true}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"is put back":                           {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", server, time.Hour)}, stays(failing("old", server, time.Hour))},
		"is being put back":                     {Facts{Live: "old", State: Progressing, Pods: 1, Memory: failing("old", server, 0)}, watched(stays(failing("old", server, 0)))},
		"was deleted":                           {Facts{State: Absent, Memory: failing("old", server, 0)}, Plan{Memory: proven("old")}},
		"in another generation":                 {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", server, 0, tries(5), func(m *v1alpha1.Rollout) { m.FailedGeneration = 2 })}, Plan{Memory: proven("old")}},
		"what failed gets ready":                {Facts{Live: "new", State: Settled, Pods: 1, Memory: with(failing("", tenant, time.Hour), func(m *v1alpha1.Rollout) { m.ProvenServer, m.ProvenAt = pin, timeOf(noon) })}, Plan{Memory: v1alpha1.Rollout{LastReady: "new", ProvenServer: pin, ProvenAt: timeOf(noon)}}},
		"not due yet":                           {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", tenant, 59*time.Second)}, stays(failing("old", tenant, 59*time.Second))},
		"due":                                   {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", tenant, time.Minute)}, Plan{Memory: with(proven("old"), tries(1))}},
		"due for the sixth time":                {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", tenant, 30*time.Minute, tries(5))}, Plan{Memory: with(proven("old"), tries(6))}},
		"due, and not put back yet":             {Facts{Live: "old", State: Progressing, Pods: 1, Memory: failing("old", tenant, 5*time.Minute)}, watched(stays(failing("old", tenant, 5*time.Minute)))},
		"due, and not written yet":              {Facts{Live: "new", State: Overdue, Pods: 1, Memory: failing("old", tenant, 5*time.Minute)}, watched(stays(failing("old", tenant, 5*time.Minute)))},
		"never due":                             {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", server, 240*time.Hour)}, stays(failing("old", server, 240*time.Hour))},
		"asked for":                             {Facts{Live: "old", State: Settled, Pods: 1, Retry: "1", Memory: failing("old", server, time.Hour, tries(5))}, Plan{Memory: with(proven("old"), retried("1"))}},
		"asked for, while it is put back":       {Facts{Live: "old", State: Progressing, Pods: 1, Retry: "1", Memory: failing("old", server, 0)}, Plan{Memory: with(proven("old"), retried("1"))}},
		"asked for, and heeded":                 {Facts{Live: "old", State: Settled, Pods: 1, Retry: "1", Memory: failing("old", server, time.Hour, retried("1"))}, stays(failing("old", server, time.Hour, retried("1")))},
		"asked for anew":                        {Facts{Live: "old", State: Settled, Pods: 1, Retry: "2", Memory: failing("old", server, time.Hour, retried("1"))}, Plan{Memory: with(proven("old"), retried("2"))}},
		"asked for no more":                     {Facts{Live: "old", State: Settled, Pods: 1, Memory: failing("old", server, time.Hour, retried("1"))}, stays(failing("old", server, time.Hour))},
		"asked for before anything failed":      {Facts{Live: "new", State: Progressing, Pods: 1, Retry: "1", Memory: proven("old")}, Plan{Memory: with(proven("old"), retried("1"))}},
		"asked for with nothing put back":       {Facts{Live: "new", State: Overdue, Pods: 1, Retry: "1", Memory: failing("", server, time.Hour)}, Plan{Failed: true, Memory: failing("", server, time.Hour, retried("1"))}},
		"what is put back is hopeless too":      {Facts{Live: "old", State: Progressing, Pods: 1, Trouble: hopeless, Memory: failing("old", server, 0)}, inVain(stays(failing("old", tenant, 0)))},
		"hopeless for a moment, long after":     {Facts{Live: "old", State: Progressing, Pods: 1, Trouble: hopeless, Memory: failing("old", server, time.Hour)}, watched(stays(failing("old", server, time.Hour)))},
		"overdue from before it was put back":   {Facts{Live: "old", State: Overdue, Pods: 1, Memory: failing("old", server, time.Second)}, watched(stays(failing("old", server, time.Second)))},
		"what is put back is overdue too":       {Facts{Live: "old", State: Overdue, Pods: 1, Memory: failing("old", server, deadline, tries(5))}, inVain(stays(failing("old", tenant, deadline, tries(5))))},
		"what is put back is overdue, and due":  {Facts{Live: "old", State: Overdue, Pods: 1, Memory: failing("old", server, deadline)}, Plan{Memory: with(proven("old"), tries(1))}},
		"what failed is not what was put back":  {Facts{Live: "new", State: Progressing, Pods: 1, Trouble: hopeless, Memory: failing("old", server, 0)}, watched(stays(failing("old", server, 0)))},
		"due where each try is an interruption": {Facts{Live: "old", State: Settled, Pods: 1, Interrupts: true, Memory: failing("old", tenant, 64*time.Minute, tries(6))}, Plan{Memory: with(proven("old"), tries(7))}},
		"not due where a try is an interruption ": {Facts{Live: "old", State: Settled, Pods: 1, Interrupts: true, Memory: failing("old", tenant, 63*time.Minute, tries(6))}, func() Plan {
			p := stays(failing("old", tenant, 63*time.Minute, tries(6)))
			p.RetryAt = noon.Add(time.Minute)
			p.LookAt = p.RetryAt
			return p
		}()},
	} {
		test.want.Wish = "new"
		if diff := cmp.Diff(test.want, Decide(filled(test.facts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A life is that of an Instance: its spec is edited, its database is away at
// times, and a Deployment does what it is told.
type life struct {
	facts Facts
	// good are the templates that become ready, unless during an outage.
	good   map[string]bool
	outage bool
	// since is when the live template was written, and reached whether its pods
	// were ready since; both of what everReady were so at some time.
	since     time.Time
	reached   bool
	everReady map[string]bool
	// barred is the template that failed for the server's sake in a generation
	// and for a value of the annotation.
	barred string
}

func (l *life) state() State {
	if l.facts.Live == "" {
		return Absent
	}
	switch {
	case l.reached && !l.facts.Interrupts, l.good[l.facts.Live] && !l.outage:
		l.reached = true
		l.everReady[l.facts.Live] = true
		return Settled
	case l.facts.Now.Sub(l.since) >= l.facts.Deadline:
		return Overdue
	}
	return Progressing
}

func (l *life) trouble() Trouble {
	switch {
	case l.facts.State == Settled || l.facts.Live == "":
		return Trouble{}
	case !l.good[l.facts.Live]:
		return Trouble{"crashes", server, l.facts.Now.Sub(l.since) > time.Minute}
	}
	return Trouble{"no database", tenant, false}
}

// visit lets some time pass, decides and applies.
func (l *life) visit(t *rapid.T, later time.Duration) Plan {
	l.facts.Now = l.facts.Now.Add(later)
	l.facts.State = l.state()
	l.facts.Trouble = l.trouble()
	plan := Decide(l.facts)
	asked := l.facts.Retry != l.facts.Memory.Retried
	l.facts.Memory = plan.Memory
	live := plan.Wish
	if plan.PutBack {
		live = plan.Memory.LastReady
	}
	excused := l.facts.State == Overdue && l.facts.Live != plan.Wish // what was put back is not ready either
	if live != l.facts.Live && live == plan.Wish && l.barredNow() == l.barred && !asked && !excused {
		t.Fatalf("%s is tried again, although it failed for the server's sake", live)
	}
	if plan.Failed && plan.Memory.FailedCause == server {
		l.barred = l.barredNow()
	} else if plan.Failed {
		l.barred = ""
	}
	if live != l.facts.Live {
		l.facts.Live, l.since, l.reached = live, l.facts.Now, false
	}
	if !plan.RetryAt.IsZero() && plan.LookAt.IsZero() {
		t.Fatalf("nobody looks when it is to be tried again: %+v", plan)
	}
	return plan
}

func (l *life) barredNow() string { return fmt.Sprint(l.facts.Wish, "@", l.facts.Generation) }

// TestDecideAlwaysServesWhatWasReady lives through random lives of an Instance:
// whatever is wished for, fails and passes, once something was ready a bad wish
// never stays, and a good one is served in the end.
func TestDecideAlwaysServesWhatWasReady(t *testing.T) {
	t.Parallel()
	templates := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		l := &life{good: map[string]bool{}, everReady: map[string]bool{}, facts: Facts{
			Now: noon, Generation: 1, Pods: 1, Server: pin, Deadline: deadline, Interrupts: rapid.Bool().Draw(t, "interrupts"),
		}}
		for _, wish := range []string{"a", "b", "c", "d"} {
			l.good[wish] = rapid.Bool().Draw(t, "good "+wish)
		}
		l.facts.Wish = templates.Draw(t, "first wish")
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				l.facts.Wish = templates.Draw(t, "wish")
				l.facts.Generation++
			case 1:
				l.outage = !l.outage
			case 2:
				l.facts.Retry = fmt.Sprint(i)
			}
			l.visit(t, time.Duration(rapid.IntRange(0, 900).Draw(t, "seconds"))*time.Second)
		}
		l.outage = false
		var plan Plan
		for range 400 {
			plan = l.visit(t, 5*time.Minute)
		}
		switch wish := l.facts.Wish; {
		case l.good[wish] && (plan.Failed || l.facts.Live != wish):
			t.Fatalf("the good wish %s is not served: %+v", wish, plan)
		case !l.good[wish] && !plan.Failed && l.facts.Live == wish:
			t.Fatalf("the bad wish %s is not given up: %+v", wish, plan)
		case plan.PutBack && !l.everReady[plan.Memory.LastReady]:
			t.Fatalf("%s is put back and was never ready", plan.Memory.LastReady)
		case len(l.everReady) > 0 && !l.good[l.facts.Live]:
			t.Fatalf("%s is asked for and does not serve, although %v were ready", l.facts.Live, l.everReady)
		}
		before := l.facts.Memory
		if diff := cmp.Diff(before, l.visit(t, time.Second).Memory); diff != "" {
			t.Fatalf("at rest something is remembered otherwise (-before +after):\n%s", diff)
		}
	})
}
