// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
)

// Reasons why there is no token to give to a receiver.
const (
	reasonTokenSecretNotFound = "TokenSecretNotFound"
	reasonTokenSecretInvalid  = "TokenSecretInvalid"
)

// tokenKey is the key of a Secret that holds the token, where a spec names no other.
const tokenKey = "token"

// longestToken is what the API takes, in bytes.
const longestToken = 512

// readToken reads what a receiver is to be shown. Whoever may write a
// WebhookConfig has it sent to an address of their choice: only what people keep in
// Secrets of their own is, and neither what the operator keeps there nor what
// Kubernetes does.
func readToken(ctx context.Context, around surroundings.Surroundings, config *v1alpha1.WebhookConfig) (string, error) {
	name, key := config.Spec.AuthorizationTokenSecretRef.Name, cmp.Or(config.Spec.AuthorizationTokenSecretRef.Key, tokenKey)
	secret, err := around.Secret(ctx, "", reasonTokenSecretNotFound, name, "the token under the key "+key)
	if err != nil {
		return "", err
	}
	token := string(secret.Data[key])
	switch {
	case secret.Labels[resources.ManagedByLabel] == resources.ManagedByValue:
		return "", invalidToken("Secret %s is one that the operator made: name one that you made, with the token under the key %s", name, key)
	case cmp.Or(secret.Type, corev1.SecretTypeOpaque) != corev1.SecretTypeOpaque:
		return "", invalidToken("Secret %s is of type %s: name one of type %s, made for the receiver", name, secret.Type, corev1.SecretTypeOpaque)
	case !isToken(token):
		return "", invalidToken("Secret %s has no token under the key %s: put 1 to %d visible ASCII characters there, without a line break at the end", name, key, longestToken)
	}
	return token, nil
}

func invalidToken(format string, arguments ...any) *problem.Problem {
	return problem.Stalled("", reasonTokenSecretInvalid, format, arguments...)
}

func isToken(text string) bool {
	isInvisible := func(char rune) bool { return char < '!' || char > '~' }
	return text != "" && len(text) <= longestToken && !strings.ContainsFunc(text, isInvisible)
}

// hashToken tells tokens apart for whoever knows the signing secret, and gives
// nothing away to others, whatever the token is.
func hashToken(secret, token string) string {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte("authorization token\x00" + token))
	return hex.EncodeToString(sum.Sum(nil))
}
