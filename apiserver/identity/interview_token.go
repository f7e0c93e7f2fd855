// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// InterviewTokenLifetime is how long an interview token is valid.
const InterviewTokenLifetime = 24 * time.Hour

// interviewTokenKind is the kind of interview tokens, which take about 450 bytes each.
var interviewTokenKind = tokenKind{name: "interview token", typ: "interview+jwt", maxSize: 2 << 10}

// interviewClaims are the claims of an interview token. They name the release that ran the
// interview, whose conditions the bearer may read.
type interviewClaims struct {
	jwt.RegisteredClaims
	ModelID      string `json:"model"`
	ModelVersion string `json:"version"`
}

// IssueInterviewToken issues a token for an interview run with a release. It is valid
// for InterviewTokenLifetime.
func (i *TokenIssuer) IssueInterviewToken(modelID, version string) (token string, err error) {
	now := i.now()
	return i.SigningKeys.sign(interviewTokenKind, now, interviewClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    i.issuer(),
			Audience:  jwt.ClaimStrings{i.interviewAudience()},
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(InterviewTokenLifetime)),
		},
		ModelID:      modelID,
		ModelVersion: version,
	})
}

// VerifyInterviewToken returns the release that ran the interview. All errors are
// *InvalidTokenError.
func (i *TokenIssuer) VerifyInterviewToken(token string) (modelID, version string, err error) {
	var claims interviewClaims
	if err := i.SigningKeys.verify(interviewTokenKind, token, i.interviewAudience(), i.now(), &claims); err != nil {
		return "", "", err
	}
	if claims.ModelID == "" || claims.ModelVersion == "" {
		return "", "", interviewTokenKind.invalidError("missing model release")
	}
	return claims.ModelID, claims.ModelVersion, nil
}

// interviewAudience returns the audience of interview tokens. Instance ids contain no slash,
// so it differs from the audience of any access token.
func (i *TokenIssuer) interviewAudience() string { return i.InstanceID + "/interviews" }
