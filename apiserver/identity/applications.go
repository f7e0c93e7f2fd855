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

// registeredApplication is an application with digests of its keys. Comparing digests takes
// constant time and avoids holding keys in memory. Unused digests are zero, which no key
// matches.
type registeredApplication struct {
	Application
	keyDigests [configv1alpha1.MaxApplicationKeys][sha256.Size]byte
}

// matchesKey reports whether a digest belongs to one of the application's keys. It always
// compares every key, to run in constant time.
func (r registeredApplication) matchesKey(digest [sha256.Size]byte) bool {
	matches := 0
	for _, known := range r.keyDigests {
		matches |= subtle.ConstantTimeCompare(digest[:], known[:])
	}
	return matches == 1
}

// NewApplications returns a fixed set of applications.
func NewApplications(credentials ...Credential) (*Applications, error) {
	byName := map[string]Credential{}
	for i, credential := range credentials {
		byName[fmt.Sprintf("credential %d", i)] = credential
	}
	byID, err := indexApplications(byName)
	if err != nil {
		return nil, err
	}
	var applications Applications
	applications.byID.Store(&byID)
	return &applications, nil
}

// LoadApplications loads the applications from a directory with one ApplicationCredentials
// file per application. An empty directory yields no applications. The returned source,
// already loaded, keeps the applications up to date while it is watched; if anything in the
// directory is invalid, the previous applications stay in effect.
func LoadApplications(dir string) (*Applications, *reload.Source, error) {
	var applications Applications
	source := &reload.Source{Name: "credentials", Paths: []string{dir}, Apply: func(files reload.Files) error {
		byID, err := parseCredentials(files)
		if err == nil {
			applications.byID.Store(&byID)
		}
		return err
	}}
	return &applications, source, source.Load()
}

// KeyDigests returns the key digests of each application. A digest does not authenticate, but
// it would confirm a correct guess of a weak key.
func (a *Applications) KeyDigests() map[string][][]byte {
	digests := map[string][][]byte{}
	for id, application := range *a.byID.Load() {
		for _, digest := range application.keyDigests {
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
	application, exists := (*a.byID.Load())[id] // a missing application has zero digests, which match no key
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

// convertSlice converts a slice of one string type to another. It preserves nil.
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

// indexApplications validates credentials and returns the applications by id. The map keys
// identify the credentials in errors.
func indexApplications(credentials map[string]Credential) (map[string]registeredApplication, error) {
	byID, sources := map[string]registeredApplication{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		application, err := validateCredential(credentials[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if otherName, exists := sources[application.ID]; exists {
			return nil, fmt.Errorf("%s: duplicate application id %q, already used in %s", name, application.ID, otherName)
		}
		byID[application.ID], sources[application.ID] = application, name
	}
	return byID, nil
}

func validateCredential(credential Credential) (registeredApplication, error) {
	resource := configv1alpha1.ApplicationCredentials{
		ID: credential.ID, Key: credential.Key, Keys: credential.Keys, Scopes: convertSlice[string](credential.Scopes),
		Plan: credential.Plan, DevMode: credential.DevMode,
	}
	if err := resource.Validate(); err != nil {
		return registeredApplication{}, err
	}
	scopes, err := normalizeScopes(credential.Scopes)
	if err != nil {
		return registeredApplication{}, err
	}
	application := registeredApplication{
		Application: Application{ID: credential.ID, Scopes: scopes, Plan: credential.Plan, DevMode: credential.DevMode},
	}
	for i, key := range resource.AllKeys() {
		application.keyDigests[i] = sha256.Sum256([]byte(key))
	}
	return application, nil
}
