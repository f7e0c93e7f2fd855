// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which pod template an Instance's Deployment is to have,
// and judges how far the Deployment has come with it.
//
// The wish is the template that the spec asks for. One that did not become ready
// in time is given up, and what was ready before is put back. All of it is pure:
// what is known goes in as Facts, and the Plan comes out.
package rollout

import (
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Facts are what the choice of a pod template depends on.
type Facts struct {
	// Wish is the hash of the template that the spec asks for, and Generation
	// that of the spec.
	Wish       string
	Generation int64
	// Server is the build that the wish is made with.
	Server v1alpha1.ServerPin
	// Live is the hash of the template that the Deployment has, Pods how many it
	// is to have of it, and State how far it has come.
	Live  string
	Pods  int32
	State State
	// Memory of earlier visits.
	Memory v1alpha1.Rollout
}

// A Plan says which template the Deployment is to have.
type Plan struct {
	Wish string
	// Failed says that the wish was tried and did not become ready in time.
	Failed bool
	// PutBack says to go back to the template remembered as last ready.
	PutBack bool
	Memory  v1alpha1.Rollout
}

// Decide decides. A wish that did not become ready in time is given up
// until the spec, or something else that it is made of, changes; what was ready
// before is put back, where there was something. Without a Deployment there is
// nothing to go back to, and the wish is tried again.
func Decide(facts Facts) Plan {
	plan := Plan{Wish: facts.Wish, Memory: facts.Memory}
	memory := &plan.Memory
	if facts.State == Settled && facts.Live != "" {
		if facts.Pods > 0 {
			memory.LastReady = facts.Live
		}
		if facts.Live == facts.Wish {
			memory.ProvenServer = facts.Server
		}
	}
	if facts.State == Overdue && facts.Live == facts.Wish {
		memory.Failed, memory.FailedGeneration = facts.Wish, facts.Generation
	}
	plan.Failed = memory.Failed == facts.Wish && memory.FailedGeneration == facts.Generation &&
		memory.LastReady != facts.Wish && facts.State != Absent
	if !plan.Failed {
		memory.Failed, memory.FailedGeneration, memory.FailedBecause = "", 0, ""
	}
	plan.PutBack = plan.Failed && memory.LastReady != ""
	return plan
}
