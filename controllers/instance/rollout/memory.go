// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// A Memory is what the operator must not forget of an Instance's pods. It lives
// with the Deployment, in the same write as the pod template that it speaks of: a
// status may be lost in a restore, or its write refused, and what failed must not
// be tried again for that.
type Memory struct {
	// Server is the build that the Instance is pinned to.
	Server v1alpha1.ServerPin `json:"server"`
	v1alpha1.Rollout
}

// Encode writes a memory for Recall to read.
func (m Memory) Encode() (string, error) {
	encoded, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding what is remembered of pod templates: %w", err)
	}
	return string(encoded), nil
}

// Recall gives what a Deployment remembers, else what the status says: the
// Deployment may be gone, or be one of an operator that remembered in the status
// alone. What cannot be read counts as absent, and the error says so; the memory
// is good all the same.
func Recall(deployment *appsv1.Deployment, status v1alpha1.InstanceStatus) (Memory, error) {
	derived := Memory{Server: status.Server, Rollout: status.Rollout}
	if deployment == nil || deployment.Annotations[resources.RolloutAnnotation] == "" {
		return derived, nil
	}
	memory, err := decode(deployment.Annotations[resources.RolloutAnnotation])
	if err != nil {
		return derived, fmt.Errorf("reading annotation %s of Deployment %s: %w", resources.RolloutAnnotation, deployment.Name, err)
	}
	return memory, nil
}

// errNoServer is of a memory that no operator wrote: each is of some build.
var errNoServer = errors.New("it names no build of the server")

// decode reads a memory. Fields that a newer operator added are left out.
func decode(text string) (Memory, error) {
	var memory Memory
	if err := json.Unmarshal([]byte(text), &memory); err != nil {
		return Memory{}, err
	}
	if memory.Server.Image == "" {
		return Memory{}, errNoServer
	}
	return memory, nil
}

// timeOf is a time as a status keeps it, which leaves fractions of seconds out.
func timeOf(now time.Time) *metav1.Time {
	kept := metav1.NewTime(now).Rfc3339Copy()
	return &kept
}
