// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const deadline = 10 * time.Minute

// provenStatus returns the saved state of an Instance that was ready with a template.
func provenStatus(lastReady string) v1alpha1.RolloutStatus {
	return v1alpha1.RolloutStatus{LastReady: lastReady, LastHealthyServer: pin, LastHealthyAt: statusTime(noon.Add(-24 * time.Hour))}
}

// failedStatus returns the saved state of an Instance whose desired template failed some
// time ago.
func failedStatus(lastReady string, cause v1alpha1.FailureReason, ago time.Duration, changes ...func(*v1alpha1.RolloutStatus)) v1alpha1.RolloutStatus {
	memory := v1alpha1.RolloutStatus{}
	if lastReady != "" {
		memory = provenStatus(lastReady)
	}
	memory.Failed, memory.FailedGeneration, memory.FailureMessage = "new", 3, "why"
	memory.FailedServer, memory.FailedAt, memory.FailureReason = pin, statusTime(noon.Add(-ago)), cause
	for _, change := range changes {
		change(&memory)
	}
	return memory
}

func withTries(count int32) func(*v1alpha1.RolloutStatus) {
	return func(memory *v1alpha1.RolloutStatus) { memory.Attempts = count }
}

func withChanges(memory v1alpha1.RolloutStatus, changes ...func(*v1alpha1.RolloutStatus)) v1alpha1.RolloutStatus {
	for _, change := range changes {
		change(&memory)
	}
	return memory
}

func TestDecideRecordsReadyTemplate(t *testing.T) {
	t.Parallel()
	now := func(memory v1alpha1.RolloutStatus) v1alpha1.RolloutStatus {
		memory.LastHealthyAt = statusTime(noon)
		return memory
	}
	other := v1alpha1.ServerBuild{Image: "before", Revision: 1}
	for name, test := range map[string]struct {
		facts Facts
		want  v1alpha1.RolloutStatus
	}{
		"the first":                      {Facts{}, v1alpha1.RolloutStatus{}},
		"the first is ready":             {Facts{Live: "new", State: Complete, Replicas: 1}, now(provenStatus("new"))},
		"it still is":                    {Facts{Live: "new", State: Complete, Replicas: 1, Status: provenStatus("new")}, provenStatus("new")},
		"a change":                       {Facts{Live: "old", State: Complete, Replicas: 1, Status: provenStatus("older")}, provenStatus("old")},
		"on its way":                     {Facts{Live: "new", State: Progressing, Replicas: 1, Status: provenStatus("old")}, provenStatus("old")},
		"ready with the same build":      {Facts{Live: "new", State: Complete, Replicas: 1, Status: provenStatus("old")}, provenStatus("new")},
		"ready with another build":       {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(provenStatus("old"), func(m *v1alpha1.RolloutStatus) { m.LastHealthyServer = other })}, now(provenStatus("new"))},
		"proven before that was noted":   {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(provenStatus("new"), func(m *v1alpha1.RolloutStatus) { m.LastHealthyAt = nil })}, now(provenStatus("new"))},
		"asleep":                         {Facts{Live: "new", State: Complete, Status: v1alpha1.RolloutStatus{LastReady: "old"}}, now(provenStatus("old"))},
		"ready at last":                  {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(provenStatus("old"), withTries(4))}, provenStatus("new")},
		"tried again, and on its way":    {Facts{Live: "new", State: Progressing, Replicas: 1, Status: withChanges(provenStatus("old"), withTries(4))}, withChanges(provenStatus("old"), withTries(4))},
		"another spec after many tries":  {Facts{Live: "old", State: Complete, Replicas: 1, Status: withChanges(provenStatus("old"), withTries(4))}, provenStatus("old")},
		"an older template is overdue":   {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: provenStatus("older")}, provenStatus("older")},
		"what was ready once is overdue": {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Status: provenStatus("new")}, provenStatus("new")},
	} {
		got := Decide(withDefaults(test.facts))
		if diff := cmp.Diff(Plan{Desired: "new", Status: test.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func withDefaults(facts Facts) Facts {
	facts.Now, facts.Desired, facts.Generation, facts.Server, facts.Deadline = noon, "new", 3, pin, deadline
	return facts
}

func TestDecideRecordsFailure(t *testing.T) {
	t.Parallel()
	crash, hopeless, unready := Diagnosis{"why", server, false}, Diagnosis{"why", server, true}, Diagnosis{"why", tenant, false}
	because := func(what string) func(*v1alpha1.RolloutStatus) {
		return func(memory *v1alpha1.RolloutStatus) { memory.FailureMessage = what }
	}
	unproven := func(memory *v1alpha1.RolloutStatus) {
		memory.LastHealthyServer, memory.LastHealthyAt = v1alpha1.ServerBuild{}, nil
	}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"the first":                        {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash}, Plan{Failed: true, Status: failedStatus("", server, 0)}},
		"a change that crashes":            {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash, Status: provenStatus("old")}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", server, 0)}},
		"a change that is not ready":       {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: provenStatus("old")}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", tenant, 0)}},
		"unknown cause, proven build":      {Facts{Live: "new", State: DeadlineExceeded, Status: provenStatus("old")}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", tenant, 0, because(""))}},
		"unknown cause, another build":     {Facts{Live: "new", State: DeadlineExceeded, Status: withChanges(provenStatus("old"), unproven)}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: withChanges(failedStatus("old", server, 0, because("")), unproven)}},
		"early, where waiting interrupts":  {Facts{Live: "new", State: Progressing, Diagnosis: hopeless, Disruptive: true, Status: provenStatus("old")}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", server, 0)}},
		"not early, where others serve":    {Facts{Live: "new", State: Progressing, Diagnosis: hopeless, Status: provenStatus("old")}, Plan{Status: provenStatus("old")}},
		"not early, while there is hope":   {Facts{Live: "new", State: Progressing, Diagnosis: crash, Disruptive: true, Status: provenStatus("old")}, Plan{Status: provenStatus("old")}},
		"not early, with nothing before":   {Facts{Live: "new", State: Progressing, Diagnosis: hopeless, Disruptive: true}, Plan{}},
		"not early, where it was ready":    {Facts{Live: "new", State: Progressing, Diagnosis: hopeless, Disruptive: true, Status: provenStatus("new")}, Plan{Status: provenStatus("new")}},
		"not of another template":          {Facts{Live: "old", State: Progressing, Diagnosis: hopeless, Disruptive: true, Status: provenStatus("older")}, Plan{Status: provenStatus("older")}},
		"again, after a retry":             {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: withChanges(provenStatus("old"), withTries(3))}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(8 * time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", tenant, 0, withTries(3))}},
		"the first, known since long":      {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: failedStatus("", server, time.Hour)}, Plan{Failed: true, Status: failedStatus("", server, time.Hour)}},
		"in another generation":            {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash, Status: failedStatus("", tenant, time.Hour, func(m *v1alpha1.RolloutStatus) { m.FailedGeneration = 2 })}, Plan{Failed: true, Status: failedStatus("", server, 0)}},
		"of an operator that told no time": {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", "", 0, func(m *v1alpha1.RolloutStatus) { m.FailedAt = nil })}, Plan{Failed: true, RollBack: true, Status: failedStatus("old", "", 0, func(m *v1alpha1.RolloutStatus) { m.FailedAt = nil })}},
	} {
		test.want.Desired = "new"
		if diff := cmp.Diff(test.want, Decide(withDefaults(test.facts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDecideAfterFailure(t *testing.T) {
	t.Parallel()
	soon := noon.Add(problem.DefaultRequeueAfter)
	stays := func(memory v1alpha1.RolloutStatus) Plan {
		return Plan{Failed: true, RollBack: true, RetryAt: nextRetry(memory, false), RequeueAt: nextRetry(memory, false), Status: memory}
	}
	watched := func(plan Plan) Plan { plan.RequeueAt = soon; return plan }
	inVain := func(plan Plan) Plan { plan.RollbackFailed = true; return watched(plan) }
	retried := func(value string) func(*v1alpha1.RolloutStatus) {
		return func(memory *v1alpha1.RolloutStatus) { memory.Retried = value }
	}
	hopeless := Diagnosis{"why", server, true}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"is put back":                           {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", server, time.Hour)}, stays(failedStatus("old", server, time.Hour))},
		"is being put back":                     {Facts{Live: "old", State: Progressing, Replicas: 1, Status: failedStatus("old", server, 0)}, watched(stays(failedStatus("old", server, 0)))},
		"was deleted":                           {Facts{State: Absent, Status: failedStatus("old", server, 0)}, Plan{Status: provenStatus("old")}},
		"in another generation":                 {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", server, 0, withTries(5), func(m *v1alpha1.RolloutStatus) { m.FailedGeneration = 2 })}, Plan{Status: provenStatus("old")}},
		"what failed gets ready":                {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(failedStatus("", tenant, time.Hour), func(m *v1alpha1.RolloutStatus) { m.LastHealthyServer, m.LastHealthyAt = pin, statusTime(noon) })}, Plan{Status: v1alpha1.RolloutStatus{LastReady: "new", LastHealthyServer: pin, LastHealthyAt: statusTime(noon)}}},
		"not due yet":                           {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", tenant, 59*time.Second)}, stays(failedStatus("old", tenant, 59*time.Second))},
		"due":                                   {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", tenant, time.Minute)}, Plan{Status: withChanges(provenStatus("old"), withTries(1))}},
		"due for the sixth time":                {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", tenant, 30*time.Minute, withTries(5))}, Plan{Status: withChanges(provenStatus("old"), withTries(6))}},
		"due, and not put back yet":             {Facts{Live: "old", State: Progressing, Replicas: 1, Status: failedStatus("old", tenant, 5*time.Minute)}, watched(stays(failedStatus("old", tenant, 5*time.Minute)))},
		"due, and not written yet":              {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", tenant, 5*time.Minute)}, watched(stays(failedStatus("old", tenant, 5*time.Minute)))},
		"never due":                             {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", server, 240*time.Hour)}, stays(failedStatus("old", server, 240*time.Hour))},
		"asked for":                             {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "1", Status: failedStatus("old", server, time.Hour, withTries(5))}, Plan{Status: withChanges(provenStatus("old"), retried("1"))}},
		"asked for, while it is put back":       {Facts{Live: "old", State: Progressing, Replicas: 1, Retry: "1", Status: failedStatus("old", server, 0)}, Plan{Status: withChanges(provenStatus("old"), retried("1"))}},
		"retry requested and done":              {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "1", Status: failedStatus("old", server, time.Hour, retried("1"))}, stays(failedStatus("old", server, time.Hour, retried("1")))},
		"retry requested again":                 {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "2", Status: failedStatus("old", server, time.Hour, retried("1"))}, Plan{Status: withChanges(provenStatus("old"), retried("2"))}},
		"asked for no more":                     {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", server, time.Hour, retried("1"))}, stays(failedStatus("old", server, time.Hour))},
		"asked for before anything failed":      {Facts{Live: "new", State: Progressing, Replicas: 1, Retry: "1", Status: provenStatus("old")}, Plan{Status: withChanges(provenStatus("old"), retried("1"))}},
		"asked for with nothing put back":       {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Retry: "1", Status: failedStatus("", server, time.Hour)}, Plan{Failed: true, Status: failedStatus("", server, time.Hour, retried("1"))}},
		"what is put back is hopeless too":      {Facts{Live: "old", State: Progressing, Replicas: 1, Diagnosis: hopeless, Status: failedStatus("old", server, 0)}, inVain(stays(failedStatus("old", tenant, 0)))},
		"hopeless for a moment, long after":     {Facts{Live: "old", State: Progressing, Replicas: 1, Diagnosis: hopeless, Status: failedStatus("old", server, time.Hour)}, watched(stays(failedStatus("old", server, time.Hour)))},
		"overdue from before it was put back":   {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", server, time.Second)}, watched(stays(failedStatus("old", server, time.Second)))},
		"what is put back is overdue too":       {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", server, deadline, withTries(5))}, inVain(stays(failedStatus("old", tenant, deadline, withTries(5))))},
		"what is put back is overdue, and due":  {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", server, deadline)}, Plan{Status: withChanges(provenStatus("old"), withTries(1))}},
		"what failed is not what was put back":  {Facts{Live: "new", State: Progressing, Replicas: 1, Diagnosis: hopeless, Status: failedStatus("old", server, 0)}, watched(stays(failedStatus("old", server, 0)))},
		"due where each try is an interruption": {Facts{Live: "old", State: Complete, Replicas: 1, Disruptive: true, Status: failedStatus("old", tenant, 64*time.Minute, withTries(6))}, Plan{Status: withChanges(provenStatus("old"), withTries(7))}},
		"not due where a try is an interruption ": {Facts{Live: "old", State: Complete, Replicas: 1, Disruptive: true, Status: failedStatus("old", tenant, 63*time.Minute, withTries(6))}, func() Plan {
			p := stays(failedStatus("old", tenant, 63*time.Minute, withTries(6)))
			p.RetryAt = noon.Add(time.Minute)
			p.RequeueAt = p.RetryAt
			return p
		}()},
	} {
		test.want.Desired = "new"
		if diff := cmp.Diff(test.want, Decide(withDefaults(test.facts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A simulation simulates an Instance: its spec changes, its database has outages, and
// its Deployment follows the plan.
type simulation struct {
	facts Facts
	// healthyTemplates are the templates that become ready, except during an outage.
	healthyTemplates map[string]bool
	outage           bool
	// liveSince is when the live template was written, and wasReady reports whether its pods
	// have been ready since.
	liveSince time.Time
	wasReady  bool
	everReady map[string]bool
	// rejected identifies the template that failed because of the server, in a generation
	// and for a value of the annotation.
	rejected string
}

func (l *simulation) state() State {
	if l.facts.Live == "" {
		return Absent
	}
	switch {
	case l.wasReady && !l.facts.Disruptive, l.healthyTemplates[l.facts.Live] && !l.outage:
		l.wasReady = true
		l.everReady[l.facts.Live] = true
		return Complete
	case l.facts.Now.Sub(l.liveSince) >= l.facts.Deadline:
		return DeadlineExceeded
	}
	return Progressing
}

func (l *simulation) diagnosis() Diagnosis {
	switch {
	case l.facts.State == Complete || l.facts.Live == "":
		return Diagnosis{}
	case !l.healthyTemplates[l.facts.Live]:
		return Diagnosis{"crashes", server, l.facts.Now.Sub(l.liveSince) > time.Minute}
	}
	return Diagnosis{"no database", tenant, false}
}

// reconcile lets time pass, decides and applies the plan.
func (l *simulation) reconcile(t *rapid.T, later time.Duration) Plan {
	l.facts.Now = l.facts.Now.Add(later)
	l.facts.State = l.state()
	l.facts.Diagnosis = l.diagnosis()
	plan := Decide(l.facts)
	asked := l.facts.Retry != l.facts.Status.Retried
	l.facts.Status = plan.Status
	live := plan.Desired
	if plan.RollBack {
		live = plan.Status.LastReady
	}
	excused := l.facts.State == DeadlineExceeded && l.facts.Live != plan.Desired // the restored template is not ready either
	if live != l.facts.Live && live == plan.Desired && l.attempt() == l.rejected && !asked && !excused {
		t.Fatalf("%s is tried again, although it failed for the server's sake", live)
	}
	if plan.Failed && plan.Status.FailureReason == server {
		l.rejected = l.attempt()
	} else if plan.Failed {
		l.rejected = ""
	}
	if live != l.facts.Live {
		l.facts.Live, l.liveSince, l.wasReady = live, l.facts.Now, false
	}
	if !plan.RetryAt.IsZero() && plan.RequeueAt.IsZero() {
		t.Fatalf("no requeue for the retry: %+v", plan)
	}
	return plan
}

func (l *simulation) attempt() string { return fmt.Sprint(l.facts.Desired, "@", l.facts.Generation) }

// TestDecideAlwaysServesReadyTemplate runs random simulations: once a template was
// ready, a bad desired template is always rolled back, and a good one is eventually
// served, despite edits and outages.
func TestDecideAlwaysServesReadyTemplate(t *testing.T) {
	t.Parallel()
	templates := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		l := &simulation{healthyTemplates: map[string]bool{}, everReady: map[string]bool{}, facts: Facts{
			Now: noon, Generation: 1, Replicas: 1, Server: pin, Deadline: deadline, Disruptive: rapid.Bool().Draw(t, "interrupts"),
		}}
		for _, template := range []string{"a", "b", "c", "d"} {
			l.healthyTemplates[template] = rapid.Bool().Draw(t, "good "+template)
		}
		l.facts.Desired = templates.Draw(t, "first template")
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				l.facts.Desired = templates.Draw(t, "template")
				l.facts.Generation++
			case 1:
				l.outage = !l.outage
			case 2:
				l.facts.Retry = fmt.Sprint(i)
			}
			l.reconcile(t, time.Duration(rapid.IntRange(0, 900).Draw(t, "seconds"))*time.Second)
		}
		l.outage = false
		var plan Plan
		for range 400 {
			plan = l.reconcile(t, 5*time.Minute)
		}
		switch template := l.facts.Desired; {
		case l.healthyTemplates[template] && (plan.Failed || l.facts.Live != template):
			t.Fatalf("the good template %s is not served: %+v", template, plan)
		case !l.healthyTemplates[template] && !plan.Failed && l.facts.Live == template:
			t.Fatalf("the bad template %s is not rolled back: %+v", template, plan)
		case plan.RollBack && !l.everReady[plan.Status.LastReady]:
			t.Fatalf("%s is put back and was never ready", plan.Status.LastReady)
		case len(l.everReady) > 0 && !l.healthyTemplates[l.facts.Live]:
			t.Fatalf("%s is asked for and does not serve, although %v were ready", l.facts.Live, l.everReady)
		}
		before := l.facts.Status
		if diff := cmp.Diff(before, l.reconcile(t, time.Second).Status); diff != "" {
			t.Fatalf("at rest something is remembered otherwise (-before +after):\n%s", diff)
		}
	})
}
