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
func (v *scope) addRotationMessage(reason, format string, arguments ...any) {
	v.rotationMessages = append(v.rotationMessages, rotationMessage{reason, fmt.Sprintf(format, arguments...)})
}

// setRotationCondition reports in the KeysRotating condition the progress of requested
// rotations, and requests that are invalid.
func (v *scope) setRotationCondition(context.Context) error {
	for _, unknown := range rotation.InvalidEntries(v.Instance.Annotations) {
		v.addRotationMessage(reasonUnknownRotation, "annotation %s: unknown rotation %q: use one of %s, each followed by a colon and a new value",
			rotation.Annotation, unknown, strings.Join(rotation.Targets(), ", "))
	}
	for _, reason := range []string{reasonUnknownRotation, reasonRotating} {
		if messages := v.messagesFor(reason); len(messages) > 0 {
			v.setCondition(v1alpha1.ConditionKeysRotating, metav1.ConditionTrue, reason, "%s", strings.Join(messages, "; "))
			return nil
		}
	}
	meta.RemoveStatusCondition(&v.Instance.Status.Conditions, v1alpha1.ConditionKeysRotating)
	return nil
}

// messagesFor returns the messages for a reason followed by all others, or nil if there
// is no message for the reason.
func (v *scope) messagesFor(reason string) []string {
	var messages, rest []string
	for _, note := range v.rotationMessages {
		if note.reason == reason {
			messages = append(messages, note.message)
		} else {
			rest = append(rest, note.message)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return append(messages, rest...)
}

// rotationRequest returns the requested value for a rotation target, or an empty string.
func (v *scope) rotationRequest(word string) string {
	return rotation.Request(v.Instance.Annotations, word)
}

// isFromEarlierInstance reports whether a Secret is data of an earlier Instance that
// this one adopts.
func (v *scope) isFromEarlierInstance(secret *corev1.Secret) bool {
	uid := secret.GetLabels()[v1alpha1.InstanceUIDLabel]
	return uid != "" && uid != string(v.Instance.UID)
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

func keyRotationAnnotations(turn pki.KeyRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:       turn.Request,
		rotation.NextSinceAnnotation:     authority.FormatTime(turn.NextSince),
		rotation.PreviousSinceAnnotation: authority.FormatTime(turn.PreviousSince),
	}
}

func signingKeyRotationFromSecret(secret *corev1.Secret) pki.SigningKeyRotation {
	turn := pki.SigningKeyRotation{Request: secret.Annotations[rotation.RotatedAnnotation]}
	if retiring := secret.Annotations[rotation.RetiringAnnotation]; retiring != "" {
		turn.Retiring = strings.Split(retiring, ",")
	}
	return turn
}

func signingKeyRotationAnnotations(turn pki.SigningKeyRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:  turn.Request,
		rotation.RetiringAnnotation: strings.Join(turn.Retiring, ","),
	}
}

func keysetRotationFromSecret(secret *corev1.Secret) pki.KeysetRotation {
	return pki.KeysetRotation{
		Request:   secret.Annotations[rotation.RotatedAnnotation],
		NextSince: authority.AnnotationTime(secret, rotation.NextSinceAnnotation),
	}
}

func keysetRotationAnnotations(turn pki.KeysetRotation) map[string]string {
	return map[string]string{
		rotation.RotatedAnnotation:   turn.Request,
		rotation.NextSinceAnnotation: authority.FormatTime(turn.NextSince),
	}
}

// requeueIfDue requests a reconcile at the due time, unless due is zero.
func (v *scope) requeueIfDue(due time.Time) {
	if !due.IsZero() {
		v.RequeueAt(due.Add(time.Second)) // annotations hold times in whole seconds
	}
}
