// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// Reasons of the KeysRotating condition, in descending priority.
const (
	reasonUnknownRotation = "UnknownRotation"
	reasonRotating        = "Rotating"
)

// A rotationMessage is one message in the KeysRotating condition.
type rotationMessage struct{ reason, message string }

// addRotationMessage adds a message to the KeysRotating condition.
func (s *scope) addRotationMessage(reason, format string, args ...any) {
	s.rotationMessages = append(s.rotationMessages, rotationMessage{reason, fmt.Sprintf(format, args...)})
}

// setRotationCondition reports in the KeysRotating condition the progress of requested
// rotations, and requests that are invalid.
func (s *scope) setRotationCondition(context.Context) error {
	for _, entry := range rotation.InvalidEntries(s.Instance.Annotations) {
		s.addRotationMessage(reasonUnknownRotation, "annotation %s: invalid rotation %q: expected one of %s, followed by a colon and a new value",
			rotation.Annotation, entry, strings.Join(rotation.Targets(), ", "))
	}
	for _, reason := range []string{reasonUnknownRotation, reasonRotating} {
		if messages := s.messagesFor(reason); len(messages) > 0 {
			s.setCondition(v1alpha1.ConditionKeysRotating, metav1.ConditionTrue, reason, "%s", strings.Join(messages, "; "))
			return nil
		}
	}
	meta.RemoveStatusCondition(&s.Instance.Status.Conditions, v1alpha1.ConditionKeysRotating)
	return nil
}

// messagesFor returns the messages for a reason followed by all other messages, or nil if
// there is no message for the reason.
func (s *scope) messagesFor(reason string) []string {
	var messages, rest []string
	for _, entry := range s.rotationMessages {
		if entry.reason == reason {
			messages = append(messages, entry.message)
		} else {
			rest = append(rest, entry.message)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return append(messages, rest...)
}

// rotationRequest returns the requested value for a rotation target, or an empty string.
func (s *scope) rotationRequest(target string) string {
	return rotation.Request(s.Instance.Annotations, target)
}

// isFromEarlierInstance reports whether a Secret belongs to the adopted data of an earlier
// Instance.
func (s *scope) isFromEarlierInstance(secret *corev1.Secret) bool {
	uid := secret.GetLabels()[v1alpha1.InstanceUIDLabel]
	return uid != "" && uid != string(s.Instance.UID)
}

// keyRotationFromSecret reads the rotation state from the Secret that holds the keys.
// Each …FromSecret function below has a matching …Annotations function that writes the
// state.
func keyRotationFromSecret(secret *corev1.Secret) pki.KeyRotation {
	return pki.KeyRotation{
		Request:       secret.Annotations[rotation.RotatedAnnotation],
		NextSince:     authority.AnnotationTime(secret, rotation.NextSinceAnnotation),
		PreviousSince: authority.AnnotationTime(secret, rotation.PreviousSinceAnnotation),
	}
}

func keyRotationAnnotations(state pki.KeyRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:       state.Request,
		rotation.NextSinceAnnotation:     authority.FormatTime(state.NextSince),
		rotation.PreviousSinceAnnotation: authority.FormatTime(state.PreviousSince),
	}
}

func signingKeyRotationFromSecret(secret *corev1.Secret) pki.SigningKeyRotation {
	state := pki.SigningKeyRotation{Request: secret.Annotations[rotation.RotatedAnnotation]}
	if retiring := secret.Annotations[rotation.RetiringAnnotation]; retiring != "" {
		state.Retiring = strings.Split(retiring, ",")
	}
	return state
}

func signingKeyRotationAnnotations(state pki.SigningKeyRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:  state.Request,
		rotation.RetiringAnnotation: strings.Join(state.Retiring, ","),
	}
}

func keysetRotationFromSecret(secret *corev1.Secret) pki.KeysetRotation {
	return pki.KeysetRotation{
		Request:   secret.Annotations[rotation.RotatedAnnotation],
		NextSince: authority.AnnotationTime(secret, rotation.NextSinceAnnotation),
	}
}

func keysetRotationAnnotations(state pki.KeysetRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:   state.Request,
		rotation.NextSinceAnnotation: authority.FormatTime(state.NextSince),
	}
}

// requeueIfDue requests a reconcile at the due time, unless due is zero.
func (s *scope) requeueIfDue(due time.Time) {
	if !due.IsZero() {
		s.RequeueAt(due.Add(time.Second)) // annotations hold times in whole seconds
	}
}
