// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonVolumeBound      = "VolumeBound"
	reasonVolumeLost       = "VolumeLost"
	reasonVolumePending    = "VolumePending"
	reasonVolumeBindFailed = "VolumeBindFailed"
	reasonDataAdopted      = "DataAdopted"
	reasonDataRetained     = "DataRetained"
)

// storageClassGracePeriod is how long a claim may reference a missing storage class. Such
// a claim can still bind to a manually created volume of the same class.
const storageClassGracePeriod = 10 * time.Second

// volumeFacts are the observed state of an unbound claim.
type volumeFacts struct {
	// claim is nil if it was just created.
	claim *corev1.PersistentVolumeClaim
	// missingClass is the claim's storage class if that class does not exist.
	missingClass string
	// availableClasses are the storage classes that exist.
	availableClasses []string
	// latestEvent is the message of the latest event about the claim.
	latestEvent string
	// deadline is how long a claim may stay unbound.
	deadline time.Duration
	now      time.Time
}

// checkVolume returns the problem with a claim, or nil if the claim is bound.
func checkVolume(facts volumeFacts) *problem.Error {
	const condition = v1alpha1.ConditionStorageReady
	if facts.claim == nil {
		return problem.Waiting(condition, reasonVolumePending, "the volume claim was just created")
	}
	name := facts.claim.Name
	switch facts.claim.Status.Phase {
	case corev1.ClaimBound:
		return nil
	case corev1.ClaimLost:
		return problem.Stalled(condition, reasonVolumeLost, "the volume of claim %s no longer exists: restore the volume, or delete the claim to continue with an empty volume", name)
	}
	age := facts.now.Sub(facts.claim.CreationTimestamp.Time)
	if facts.missingClass != "" && age > storageClassGracePeriod {
		return problem.Stalled(condition, reasonVolumeBindFailed, "volume claim %s requests storage class %s, which does not exist: create the class, or recreate the Instance with another class; available: %s",
			name, facts.missingClass, cmp.Or(strings.Join(facts.availableClasses, ", "), "none"))
	}
	detail := ""
	if facts.latestEvent != "" {
		detail = ": " + facts.latestEvent
	}
	if age > facts.deadline {
		return problem.Stalled(condition, reasonVolumeBindFailed, "volume claim %s was not bound within %s%s", name, facts.deadline, detail)
	}
	return problem.Waiting(condition, reasonVolumePending, "volume claim %s is not bound yet%s", name, detail)
}
