// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

const (
	reasonVolumeBound      = "VolumeBound"
	reasonVolumeLost       = "VolumeLost"
	reasonVolumePending    = "VolumePending"
	reasonVolumeCannotBind = "VolumeCannotBind"
	reasonDataAdopted      = "DataAdopted"
	reasonDataRetained     = "DataRetained"
)

// classGrace is how long a claim may name a storage class that does not exist:
// it is bound all the same where a volume made by hand names the same class.
const classGrace = 10 * time.Second

// volumeFacts is what can be known about a claim that is not bound.
type volumeFacts struct {
	// claim is nil when it was only just made.
	claim *corev1.PersistentVolumeClaim
	// classMissing is the storage class that the claim names and nobody made.
	classMissing string
	// classes there are instead.
	classes []string
	// complaint is the newest event about the claim.
	complaint string
	// deadline is how long a claim may wait to be bound.
	deadline time.Duration
	now      time.Time
}

// judgeVolume gives the problem with a claim, or nil when it is bound.
func judgeVolume(facts volumeFacts) *problem.Problem {
	const condition = v1alpha1.ConditionStorageReady
	if facts.claim == nil {
		return problem.Waiting(condition, reasonVolumePending, "the volume claim was just made")
	}
	name := facts.claim.Name
	switch facts.claim.Status.Phase {
	case corev1.ClaimBound:
		return nil
	case corev1.ClaimLost:
		return problem.Stalled(condition, reasonVolumeLost, "the volume of claim %s is gone: bring the volume back, or delete the claim to go on with an empty one", name)
	}
	age := facts.now.Sub(facts.claim.CreationTimestamp.Time)
	if facts.classMissing != "" && age > classGrace {
		return problem.Stalled(condition, reasonVolumeCannotBind, "volume claim %s asks for storage class %s, which does not exist: make it, or make the Instance anew with another; there are: %s",
			name, facts.classMissing, cmp.Or(strings.Join(facts.classes, ", "), "none"))
	}
	said := ""
	if facts.complaint != "" {
		said = ": " + facts.complaint
	}
	if age > facts.deadline {
		return problem.Stalled(condition, reasonVolumeCannotBind, "volume claim %s was not bound within %s%s", name, facts.deadline, said)
	}
	return problem.Waiting(condition, reasonVolumePending, "volume claim %s is not bound yet%s", name, said)
}
