// SPDX-License-Identifier: Apache-2.0

package steps

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

// Reasons of KeysTurning, the one to be told first first.
const (
	reasonRotateUnknown = "RotateUnknown"
	reasonAwaitsServer  = "AwaitsServer"
	reasonTurning       = "Turning"
)

// A turnNote is something to be said about keys that turn.
type turnNote struct{ reason, message string }

// noteTurn notes what is to be said of keys that turn.
func (v *Visit) noteTurn(reason, format string, arguments ...any) {
	v.turns = append(v.turns, turnNote{reason, fmt.Sprintf(format, arguments...)})
}

// noteWaitingTurn says of keys that they turn with a later server.
func (v *Visit) noteWaitingTurn(word string) {
	v.noteTurn(reasonAwaitsServer, "%s turn when this Instance has moved to the server that all are to have: the one it has knows one key at a time", word)
}

// tellTurning says in KeysTurning how far keys have turned that were asked to, and
// what was asked for that nobody understands.
func (v *Visit) tellTurning(context.Context) error {
	for _, unknown := range rotation.Unknown(v.Instance.Annotations) {
		v.noteTurn(reasonRotateUnknown, "the annotation %s asks for %q, which is nothing that turns: name one of %s, each with a colon and a new value",
			rotation.Annotation, unknown, strings.Join(rotation.Words(), ", "))
	}
	for _, reason := range []string{reasonRotateUnknown, reasonAwaitsServer, reasonTurning} {
		if messages := v.turnMessages(reason); len(messages) > 0 {
			v.mark(v1alpha1.ConditionKeysTurning, metav1.ConditionTrue, reason, "%s", strings.Join(messages, "; "))
			return nil
		}
	}
	meta.RemoveStatusCondition(&v.Instance.Status.Conditions, v1alpha1.ConditionKeysTurning)
	return nil
}

// turnMessages are what is to be said for a reason, followed by the rest; none when
// nothing is to be said for it.
func (v *Visit) turnMessages(reason string) []string {
	var messages, rest []string
	for _, note := range v.turns {
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

// asked is what somebody asks for by a word; empty for nothing.
func (v *Visit) asked(word string) string { return rotation.Request(v.Instance.Annotations, word) }

// isAnothers says whether a Secret is data of an earlier Instance, which this one
// takes up.
func (v *Visit) isAnothers(secret *corev1.Secret) bool {
	uid := secret.GetLabels()[v1alpha1.InstanceUIDLabel]
	return uid != "" && uid != string(v.Instance.UID)
}

// keyTurnOf and its like read how far keys have turned from the Secret that holds
// them, and notesOf… write it.
func keyTurnOf(secret *corev1.Secret) pki.KeyTurn {
	return pki.KeyTurn{
		Request:       secret.Annotations[rotation.MetAnnotation],
		NextSince:     authority.TimeOf(secret, rotation.NextSinceAnnotation),
		PreviousSince: authority.TimeOf(secret, rotation.PreviousSinceAnnotation),
	}
}

func notesOfKeys(turn pki.KeyTurn) map[string]string {
	return map[string]string{
		rotation.MetAnnotation:           turn.Request,
		rotation.NextSinceAnnotation:     authority.FormatTime(turn.NextSince),
		rotation.PreviousSinceAnnotation: authority.FormatTime(turn.PreviousSince),
	}
}

func signingTurnOf(secret *corev1.Secret) pki.SigningTurn {
	turn := pki.SigningTurn{Request: secret.Annotations[rotation.MetAnnotation]}
	if retiring := secret.Annotations[rotation.RetiringAnnotation]; retiring != "" {
		turn.Retiring = strings.Split(retiring, ",")
	}
	return turn
}

func notesOfSigningKeys(turn pki.SigningTurn) map[string]string {
	return map[string]string{
		rotation.MetAnnotation:      turn.Request,
		rotation.RetiringAnnotation: strings.Join(turn.Retiring, ","),
	}
}

func keysetTurnOf(secret *corev1.Secret) pki.KeysetTurn {
	return pki.KeysetTurn{
		Request:   secret.Annotations[rotation.MetAnnotation],
		NextSince: authority.TimeOf(secret, rotation.NextSinceAnnotation),
	}
}

func notesOfKeysets(turn pki.KeysetTurn) map[string]string {
	return map[string]string{
		rotation.MetAnnotation:       turn.Request,
		rotation.NextSinceAnnotation: authority.FormatTime(turn.NextSince),
	}
}

// lookAgainIfDue asks for a visit when something is due; never is zero.
func (v *Visit) lookAgainIfDue(due time.Time) {
	if !due.IsZero() {
		v.LookAgainAt(due.Add(time.Second)) // times are kept in whole seconds
	}
}
