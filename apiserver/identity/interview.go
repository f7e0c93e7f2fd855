// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// InterviewTokenLifetime is how long an interview token is good.
const InterviewTokenLifetime = 24 * time.Hour

// interviewTokens have some 450 bytes.
var interviewTokens = tokenKind{name: "the interview token", typ: "interview+jwt", maxSize: 2 << 10}

// interviewClaims are what an interview token says: which release answered the
// interview that may read about its conditions.
type interviewClaims struct {
	jwt.RegisteredClaims
	Model   string `json:"model"`
	Version string `json:"version"`
}

// IssueInterviewToken makes a token for the interview that a release answered,
// good for InterviewTokenLifetime.
func (a *Authority) IssueInterviewToken(modelID, version string) (token string, err error) {
	now := a.now()
	return a.Keys.sign(interviewTokens, now, interviewClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    a.issuer(),
			Audience:  jwt.ClaimStrings{a.interviews()},
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(InterviewTokenLifetime)),
		},
		Model:   modelID,
		Version: version,
	})
}

// VerifyInterviewToken returns the release that answered the interview. Any
// error is an *InvalidTokenError.
func (a *Authority) VerifyInterviewToken(token string) (modelID, version string, err error) {
	var said interviewClaims
	if err := a.Keys.verify(interviewTokens, token, a.interviews(), a.now(), &said); err != nil {
		return "", "", err
	}
	if said.Model == "" || said.Version == "" {
		return "", "", interviewTokens.invalid("names no release")
	}
	return said.Model, said.Version, nil
}

// interviews is the audience of interview tokens. No id of an instance has a
// slash, so it is that of no access token.
func (a *Authority) interviews() string { return a.Instance + "/interviews" }
