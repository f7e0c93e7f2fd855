// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
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

// Credential is an application with its keys.
type Credential struct {
	ID     string
	Key    string
	Keys   []string // additional valid keys, for key rotation
	Scopes []Scope  // required; an empty list grants no scopes
	Plan   string
	// DevMode sets Application.DevMode.
	DevMode bool
}

// Applications is the set of applications of a tenant. It is safe for concurrent use and
// may change at run time.
type Applications struct {
	byID atomic.Pointer[map[string]registeredApplication]
}

// registeredApplication is an application with digests of its keys, so that keys can be
// compared in constant time and are not held in memory. Unused digests are zero, which
// matches no key.
type registeredApplication struct {
	Application
	keyDigests [configv1alpha1.MaxApplicationKeys][sha256.Size]byte
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

// LoadApplications loads the applications from a directory with one file of
// ApplicationCredentials per application. A directory without such files means no applications. The returned
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
		if filepath.Ext(path) != configv1alpha1.CredentialsExtension {
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
func parseCredential(file []byte) (Credential, error) {
	c, err := configv1alpha1.DecodeApplicationCredentials(file)
	if err != nil {
		return Credential{}, err
	}
	return Credential{ID: c.ID, Key: c.Key, Keys: c.Keys, Scopes: convertSlice[Scope](c.Scopes), Plan: c.Plan, DevMode: c.DevMode}, nil
}

// convertSlice converts a slice of one string type to another. It keeps nil.
func convertSlice[To, From ~string](values []From) []To {
	if values == nil {
		return nil
	}
	converted := make([]To, len(values))
	for i, value := range values {
		converted[i] = To(value)
	}
	return converted
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
	written := configv1alpha1.ApplicationCredentials{
		ID: credential.ID, Key: credential.Key, Keys: credential.Keys, Scopes: convertSlice[string](credential.Scopes),
		Plan: credential.Plan, DevMode: credential.DevMode,
	}
	if err := written.Validate(); err != nil {
		return registeredApplication{}, err
	}
	allowed, err := normalizeScopes(credential.Scopes)
	if err != nil {
		return registeredApplication{}, err
	}
	known := registeredApplication{
		Application: Application{ID: credential.ID, Scopes: allowed, Plan: credential.Plan, DevMode: credential.DevMode},
	}
	for i, key := range written.AllKeys() {
		known.keyDigests[i] = sha256.Sum256([]byte(key))
	}
	return known, nil
}
