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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons why the token for a receiver is not available.
const (
	reasonTokenSecretNotFound = "TokenSecretNotFound"
	reasonTokenSecretInvalid  = "TokenSecretInvalid"
)

// defaultTokenKey is the default of the Secret key that holds the token.
const defaultTokenKey = "token"

// maxTokenLength is the maximum length that the API accepts, in bytes.
const maxTokenLength = 512

// readToken reads the token to send to a receiver. The author of a WebhookConfig can
// choose any receiver, so readToken accepts only users' own Secrets, not Secrets that the
// operator or Kubernetes manages.
func readToken(ctx context.Context, reader cluster.Reader, config *v1alpha1.WebhookConfig) (string, error) {
	name, key := config.Spec.AuthorizationTokenSecretRef.Name, cmp.Or(config.Spec.AuthorizationTokenSecretRef.Key, defaultTokenKey)
	secret, err := reader.GetSecret(ctx, "", reasonTokenSecretNotFound, name, "the token in key "+key)
	if err != nil {
		return "", err
	}
	token := string(secret.Data[key])
	switch {
	case secret.Labels[resources.ManagedByLabel] == resources.ManagedByValue:
		return "", invalidToken("Secret %s is managed by the operator: use your own Secret, with the token in key %s", name, key)
	case cmp.Or(secret.Type, corev1.SecretTypeOpaque) != corev1.SecretTypeOpaque:
		return "", invalidToken("Secret %s has type %s: use a Secret of type %s created for the receiver", name, secret.Type, corev1.SecretTypeOpaque)
	case !isValidToken(token):
		return "", invalidToken("Secret %s has no valid token in key %s: the token must be 1 to %d visible ASCII characters without a trailing newline", name, key, maxTokenLength)
	}
	return token, nil
}

func invalidToken(format string, arguments ...any) *problem.Error {
	return problem.Stalled("", reasonTokenSecretInvalid, format, arguments...)
}

func isValidToken(text string) bool {
	isInvisible := func(char rune) bool { return char < '!' || char > '~' }
	return text != "" && len(text) <= maxTokenLength && !strings.ContainsFunc(text, isInvisible)
}

// hashToken returns a hash of the token, keyed with the signing secret. Without the signing
// secret, the hash does not reveal even a weak token.
func hashToken(secret, token string) string {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte("authorization token\x00" + token))
	return hex.EncodeToString(sum.Sum(nil))
}
