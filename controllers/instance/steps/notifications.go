// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Reasons of NotificationsReady.
const (
	reasonNotificationsConfigured    = "Configured"
	reasonNotificationsNotConfigured = "NotConfigured"
	reasonNotificationsSecretMissing = "SecretMissing"
	reasonNotificationsSecretInvalid = "SecretInvalid"
)

// applyNotifications puts into one Secret what the server sends messages by: copies
// of what the spec refers to, as with certificates, so that nothing gets that far
// that a server cannot use, and what was good last stays. What is wrong with it
// stops nothing else: the Instance serves, and people cannot be sent codes.
func (v *Visit) applyNotifications(ctx context.Context) error {
	live, err := v.Children.Secret(ctx, resources.NotificationsName(v.Instance))
	if err != nil {
		return err
	}
	had := map[string][]byte{}
	if live != nil {
		had = live.Data
	}
	v.input.NotificationPorts = resources.NotificationPorts(v.Instance, had)
	senders := resources.Senders(v.Instance)
	switch {
	case len(senders) == 0:
		v.markNotifications(metav1.ConditionFalse, reasonNotificationsNotConfigured, "spec.notifications names no sender: people cannot be sent codes")
		return nil
	case !v.input.SendsNotifications():
		v.markNotifications(metav1.ConditionFalse, reasonAwaitsServer, "messages are sent when this Instance has moved to the server that all are to have")
		return nil
	}
	files, wrong, err := v.senderFiles(ctx, senders, had)
	if err != nil {
		return err
	}
	v.input.NotificationPorts = resources.NotificationPorts(v.Instance, files)
	v.tellSenders(senders, wrong)
	if object := resources.BuildNotificationsSecret(v.input, files); object != nil {
		return v.put(ctx, "", object)
	}
	return nil
}

// senderFiles are the files of all senders, and what is wrong with some.
func (v *Visit) senderFiles(ctx context.Context, senders []resources.Sender, had map[string][]byte) (files map[string][]byte, wrong []*problem.Problem, err error) {
	files = map[string][]byte{}
	for _, sender := range senders {
		content, err := v.senderContent(ctx, sender)
		switch found := problem.Of(err); {
		case found != nil:
			wrong = append(wrong, found)
			content = sender.Given(had)
		case err != nil:
			return nil, nil, err
		}
		maps.Copy(files, sender.Files(content))
	}
	return files, wrong, nil
}

// senderContent reads the Secret of a sender.
func (v *Visit) senderContent(ctx context.Context, sender resources.Sender) (map[string][]byte, error) {
	secret, err := v.Secret(ctx, v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretMissing, sender.Secret, sender.Want)
	if err != nil {
		return nil, err
	}
	if metav1.IsControlledBy(secret, v.Instance) || v.Authority.Holds(secret) {
		return nil, problem.Stalled(v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretInvalid,
			"Secret %s is one that the operator made: name one that you made, with %s", sender.Secret, sender.Want)
	}
	if err := sender.Check(secret.Data); err != nil {
		return nil, problem.Stalled(v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretInvalid, "Secret %s: %v", sender.Secret, err)
	}
	return secret.Data, nil
}

// tellSenders says in NotificationsReady by what messages are sent, and what is
// wrong.
func (v *Visit) tellSenders(senders []resources.Sender, wrong []*problem.Problem) {
	if len(wrong) == 0 {
		v.markNotifications(metav1.ConditionTrue, reasonNotificationsConfigured, "messages are sent by "+joined(senders, " and "))
		return
	}
	v.markWrong(wrong)
}

func (v *Visit) markNotifications(value metav1.ConditionStatus, reason, message string) {
	v.mark(v1alpha1.ConditionNotificationsReady, value, reason, "%s", message)
}

func joined[T fmt.Stringer](all []T, between string) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = one.String()
	}
	return strings.Join(words, between)
}
