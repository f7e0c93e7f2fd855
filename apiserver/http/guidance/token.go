// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
)

// CreateToken implements contract.StrictServerInterface.
func (h handlers) CreateToken(ctx context.Context, request contract.CreateTokenRequestObject) (contract.CreateTokenResponseObject, error) {
	tokenRequest := ctx.Value(tokenRequestKey{}).(identity.TokenRequest) // set by authenticateClient
	body := request.JSONBody
	if body == nil {
		body = request.FormdataBody
	}
	if body == nil {
		return tokenErrorResponse{identity.InvalidRequest, "the body is missing"}, nil
	}
	tokenRequest.GrantType, tokenRequest.Scope = stringOrEmpty(body.GrantType), stringOrEmpty(body.Scope)
	token, err := h.TokenIssuer.IssueToken(tokenRequest)
	var oauthErr *identity.OAuthError
	if errors.As(err, &oauthErr) {
		return tokenErrorResponse(*oauthErr), nil
	}
	if err != nil {
		return nil, err
	}
	return contract.CreateToken200JSONResponse{
		Headers: contract.CreateToken200ResponseHeaders{CacheControl: "no-store"},
		Body: contract.Token{
			AccessToken: token,
			TokenType:   contract.TokenTokenTypeBearer,
			ExpiresIn:   int(identity.TokenLifetime.Seconds()),
		},
	}, nil
}

// tokenErrorResponse is an error response of createToken.
type tokenErrorResponse identity.OAuthError

// VisitCreateTokenResponse writes the error with the status for its code.
func (e tokenErrorResponse) VisitCreateTokenResponse(w http.ResponseWriter) error {
	writeTokenError(w, (*identity.OAuthError)(&e))
	return nil
}

// writeTokenError writes an OAuth error with the status for its code.
func writeTokenError(w http.ResponseWriter, e *identity.OAuthError) {
	status := http.StatusBadRequest
	if e.Code == identity.InvalidClient {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="anamnesis"`) // RFC 6749, section 5.2
	}
	writeOAuthError(w, status, contract.OAuthErrorError(e.Code), e.Description)
}

// GetKeys implements contract.StrictServerInterface.
func (h handlers) GetKeys(context.Context, contract.GetKeysRequestObject) (contract.GetKeysResponseObject, error) {
	public := h.TokenIssuer.SigningKeys.PublicKeys()
	keys := make([]contract.Key, 0, len(public))
	for _, key := range public {
		keys = append(keys, contract.Key{
			Kty: contract.KeyKty(key.KeyType),
			Crv: contract.KeyCrv(key.Curve),
			Alg: contract.KeyAlg(key.Algorithm),
			Use: contract.KeyUse(key.Use),
			Kid: key.ID,
			X:   key.X,
		})
	}
	return contract.GetKeys200JSONResponse{
		Headers: contract.GetKeys200ResponseHeaders{CacheControl: "public, max-age=300"},
		Body:    contract.Keys{Keys: keys},
	}, nil
}

func stringOrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
