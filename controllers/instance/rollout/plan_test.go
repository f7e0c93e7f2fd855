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

// healthyStatus returns the saved state of an Instance that was ready with a template.
func healthyStatus(lastReady string) v1alpha1.RolloutStatus {
	return v1alpha1.RolloutStatus{LastReadyTemplateHash: lastReady, LastHealthyServer: pin, LastHealthyAt: statusTime(noon.Add(-24 * time.Hour))}
}

// failedStatus returns the saved state of an Instance whose desired template failed some
// time ago.
func failedStatus(lastReady string, cause v1alpha1.FailureReason, age time.Duration, changes ...func(*v1alpha1.RolloutStatus)) v1alpha1.RolloutStatus {
	status := v1alpha1.RolloutStatus{}
	if lastReady != "" {
		status = healthyStatus(lastReady)
	}
	status.FailedTemplateHash, status.FailedGeneration, status.FailureMessage = "new", 3, "why"
	status.FailedServer, status.FailedAt, status.FailureReason = pin, statusTime(noon.Add(-age)), cause
	for _, change := range changes {
		change(&status)
	}
	return status
}

func withAttempts(count int32) func(*v1alpha1.RolloutStatus) {
	return func(status *v1alpha1.RolloutStatus) { status.Attempts = count }
}

func withChanges(status v1alpha1.RolloutStatus, changes ...func(*v1alpha1.RolloutStatus)) v1alpha1.RolloutStatus {
	for _, change := range changes {
		change(&status)
	}
	return status
}

func TestDecideRecordsReadyTemplate(t *testing.T) {
	t.Parallel()
	healthyNow := func(status v1alpha1.RolloutStatus) v1alpha1.RolloutStatus {
		status.LastHealthyAt = statusTime(noon)
		return status
	}
	other := v1alpha1.ServerBuild{Image: "before", Revision: 1}
	for name, test := range map[string]struct {
		facts Facts
		want  v1alpha1.RolloutStatus
	}{
		"the first":                      {Facts{}, v1alpha1.RolloutStatus{}},
		"the first is ready":             {Facts{Live: "new", State: Complete, Replicas: 1}, healthyNow(healthyStatus("new"))},
		"it still is":                    {Facts{Live: "new", State: Complete, Replicas: 1, Status: healthyStatus("new")}, healthyStatus("new")},
		"a change":                       {Facts{Live: "old", State: Complete, Replicas: 1, Status: healthyStatus("older")}, healthyStatus("old")},
		"on its way":                     {Facts{Live: "new", State: Progressing, Replicas: 1, Status: healthyStatus("old")}, healthyStatus("old")},
		"ready with the same build":      {Facts{Live: "new", State: Complete, Replicas: 1, Status: healthyStatus("old")}, healthyStatus("new")},
		"ready with another build":       {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(healthyStatus("old"), func(m *v1alpha1.RolloutStatus) { m.LastHealthyServer = other })}, healthyNow(healthyStatus("new"))},
		"proven before that was noted":   {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(healthyStatus("new"), func(m *v1alpha1.RolloutStatus) { m.LastHealthyAt = nil })}, healthyNow(healthyStatus("new"))},
		"asleep":                         {Facts{Live: "new", State: Complete, Status: v1alpha1.RolloutStatus{LastReadyTemplateHash: "old"}}, healthyNow(healthyStatus("old"))},
		"ready at last":                  {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(healthyStatus("old"), withAttempts(4))}, healthyStatus("new")},
		"tried again, and on its way":    {Facts{Live: "new", State: Progressing, Replicas: 1, Status: withChanges(healthyStatus("old"), withAttempts(4))}, withChanges(healthyStatus("old"), withAttempts(4))},
		"another spec after many tries":  {Facts{Live: "old", State: Complete, Replicas: 1, Status: withChanges(healthyStatus("old"), withAttempts(4))}, healthyStatus("old")},
		"an older template is overdue":   {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: healthyStatus("older")}, healthyStatus("older")},
		"what was ready once is overdue": {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Status: healthyStatus("new")}, healthyStatus("new")},
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
	crash, unrecoverable, unready := Diagnosis{"why", serverCause, false}, Diagnosis{"why", serverCause, true}, Diagnosis{"why", instanceCause, false}
	withMessage := func(message string) func(*v1alpha1.RolloutStatus) {
		return func(status *v1alpha1.RolloutStatus) { status.FailureMessage = message }
	}
	neverHealthy := func(status *v1alpha1.RolloutStatus) {
		status.LastHealthyServer, status.LastHealthyAt = v1alpha1.ServerBuild{}, nil
	}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"the first":                        {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash}, Plan{Failed: true, Status: failedStatus("", serverCause, 0)}},
		"a change that crashes":            {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash, Status: healthyStatus("old")}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", serverCause, 0)}},
		"a change that is not ready":       {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: healthyStatus("old")}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", instanceCause, 0)}},
		"unknown cause, proven build":      {Facts{Live: "new", State: DeadlineExceeded, Status: healthyStatus("old")}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", instanceCause, 0, withMessage(""))}},
		"unknown cause, another build":     {Facts{Live: "new", State: DeadlineExceeded, Status: withChanges(healthyStatus("old"), neverHealthy)}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: withChanges(failedStatus("old", serverCause, 0, withMessage("")), neverHealthy)}},
		"early, where waiting interrupts":  {Facts{Live: "new", State: Progressing, Diagnosis: unrecoverable, Disruptive: true, Status: healthyStatus("old")}, Plan{Failed: true, RollBack: true, RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", serverCause, 0)}},
		"not early, where others serve":    {Facts{Live: "new", State: Progressing, Diagnosis: unrecoverable, Status: healthyStatus("old")}, Plan{Status: healthyStatus("old")}},
		"not early, while there is hope":   {Facts{Live: "new", State: Progressing, Diagnosis: crash, Disruptive: true, Status: healthyStatus("old")}, Plan{Status: healthyStatus("old")}},
		"not early, with nothing before":   {Facts{Live: "new", State: Progressing, Diagnosis: unrecoverable, Disruptive: true}, Plan{}},
		"not early, where it was ready":    {Facts{Live: "new", State: Progressing, Diagnosis: unrecoverable, Disruptive: true, Status: healthyStatus("new")}, Plan{Status: healthyStatus("new")}},
		"not of another template":          {Facts{Live: "old", State: Progressing, Diagnosis: unrecoverable, Disruptive: true, Status: healthyStatus("older")}, Plan{Status: healthyStatus("older")}},
		"again, after a retry":             {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: withChanges(healthyStatus("old"), withAttempts(3))}, Plan{Failed: true, RollBack: true, RetryAt: noon.Add(8 * time.Minute), RequeueAt: noon.Add(problem.DefaultRequeueAfter), Status: failedStatus("old", instanceCause, 0, withAttempts(3))}},
		"the first, known since long":      {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: unready, Status: failedStatus("", serverCause, time.Hour)}, Plan{Failed: true, Status: failedStatus("", serverCause, time.Hour)}},
		"in another generation":            {Facts{Live: "new", State: DeadlineExceeded, Diagnosis: crash, Status: failedStatus("", instanceCause, time.Hour, func(m *v1alpha1.RolloutStatus) { m.FailedGeneration = 2 })}, Plan{Failed: true, Status: failedStatus("", serverCause, 0)}},
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
	rolledBack := func(status v1alpha1.RolloutStatus) Plan {
		return Plan{Failed: true, RollBack: true, RetryAt: nextRetry(status, false), RequeueAt: nextRetry(status, false), Status: status}
	}
	requeuedSoon := func(plan Plan) Plan { plan.RequeueAt = soon; return plan }
	rollbackFailed := func(plan Plan) Plan { plan.RollbackFailed = true; return requeuedSoon(plan) }
	retried := func(value string) func(*v1alpha1.RolloutStatus) {
		return func(status *v1alpha1.RolloutStatus) { status.LastHandledRetry = value }
	}
	unrecoverable := Diagnosis{"why", serverCause, true}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"is put back":                           {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", serverCause, time.Hour)}, rolledBack(failedStatus("old", serverCause, time.Hour))},
		"is being put back":                     {Facts{Live: "old", State: Progressing, Replicas: 1, Status: failedStatus("old", serverCause, 0)}, requeuedSoon(rolledBack(failedStatus("old", serverCause, 0)))},
		"was deleted":                           {Facts{State: Absent, Status: failedStatus("old", serverCause, 0)}, Plan{Status: healthyStatus("old")}},
		"in another generation":                 {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", serverCause, 0, withAttempts(5), func(m *v1alpha1.RolloutStatus) { m.FailedGeneration = 2 })}, Plan{Status: healthyStatus("old")}},
		"what failed gets ready":                {Facts{Live: "new", State: Complete, Replicas: 1, Status: withChanges(failedStatus("", instanceCause, time.Hour), func(m *v1alpha1.RolloutStatus) { m.LastHealthyServer, m.LastHealthyAt = pin, statusTime(noon) })}, Plan{Status: v1alpha1.RolloutStatus{LastReadyTemplateHash: "new", LastHealthyServer: pin, LastHealthyAt: statusTime(noon)}}},
		"not due yet":                           {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", instanceCause, 59*time.Second)}, rolledBack(failedStatus("old", instanceCause, 59*time.Second))},
		"due":                                   {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", instanceCause, time.Minute)}, Plan{Status: withChanges(healthyStatus("old"), withAttempts(1))}},
		"due for the sixth time":                {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", instanceCause, 30*time.Minute, withAttempts(5))}, Plan{Status: withChanges(healthyStatus("old"), withAttempts(6))}},
		"due, and not put back yet":             {Facts{Live: "old", State: Progressing, Replicas: 1, Status: failedStatus("old", instanceCause, 5*time.Minute)}, requeuedSoon(rolledBack(failedStatus("old", instanceCause, 5*time.Minute)))},
		"due, and not written yet":              {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", instanceCause, 5*time.Minute)}, requeuedSoon(rolledBack(failedStatus("old", instanceCause, 5*time.Minute)))},
		"never due":                             {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", serverCause, 240*time.Hour)}, rolledBack(failedStatus("old", serverCause, 240*time.Hour))},
		"asked for":                             {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "1", Status: failedStatus("old", serverCause, time.Hour, withAttempts(5))}, Plan{Status: withChanges(healthyStatus("old"), retried("1"))}},
		"asked for, while it is put back":       {Facts{Live: "old", State: Progressing, Replicas: 1, Retry: "1", Status: failedStatus("old", serverCause, 0)}, Plan{Status: withChanges(healthyStatus("old"), retried("1"))}},
		"retry requested and done":              {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "1", Status: failedStatus("old", serverCause, time.Hour, retried("1"))}, rolledBack(failedStatus("old", serverCause, time.Hour, retried("1")))},
		"retry requested again":                 {Facts{Live: "old", State: Complete, Replicas: 1, Retry: "2", Status: failedStatus("old", serverCause, time.Hour, retried("1"))}, Plan{Status: withChanges(healthyStatus("old"), retried("2"))}},
		"asked for no more":                     {Facts{Live: "old", State: Complete, Replicas: 1, Status: failedStatus("old", serverCause, time.Hour, retried("1"))}, rolledBack(failedStatus("old", serverCause, time.Hour))},
		"asked for before anything failed":      {Facts{Live: "new", State: Progressing, Replicas: 1, Retry: "1", Status: healthyStatus("old")}, Plan{Status: withChanges(healthyStatus("old"), retried("1"))}},
		"asked for with nothing put back":       {Facts{Live: "new", State: DeadlineExceeded, Replicas: 1, Retry: "1", Status: failedStatus("", serverCause, time.Hour)}, Plan{Failed: true, Status: failedStatus("", serverCause, time.Hour, retried("1"))}},
		"what is put back is hopeless too":      {Facts{Live: "old", State: Progressing, Replicas: 1, Diagnosis: unrecoverable, Status: failedStatus("old", serverCause, 0)}, rollbackFailed(rolledBack(failedStatus("old", instanceCause, 0)))},
		"hopeless for a moment, long after":     {Facts{Live: "old", State: Progressing, Replicas: 1, Diagnosis: unrecoverable, Status: failedStatus("old", serverCause, time.Hour)}, requeuedSoon(rolledBack(failedStatus("old", serverCause, time.Hour)))},
		"overdue from before it was put back":   {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", serverCause, time.Second)}, requeuedSoon(rolledBack(failedStatus("old", serverCause, time.Second)))},
		"what is put back is overdue too":       {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", serverCause, deadline, withAttempts(5))}, rollbackFailed(rolledBack(failedStatus("old", instanceCause, deadline, withAttempts(5))))},
		"what is put back is overdue, and due":  {Facts{Live: "old", State: DeadlineExceeded, Replicas: 1, Status: failedStatus("old", serverCause, deadline)}, Plan{Status: withChanges(healthyStatus("old"), withAttempts(1))}},
		"what failed is not what was put back":  {Facts{Live: "new", State: Progressing, Replicas: 1, Diagnosis: unrecoverable, Status: failedStatus("old", serverCause, 0)}, requeuedSoon(rolledBack(failedStatus("old", serverCause, 0)))},
		"due where each try is an interruption": {Facts{Live: "old", State: Complete, Replicas: 1, Disruptive: true, Status: failedStatus("old", instanceCause, 64*time.Minute, withAttempts(6))}, Plan{Status: withChanges(healthyStatus("old"), withAttempts(7))}},
		"not due where a try is an interruption ": {Facts{Live: "old", State: Complete, Replicas: 1, Disruptive: true, Status: failedStatus("old", instanceCause, 63*time.Minute, withAttempts(6))}, func() Plan {
			p := rolledBack(failedStatus("old", instanceCause, 63*time.Minute, withAttempts(6)))
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
	// liveSince is when the live template was applied, and wasReady reports whether its pods
	// have been ready since then.
	liveSince time.Time
	wasReady  bool
	everReady map[string]bool
	// rejected identifies the template that failed because of the server, in a generation
	// and for a value of the annotation.
	rejected string
}

func (s *simulation) state() State {
	if s.facts.Live == "" {
		return Absent
	}
	switch {
	case s.wasReady && !s.facts.Disruptive, s.healthyTemplates[s.facts.Live] && !s.outage:
		s.wasReady = true
		s.everReady[s.facts.Live] = true
		return Complete
	case s.facts.Now.Sub(s.liveSince) >= s.facts.Deadline:
		return DeadlineExceeded
	}
	return Progressing
}

func (s *simulation) diagnosis() Diagnosis {
	switch {
	case s.facts.State == Complete || s.facts.Live == "":
		return Diagnosis{}
	case !s.healthyTemplates[s.facts.Live]:
		return Diagnosis{"crashes", serverCause, s.facts.Now.Sub(s.liveSince) > time.Minute}
	}
	return Diagnosis{"no database", instanceCause, false}
}

// reconcile lets time pass, decides and applies the plan.
func (s *simulation) reconcile(t *rapid.T, elapsed time.Duration) Plan {
	s.facts.Now = s.facts.Now.Add(elapsed)
	s.facts.State = s.state()
	s.facts.Diagnosis = s.diagnosis()
	plan := Decide(s.facts)
	requested := s.facts.Retry != s.facts.Status.LastHandledRetry
	s.facts.Status = plan.Status
	live := plan.Desired
	if plan.RollBack {
		live = plan.Status.LastReadyTemplateHash
	}
	excused := s.facts.State == DeadlineExceeded && s.facts.Live != plan.Desired // the restored template is not ready either
	if live != s.facts.Live && live == plan.Desired && s.attempt() == s.rejected && !requested && !excused {
		t.Fatalf("%s is retried although the server failed", live)
	}
	if plan.Failed && plan.Status.FailureReason == serverCause {
		s.rejected = s.attempt()
	} else if plan.Failed {
		s.rejected = ""
	}
	if live != s.facts.Live {
		s.facts.Live, s.liveSince, s.wasReady = live, s.facts.Now, false
	}
	if !plan.RetryAt.IsZero() && plan.RequeueAt.IsZero() {
		t.Fatalf("retry without a requeue: %+v", plan)
	}
	return plan
}

func (s *simulation) attempt() string { return fmt.Sprint(s.facts.Desired, "@", s.facts.Generation) }

// TestDecideAlwaysServesReadyTemplate runs random simulations: once a template was
// ready, a bad desired template is always rolled back, and a good one is eventually
// served, despite edits and outages.
func TestDecideAlwaysServesReadyTemplate(t *testing.T) {
	t.Parallel()
	templates := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		s := &simulation{healthyTemplates: map[string]bool{}, everReady: map[string]bool{}, facts: Facts{
			Now: noon, Generation: 1, Replicas: 1, Server: pin, Deadline: deadline, Disruptive: rapid.Bool().Draw(t, "interrupts"),
		}}
		for _, template := range []string{"a", "b", "c", "d"} {
			s.healthyTemplates[template] = rapid.Bool().Draw(t, "good "+template)
		}
		s.facts.Desired = templates.Draw(t, "first template")
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				s.facts.Desired = templates.Draw(t, "template")
				s.facts.Generation++
			case 1:
				s.outage = !s.outage
			case 2:
				s.facts.Retry = fmt.Sprint(i)
			}
			s.reconcile(t, time.Duration(rapid.IntRange(0, 900).Draw(t, "seconds"))*time.Second)
		}
		s.outage = false
		var plan Plan
		for range 400 {
			plan = s.reconcile(t, 5*time.Minute)
		}
		switch template := s.facts.Desired; {
		case s.healthyTemplates[template] && (plan.Failed || s.facts.Live != template):
			t.Fatalf("healthy template %s is not live: %+v", template, plan)
		case !s.healthyTemplates[template] && !plan.Failed && s.facts.Live == template:
			t.Fatalf("broken template %s is not rolled back: %+v", template, plan)
		case plan.RollBack && !s.everReady[plan.Status.LastReadyTemplateHash]:
			t.Fatalf("template %s is restored but was never ready", plan.Status.LastReadyTemplateHash)
		case len(s.everReady) > 0 && !s.healthyTemplates[s.facts.Live]:
			t.Fatalf("template %s is live but broken, although %v were ready", s.facts.Live, s.everReady)
		}
		before := s.facts.Status
		if diff := cmp.Diff(before, s.reconcile(t, time.Second).Status); diff != "" {
			t.Fatalf("status of a settled rollout changed (-before +after):\n%s", diff)
		}
	})
}
