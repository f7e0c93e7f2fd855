// SPDX-License-Identifier: Apache-2.0

package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secrets are what a receiver knows deliveries by.
type Secrets struct {
	// Token is sent as it is.
	Token string `json:"token"`
	// Signing is what deliveries are signed with, as Standard Webhooks writes it.
	Signing string `json:"signing"`
	// Former signs beside it until FormerUntil.
	Former      string    `json:"former,omitempty"`
	FormerUntil time.Time `json:"former_until,omitzero"`
}

// Format keeps them to itself, whatever the verb.
func (Secrets) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte("secrets of a receiver")) }

const secretPrefix = "whsec_"

// FormerSigns is how long a signing secret signs beside the one in its place.
const FormerSigns = 24 * time.Hour

// SigningSecret writes a signing secret as Standard Webhooks does, which wants 24 to 64
// bytes that nobody can guess.
func SigningSecret(random [32]byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(random[:])
}

// Rotate puts a new signing secret in the place of the one that signs.
func (s Secrets) Rotate(signing string, now time.Time) Secrets {
	s.Former, s.FormerUntil, s.Signing = s.Signing, now.Add(FormerSigns), signing
	return s
}

// Signatures signs a delivery that is made now, with each secret that signs: the header
// webhook-signature.
func (s Secrets) Signatures(eventID string, now time.Time, body []byte) string {
	signatures := []string{signature(s.Signing, eventID, now, body)}
	if s.Former != "" && now.Before(s.FormerUntil) {
		signatures = append(signatures, signature(s.Former, eventID, now, body))
	}
	return strings.Join(signatures, " ")
}

// Timestamp is the header webhook-timestamp of a delivery that is made now.
func Timestamp(now time.Time) string { return strconv.FormatInt(now.Unix(), 10) }

func signature(secret, eventID string, now time.Time, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		panic("a signing secret that SigningSecret did not make") // and never one of a client
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(eventID + "." + Timestamp(now) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
