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

// A SavedState is the rollout state that the operator must not lose. It is stored on the
// Deployment, in the same write as the pod template that it describes. Otherwise, a failed
// template would be retried after a restore without status or a rejected status write.
type SavedState struct {
	// Server is the server build that the Instance is pinned to.
	Server v1alpha1.ServerBuild `json:"server"`
	v1alpha1.RolloutStatus
}

// Encode encodes the state for LoadState.
func (s SavedState) Encode() (string, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encoding the rollout state: %w", err)
	}
	return string(encoded), nil
}

// LoadState returns the state saved on a Deployment, or else the state in the status:
// the Deployment may not exist, or an earlier operator may have saved the state in the
// status alone. If the saved state is invalid, LoadState returns the state from the
// status together with an error; the state is usable in either case.
func LoadState(deployment *appsv1.Deployment, status v1alpha1.InstanceStatus) (SavedState, error) {
	fromStatus := SavedState{Server: status.Server, RolloutStatus: status.Rollout}
	if deployment == nil || deployment.Annotations[resources.RolloutAnnotation] == "" {
		return fromStatus, nil
	}
	saved, err := decodeState(deployment.Annotations[resources.RolloutAnnotation])
	if err != nil {
		return fromStatus, fmt.Errorf("reading annotation %s of Deployment %s: %w", resources.RolloutAnnotation, deployment.Name, err)
	}
	return saved, nil
}

// errNoServer is returned for a state without a server build, which no operator writes.
var errNoServer = errors.New("server build not set")

// decodeState decodes a saved state and ignores fields added by a newer operator.
func decodeState(text string) (SavedState, error) {
	var state SavedState
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return SavedState{}, err
	}
	if state.Server.Image == "" {
		return SavedState{}, errNoServer
	}
	return state, nil
}

// statusTime returns the time as stored in a status, in whole seconds.
func statusTime(now time.Time) *metav1.Time {
	truncated := metav1.NewTime(now).Rfc3339Copy()
	return &truncated
}
