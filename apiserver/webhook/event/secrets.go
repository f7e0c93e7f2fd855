// SPDX-License-Identifier: Apache-2.0

package event

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secrets authenticate deliveries to a receiver.
type Secrets struct {
	// Token is sent verbatim.
	Token string `json:"token"`
	// SigningSecret signs deliveries, in the Standard Webhooks encoding.
	SigningSecret string `json:"signing"`
	// PreviousSigningSecret also signs until PreviousValidUntil.
	PreviousSigningSecret string    `json:"former,omitempty"`
	PreviousValidUntil    time.Time `json:"former_until,omitzero"`
}

// Format implements fmt.Formatter and redacts the secrets for every verb.
func (Secrets) Format(state fmt.State, _ rune) {
	_, _ = state.Write([]byte("[redacted receiver secrets]"))
}

const signingSecretPrefix = "whsec_"

// RotationOverlap is how long the previous signing secret keeps signing after a
// rotation.
const RotationOverlap = 24 * time.Hour

// EncodeSigningSecret encodes a signing secret in the Standard Webhooks format, which
// requires 24 to 64 random bytes.
func EncodeSigningSecret(random [32]byte) string {
	return signingSecretPrefix + base64.StdEncoding.EncodeToString(random[:])
}

// Rotate replaces the signing secret and keeps the old one as the previous secret.
func (s Secrets) Rotate(signing string, now time.Time) Secrets {
	s.PreviousSigningSecret, s.PreviousValidUntil, s.SigningSecret = s.SigningSecret, now.Add(RotationOverlap), signing
	return s
}

// Signatures returns the webhook-signature header for a delivery sent now, with one
// signature per active secret.
func (s Secrets) Signatures(eventID string, now time.Time, body []byte) string {
	signatures := []string{sign(s.SigningSecret, eventID, now, body)}
	if s.PreviousSigningSecret != "" && now.Before(s.PreviousValidUntil) {
		signatures = append(signatures, sign(s.PreviousSigningSecret, eventID, now, body))
	}
	return strings.Join(signatures, " ")
}

// Timestamp returns the webhook-timestamp header for a delivery sent now.
func Timestamp(now time.Time) string { return strconv.FormatInt(now.Unix(), 10) }

func sign(secret, eventID string, now time.Time, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, signingSecretPrefix))
	if err != nil {
		panic("invalid signing secret") // signing secrets never come from clients
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(eventID + "." + Timestamp(now) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
