// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

var errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "acme", nil)

func TestFromFailures(t *testing.T) {
	t.Parallel()
	for want, failures := range map[Outcome][]error{
		Ready:     nil,
		Waiting:   {errors.New("x"), problem.Waiting("", "X", "x")},
		Stalled:   {problem.Waiting("", "X", "x"), problem.Stalled("", "X", "x")},
		Transient: {errors.New("x")},
	} {
		if got := FromFailures(failures); got != want {
			t.Errorf("%v: got %s, want %s", failures, got, want)
		}
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	transient, unwritten := errors.New("no response"), errors.New("no status")
	waiting, stalled := problem.Waiting("", "X", "x"), problem.Stalled("", "X", "x")
	for name, test := range map[string]struct {
		failures  []error
		resync    time.Duration
		reportErr error
		reports   bool
		requeue   time.Duration
		err       error
	}{
		"success":                        {nil, 0, nil, true, 0, nil},
		"success with a resync":          {nil, time.Hour, nil, true, time.Hour, nil},
		"a conflict is not reported":     {[]error{errConflict}, time.Hour, nil, false, 0, errConflict},
		"an unwritten report":            {[]error{transient}, time.Hour, unwritten, true, 0, unwritten},
		"a transient error":              {[]error{waiting, transient}, time.Hour, nil, true, 0, transient},
		"a waiting problem":              {[]error{stalled, waiting}, 0, nil, true, problem.DefaultRequeueAfter, nil},
		"a waiting problem, long resync": {[]error{waiting}, time.Hour, nil, true, problem.DefaultRequeueAfter, nil},
		"a waiting problem, soon resync": {[]error{waiting}, time.Second, nil, true, time.Second, nil},
		"a stalled problem":              {[]error{stalled}, time.Hour, nil, true, time.Hour, nil},
	} {
		reported := false
		result, err := Finish(test.failures, test.resync, func() error { reported = true; return test.reportErr })
		if reported != test.reports || result.RequeueAfter != test.requeue || !errors.Is(err, test.err) {
			t.Errorf("%s: got reported %t, requeue after %s, error %v; want %t, %s, %v",
				name, reported, result.RequeueAfter, err, test.reports, test.requeue, test.err)
		}
	}
}

func TestRetryConflictBacksOff(t *testing.T) {
	t.Parallel()
	tracker, err := NewTracker(prometheus.NewRegistry(), prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reconciles_total"}, []string{"outcome"}))
	if err != nil {
		t.Fatal(err)
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "tenants", Name: "acme"}}
	delay := func(err error) time.Duration {
		result, err := tracker.RetryConflict(t.Context(), request, ctrl.Result{RequeueAfter: time.Hour}, err)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	first, second := delay(errConflict), delay(errConflict)
	if first != minBackoff || second <= first {
		t.Errorf("got delays %s and %s after conflicts", first, second)
	}
	if got := delay(nil); got != time.Hour {
		t.Errorf("result of a success was changed: requeue after %s", got)
	}
	if got := delay(errConflict); got != first {
		t.Errorf("success did not reset the backoff: %s", got)
	}
	var metric dto.Metric
	if err := tracker.Reconciles.WithLabelValues(string(Conflict)).Write(&metric); err != nil || metric.GetCounter().GetValue() != 3 {
		t.Errorf("got %v conflicts, want 3 (error %v)", metric.GetCounter().GetValue(), err)
	}
	other := errors.New("no response")
	if _, err := tracker.RetryConflict(t.Context(), request, ctrl.Result{}, other); !errors.Is(err, other) {
		t.Errorf("got error %v, want the original error", err)
	}
}

func TestFailingObjectDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	limiter := ControllerOptions(1, 5*time.Minute).RateLimiter
	broken := ctrl.Request{NamespacedName: types.NamespacedName{Name: "broken"}}
	for range 1000 {
		if pause := limiter.When(broken); pause > 5*time.Minute {
			t.Fatalf("got backoff %s", pause)
		}
	}
	if pause := limiter.When(ctrl.Request{NamespacedName: types.NamespacedName{Name: "healthy"}}); pause != minBackoff {
		t.Errorf("healthy object waits %s", pause)
	}
}
