// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// Application is a client application of the tenant that calls the API.
type Application struct {
	ID     string
	Scopes []Scope // granted scopes, in the order of AllScopes; read-only
	Plan   string  // name of the plan that limits the application; defaults to the default plan
	// DevMode enables the Dev-Mode header: calls with Dev-Mode: true are not counted and
	// their feedback is discarded. For other applications the header is ignored.
	DevMode bool
}

// HasScope reports whether the application has the scope.
func (a Application) HasScope(scope Scope) bool { return slices.Contains(a.Scopes, scope) }

// Credential is an application with its keys, as stored in a file of a credentials
// directory.
type Credential struct {
	ID  string `json:"id"`  // up to 128 visible ASCII characters, no colon
	Key string `json:"key"` // up to 512 visible ASCII characters
	// Keys are additional valid keys, for key rotation.
	Keys   []string `json:"keys"`
	Scopes []Scope  `json:"scopes"` // required; [] grants no scopes
	Plan   string   `json:"plan"`
	// DevMode sets Application.DevMode.
	DevMode bool `json:"devMode"`
}

// Applications is the set of applications of a tenant. It is safe for concurrent use and
// may change at run time.
type Applications struct {
	byID atomic.Pointer[map[string]registeredApplication]
}

const (
	// maxKeys limits the keys of an application.
	maxKeys = 4
	// maxKeyLength is the maximum length of a key, in bytes.
	maxKeyLength = 512
)

// registeredApplication is an application with digests of its keys, so that keys can be
// compared in constant time and are not held in memory. Unused digests are zero, which
// matches no key.
type registeredApplication struct {
	Application
	keyDigests [maxKeys][sha256.Size]byte
}

// matchesKey reports whether a digest belongs to one of the application's keys. It
// always compares all of them, to run in constant time.
func (r registeredApplication) matchesKey(digest [sha256.Size]byte) bool {
	matches := 0
	for _, known := range r.keyDigests {
		matches |= subtle.ConstantTimeCompare(digest[:], known[:])
	}
	return matches == 1
}

// NewApplications returns a fixed set of applications.
func NewApplications(credentials ...Credential) (*Applications, error) {
	named := map[string]Credential{}
	for i, credential := range credentials {
		named[fmt.Sprintf("credential %d", i)] = credential
	}
	set, err := indexApplications(named)
	if err != nil {
		return nil, err
	}
	var applications Applications
	applications.byID.Store(&set)
	return &applications, nil
}

// LoadApplications loads the applications from a directory with one JSON Credential per
// *.json file. A directory without such files means no applications. The returned
// source, already loaded, keeps the applications up to date while it is watched; if
// anything in the directory is invalid, the previous applications stay in effect.
func LoadApplications(dir string) (*Applications, *reload.Source, error) {
	var applications Applications
	source := &reload.Source{Name: "credentials", Paths: []string{dir}, Apply: func(files reload.Files) error {
		set, err := parseCredentials(files)
		if err == nil {
			applications.byID.Store(&set)
		}
		return err
	}}
	return &applications, source, source.Load()
}

// KeyDigests returns the digests of the keys of each application. Digests identify keys
// and do not authenticate, but they would confirm a correct guess of a weak key.
func (a *Applications) KeyDigests() map[string][][]byte {
	digests := map[string][][]byte{}
	for id, known := range *a.byID.Load() {
		for _, digest := range known.keyDigests {
			if digest != [sha256.Size]byte{} {
				digests[id] = append(digests[id], slices.Clone(digest[:]))
			}
		}
	}
	return digests
}

// Authenticate returns the application with this id and key. Its timing does not reveal
// whether the id or the key was wrong.
func (a *Applications) Authenticate(id, key string) (Application, bool) {
	application, exists := (*a.byID.Load())[id] // if absent, its zero digests match no key
	if matches := application.matchesKey(sha256.Sum256([]byte(key))); !exists || !matches {
		return Application{}, false
	}
	return application.Application, true
}

// Lookup returns the application with this id.
func (a *Applications) Lookup(id string) (Application, bool) {
	application, exists := (*a.byID.Load())[id]
	return application.Application, exists
}

// parseCredentials parses credential files, keyed by path.
func parseCredentials(files reload.Files) (map[string]registeredApplication, error) {
	credentials := map[string]Credential{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(path) != ".json" {
			continue
		}
		credential, err := parseCredential(files[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		credentials[path] = credential
	}
	return indexApplications(credentials)
}

// parseCredential parses a credential. Its errors give positions only, never content.
func parseCredential(text []byte) (Credential, error) {
	var (
		credential Credential
		syntax     *json.SyntaxError
		kind       *json.UnmarshalTypeError
	)
	switch err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &credential); {
	case errors.As(err, &syntax):
		return Credential{}, fmt.Errorf(`not JSON at byte %d; expected {"id": "...", "key": "...", "keys": [...], "scopes": [...], "plan": "...", "devMode": false}`, syntax.Offset)
	case errors.As(err, &kind):
		return Credential{}, fmt.Errorf("%q is a JSON %s; id, key and plan must be strings, keys and scopes lists of strings, devMode a boolean", kind.Field, kind.Value)
	case err != nil:
		return Credential{}, errors.New("not a JSON object")
	}
	return credential, nil
}

// indexApplications validates the credentials and returns the applications by id. The
// map keys name the credentials in errors.
func indexApplications(credentials map[string]Credential) (map[string]registeredApplication, error) {
	set, origin := map[string]registeredApplication{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		application, err := validateCredential(credentials[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if other, taken := origin[application.ID]; taken {
			return nil, fmt.Errorf("%s: the id %q is also used in %s; application ids must be unique", name, application.ID, other)
		}
		set[application.ID], origin[application.ID] = application, name
	}
	return set, nil
}

func validateCredential(credential Credential) (registeredApplication, error) {
	switch {
	case credential.ID == "" || !identifier.IsVisibleASCII(credential.ID, identifier.MaxLength) || strings.Contains(credential.ID, ":"):
		return registeredApplication{}, errors.New("the id must be 1 to 128 visible ASCII characters without a colon")
	case !hasValidKeys(credential):
		return registeredApplication{}, fmt.Errorf("the key and each additional key must be 1 to 512 visible ASCII characters, with at most %d additional keys", maxKeys-1)
	case credential.Scopes == nil:
		return registeredApplication{}, errors.New("scopes is missing; list them, or use [] for none")
	}
	allowed, err := normalizeScopes(credential.Scopes)
	if err != nil {
		return registeredApplication{}, err
	}
	known := registeredApplication{
		Application: Application{ID: credential.ID, Scopes: allowed, Plan: credential.Plan, DevMode: credential.DevMode},
	}
	for i, key := range allKeys(credential) {
		known.keyDigests[i] = sha256.Sum256([]byte(key))
	}
	return known, nil
}

// allKeys returns all keys of an application.
func allKeys(credential Credential) []string {
	return append([]string{credential.Key}, credential.Keys...)
}

func hasValidKeys(credential Credential) bool {
	keys := allKeys(credential)
	return len(keys) <= maxKeys && !slices.ContainsFunc(keys, func(key string) bool { return key == "" || !identifier.IsVisibleASCII(key, maxKeyLength) })
}
