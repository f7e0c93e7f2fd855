// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of the NotificationsReady condition.
const (
	reasonNotificationsConfigured    = "Configured"
	reasonNotificationsNotConfigured = "NotConfigured"
	reasonNotificationsSecretMissing = "SecretMissing"
	reasonNotificationsSecretInvalid = "SecretInvalid"
)

// applyNotifications copies the settings of all senders into one Secret of the server.
// As with certificates, it copies so that invalid settings never reach the server and
// the last valid settings stay in use. An invalid sender does not block other phases: the
// Instance keeps serving, but cannot send codes to users.
func (s *scope) applyNotifications(ctx context.Context) error {
	live, err := s.Objects.GetSecret(ctx, resources.NotificationsSecretName(s.Instance))
	if err != nil {
		return err
	}
	current := map[string][]byte{}
	if live != nil {
		current = live.Data
	}
	s.input.NotificationPorts = resources.NotificationPorts(s.Instance, current)
	senders := resources.Senders(s.Instance)
	if len(senders) == 0 {
		s.setNotificationsCondition(metav1.ConditionFalse, reasonNotificationsNotConfigured, "spec.notifications configures no sender: users cannot receive sign-in codes")
		return nil
	}
	files, problems, err := s.senderFiles(ctx, senders, current)
	if err != nil {
		return err
	}
	s.input.NotificationPorts = resources.NotificationPorts(s.Instance, files)
	s.reportSenders(senders, problems)
	if object := resources.BuildNotificationsSecret(s.input, files); object != nil {
		return s.apply(ctx, "", object)
	}
	return nil
}

// senderFiles returns the files of all senders and the problems with invalid senders. For
// an invalid sender, it returns the current files.
func (s *scope) senderFiles(ctx context.Context, senders []resources.Sender, current map[string][]byte) (files map[string][]byte, problems []*problem.Error, err error) {
	files = map[string][]byte{}
	for _, sender := range senders {
		content, err := s.readSender(ctx, sender)
		switch found := problem.FromError(err); {
		case found != nil:
			problems = append(problems, found)
			content = sender.Content(current)
		case err != nil:
			return nil, nil, err
		}
		maps.Copy(files, sender.Files(content))
	}
	return files, problems, nil
}

// readSender reads the Secret of a sender.
func (s *scope) readSender(ctx context.Context, sender resources.Sender) (map[string][]byte, error) {
	secret, err := s.GetSecret(ctx, v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretMissing, sender.SecretName, sender.Expected)
	if err != nil {
		return nil, err
	}
	if metav1.IsControlledBy(secret, s.Instance) || s.Issuer.IsCASecret(secret) {
		return nil, problem.Stalled(v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretInvalid,
			"Secret %s was created by the operator: reference a Secret of your own with %s", sender.SecretName, sender.Expected)
	}
	if err := sender.Validate(secret.Data); err != nil {
		return nil, problem.Stalled(v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretInvalid, "Secret %s: %v", sender.SecretName, err)
	}
	return secret.Data, nil
}

// reportSenders reports the configured senders and their problems in the
// NotificationsReady condition.
func (s *scope) reportSenders(senders []resources.Sender, problems []*problem.Error) {
	if len(problems) == 0 {
		s.setNotificationsCondition(metav1.ConditionTrue, reasonNotificationsConfigured, "messages are sent by "+joinStrings(senders, " and "))
		return
	}
	s.setConditionFromFailures(problems)
}

func (s *scope) setNotificationsCondition(status metav1.ConditionStatus, reason, message string) {
	s.setCondition(v1alpha1.ConditionNotificationsReady, status, reason, "%s", message)
}

func joinStrings[T fmt.Stringer](items []T, separator string) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = item.String()
	}
	return strings.Join(words, separator)
}
