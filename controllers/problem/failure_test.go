// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

func TestFromWriteError(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "deployments"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"nothing":       {nil, ""},
		"invalid":       {apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "acme", nil), "stalled RejectedByAPIServer"},
		"a bad request": {apierrors.NewBadRequest("no"), "stalled RejectedByAPIServer"},
		"too large":     {apierrors.NewRequestEntityTooLargeError("no"), "stalled RejectedByAPIServer"},
		"forbidden":     {apierrors.NewForbidden(resource, "acme", errors.New("quota")), "stalled ForbiddenByAPIServer"},
		"a conflict":    {apierrors.NewConflict(resource, "acme", errors.New("x")), "transient"},
		"unavailable":   {apierrors.NewServiceUnavailable("x"), "transient"},
		"no answer":     {errors.New("connection refused"), "transient"},
		"wrapped":       {fmt.Errorf("applying: %w", apierrors.NewBadRequest("no")), "stalled RejectedByAPIServer"},
	} {
		problemtest.Expect(t, name, problem.FromWriteError("", test.err), test.want)
	}
}

func TestIsConflict(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "secrets"}
	if !problem.IsConflict(fmt.Errorf("x: %w", apierrors.NewConflict(resource, "a", nil))) || !problem.IsConflict(apierrors.NewAlreadyExists(resource, "a")) {
		t.Error("IsConflict returned false for a conflict")
	}
	if problem.IsConflict(nil) || problem.IsConflict(apierrors.NewNotFound(resource, "a")) || problem.IsConflict(problem.Stalled("", "X", "x")) {
		t.Error("IsConflict returned true for another error")
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	stalled, waiting, transient := problem.Stalled("", "S", "s"), problem.Waiting("", "W", "w"), errors.New("t")
	for name, test := range map[string]struct {
		failures        []error
		worst, accident string
	}{
		"none":                    {nil, "", ""},
		"stalled first":           {[]error{transient, waiting, fmt.Errorf("a step: %w", stalled)}, "stalled S", "transient"},
		"waiting before accident": {[]error{transient, waiting}, "waiting W", "transient"},
		"the first":               {[]error{waiting, problem.Waiting("", "V", "v")}, "waiting W", ""},
		"an accident":             {[]error{transient}, "transient", "transient"},
	} {
		problemtest.Expect(t, name, problem.Worst(test.failures), test.worst)
		problemtest.Expect(t, name, problem.FirstTransient(test.failures), test.accident)
	}
}
