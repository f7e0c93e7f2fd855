// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// InterviewTokenLifetime is how long an interview token is valid.
const InterviewTokenLifetime = 24 * time.Hour

// interviewTokenKind describes interview tokens, about 450 bytes each.
var interviewTokenKind = tokenKind{name: "the interview token", typ: "interview+jwt", maxSize: 2 << 10}

// interviewClaims are the claims of an interview token: the release that ran the
// interview, whose conditions the bearer may read.
type interviewClaims struct {
	jwt.RegisteredClaims
	ModelID      string `json:"model"`
	ModelVersion string `json:"version"`
}

// IssueInterviewToken issues a token for an interview run with a release. It is valid
// for InterviewTokenLifetime.
func (a *TokenIssuer) IssueInterviewToken(modelID, version string) (token string, err error) {
	now := a.now()
	return a.SigningKeys.sign(interviewTokenKind, now, interviewClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    a.issuer(),
			Audience:  jwt.ClaimStrings{a.interviewAudience()},
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(InterviewTokenLifetime)),
		},
		ModelID:      modelID,
		ModelVersion: version,
	})
}

// VerifyInterviewToken returns the release that ran the interview. All errors are
// *InvalidTokenError.
func (a *TokenIssuer) VerifyInterviewToken(token string) (modelID, version string, err error) {
	var said interviewClaims
	if err := a.SigningKeys.verify(interviewTokenKind, token, a.interviewAudience(), a.now(), &said); err != nil {
		return "", "", err
	}
	if said.ModelID == "" || said.ModelVersion == "" {
		return "", "", interviewTokenKind.invalidError("does not name a model release")
	}
	return said.ModelID, said.ModelVersion, nil
}

// interviewAudience returns the audience of interview tokens. Instance ids contain no
// slash, so it differs from every access token's audience.
func (a *TokenIssuer) interviewAudience() string { return a.InstanceID + "/interviews" }
