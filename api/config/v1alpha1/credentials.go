// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CredentialsExtension is the extension of the files that the server reads from the
// directory of --credentials-dir. It ignores other files.
const CredentialsExtension = ".json"

// MaxApplicationKeys is the maximum number of keys of an application that are valid at a
// time.
const MaxApplicationKeys = 4

// ApplicationCredentials is a JSON file in the directory of --credentials-dir: one
// application that may call the server.
type ApplicationCredentials struct {
	// ID is 1 to 128 visible ASCII characters without a colon.
	ID string `json:"id"`
	// Key is 1 to 512 visible ASCII characters.
	Key string `json:"key"`
	// Keys are additional keys that are valid during a key rotation.
	Keys []string `json:"keys,omitempty"`
	// Scopes are the application's permissions. Required; an empty list grants no
	// permissions. The server rejects unknown scopes.
	Scopes []string `json:"scopes"`
	// Plan is the name of the plan that limits the application. If unset, its calls are
	// unlimited.
	Plan string `json:"plan,omitempty"`
	// DevMode enables the Dev-Mode header. Defaults to false.
	DevMode bool `json:"devMode,omitempty"`
}

// EncodeApplicationCredentials encodes a file.
func EncodeApplicationCredentials(c ApplicationCredentials) []byte {
	encoded, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("encoding strings: %v", err)) // cannot fail
	}
	return encoded
}

// DecodeApplicationCredentials decodes a file without validating it. Errors contain
// positions and names only, never content.
func DecodeApplicationCredentials(file []byte) (ApplicationCredentials, error) {
	var (
		c      ApplicationCredentials
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch err := json.Unmarshal(bytes.TrimPrefix(file, []byte("\ufeff")), &c); {
	case errors.As(err, &syntax):
		return ApplicationCredentials{}, fmt.Errorf(`invalid JSON at byte %d: expected {"id": "...", "key": "...", "keys": [...], "scopes": [...], "plan": "...", "devMode": false}`, syntax.Offset)
	case errors.As(err, &kind):
		return ApplicationCredentials{}, fmt.Errorf("field %q has JSON type %s: id, key and plan must be strings, keys and scopes lists of strings, and devMode a boolean", kind.Field, kind.Value)
	case err != nil:
		return ApplicationCredentials{}, errors.New("invalid JSON: expected an object")
	}
	return c, nil
}

// AllKeys returns all keys of the application.
func (c ApplicationCredentials) AllKeys() []string { return append([]string{c.Key}, c.Keys...) }

// Validate validates everything except the scope names. Errors contain no keys.
func (c ApplicationCredentials) Validate() error {
	keys := c.AllKeys()
	isInvalidKey := func(key string) bool { return !isVisibleASCII(key, 512) }
	switch {
	case !isVisibleASCII(c.ID, 128) || strings.Contains(c.ID, ":"):
		return errors.New("the id must be 1 to 128 visible ASCII characters without a colon")
	case len(keys) > MaxApplicationKeys || slices.ContainsFunc(keys, isInvalidKey):
		return fmt.Errorf("the key and each additional key must be 1 to 512 visible ASCII characters, with at most %d additional keys", MaxApplicationKeys-1)
	case c.Scopes == nil:
		return errors.New("scopes is missing: list the scopes, or set an empty list to grant none")
	}
	return nil
}

// isVisibleASCII reports whether text consists of 1 to limit visible ASCII characters, so
// that it is a valid header value.
func isVisibleASCII(text string, limit int) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != "" && len(text) <= limit
}
