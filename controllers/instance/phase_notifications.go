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
// the last valid ones stay in use. An invalid sender blocks nothing else: the Instance
// keeps serving, but cannot send codes to users.
func (v *scope) applyNotifications(ctx context.Context) error {
	live, err := v.Objects.GetSecret(ctx, resources.NotificationsSecretName(v.Instance))
	if err != nil {
		return err
	}
	had := map[string][]byte{}
	if live != nil {
		had = live.Data
	}
	v.input.NotificationPorts = resources.NotificationPorts(v.Instance, had)
	senders := resources.Senders(v.Instance)
	if len(senders) == 0 {
		v.setNotificationsCondition(metav1.ConditionFalse, reasonNotificationsNotConfigured, "spec.notifications configures no sender: users cannot receive sign-in codes")
		return nil
	}
	files, wrong, err := v.senderFiles(ctx, senders, had)
	if err != nil {
		return err
	}
	v.input.NotificationPorts = resources.NotificationPorts(v.Instance, files)
	v.reportSenders(senders, wrong)
	if object := resources.BuildNotificationsSecret(v.input, files); object != nil {
		return v.apply(ctx, "", object)
	}
	return nil
}

// senderFiles returns the files of all senders and the problems with some of them.
func (v *scope) senderFiles(ctx context.Context, senders []resources.Sender, had map[string][]byte) (files map[string][]byte, wrong []*problem.Error, err error) {
	files = map[string][]byte{}
	for _, sender := range senders {
		content, err := v.readSender(ctx, sender)
		switch found := problem.FromError(err); {
		case found != nil:
			wrong = append(wrong, found)
			content = sender.Content(had)
		case err != nil:
			return nil, nil, err
		}
		maps.Copy(files, sender.Files(content))
	}
	return files, wrong, nil
}

// readSender reads the Secret of a sender.
func (v *scope) readSender(ctx context.Context, sender resources.Sender) (map[string][]byte, error) {
	secret, err := v.GetSecret(ctx, v1alpha1.ConditionNotificationsReady, reasonNotificationsSecretMissing, sender.SecretName, sender.Expected)
	if err != nil {
		return nil, err
	}
	if metav1.IsControlledBy(secret, v.Instance) || v.Issuer.IsCASecret(secret) {
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
func (v *scope) reportSenders(senders []resources.Sender, wrong []*problem.Error) {
	if len(wrong) == 0 {
		v.setNotificationsCondition(metav1.ConditionTrue, reasonNotificationsConfigured, "messages are sent by "+joinStringers(senders, " and "))
		return
	}
	v.setConditionFromFailures(wrong)
}

func (v *scope) setNotificationsCondition(value metav1.ConditionStatus, reason, message string) {
	v.setCondition(v1alpha1.ConditionNotificationsReady, value, reason, "%s", message)
}

func joinStringers[T fmt.Stringer](all []T, between string) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = one.String()
	}
	return strings.Join(words, between)
}
