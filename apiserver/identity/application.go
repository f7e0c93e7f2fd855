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

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// Application is a program of the tenant that calls the API.
type Application struct {
	ID     string
	Scopes []Scope // what it may do, in the order of Scopes(); not to be changed
	Plan   string  // the name of the plan whose limits it has; empty is the default one
	// DevMode says that its calls with Dev-Mode: true are not counted and their
	// feedback not kept; of others the header is ignored.
	DevMode bool
}

// May reports whether the application has the scope.
func (a Application) May(scope Scope) bool { return slices.Contains(a.Scopes, scope) }

// Credential is an application with its key, as one file of a credentials
// directory holds it.
type Credential struct {
	ID  string `json:"id"`  // up to 128 visible ASCII characters, no colon
	Key string `json:"key"` // up to 512 visible ASCII characters
	// Keys are further ones, as good as the first, while an application's key turns.
	Keys   []string `json:"keys"`
	Scopes []Scope  `json:"scopes"` // [] is none; it may not be left out
	Plan   string   `json:"plan"`
	// DevMode is Application's.
	DevMode bool `json:"devMode"`
}

// Applications are the applications of a tenant. It is safe for concurrent
// use, and may change while it is used.
type Applications struct {
	byID atomic.Pointer[map[string]registered]
}

// maxKeys is the most keys that an application has at a time.
const maxKeys = 4

// registered is an application with digests of its keys, so that keys are
// compared in time that does not depend on them, and are not in memory. A digest
// that is left over is zero, which is that of no key.
type registered struct {
	Application
	digests [maxKeys][sha256.Size]byte
}

// opens says whether a key with the digest is one of the application's. It looks at
// all of them, whichever it is.
func (r registered) opens(digest [sha256.Size]byte) bool {
	matches := 0
	for _, known := range r.digests {
		matches |= subtle.ConstantTimeCompare(digest[:], known[:])
	}
	return matches == 1
}

// NewApplications returns applications that do not change.
func NewApplications(credentials ...Credential) (*Applications, error) {
	named := map[string]Credential{}
	for i, credential := range credentials {
		named[fmt.Sprintf("credential %d", i)] = credential
	}
	set, err := register(named)
	if err != nil {
		return nil, err
	}
	var applications Applications
	applications.byID.Store(&set)
	return &applications, nil
}

// OpenApplications reads the applications in a directory: one JSON Credential
// in each file whose name ends in .json. A directory without such a file means
// no applications. The source, which is loaded, keeps them as the directory
// says when it is watched; as long as anything in the directory is wrong, they
// stay as they were.
func OpenApplications(dir string) (*Applications, *reload.Source, error) {
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

// Digests are those of the keys of each application. They tell keys apart and open
// nothing; of a key that somebody can guess they would say whether the guess is good.
func (a *Applications) Digests() map[string][][]byte {
	digests := map[string][][]byte{}
	for id, known := range *a.byID.Load() {
		for _, digest := range known.digests {
			if digest != [sha256.Size]byte{} {
				digests[id] = append(digests[id], slices.Clone(digest[:]))
			}
		}
	}
	return digests
}

// Authenticate returns the application with this id and key. The time it takes
// does not tell whether the id or the key was wrong, nor how much of it.
func (a *Applications) Authenticate(id, key string) (Application, bool) {
	application, exists := (*a.byID.Load())[id] // if not, its digests are those of no key
	if matches := application.opens(sha256.Sum256([]byte(key))); !exists || !matches {
		return Application{}, false
	}
	return application.Application, true
}

// Lookup returns the application with this id.
func (a *Applications) Lookup(id string) (Application, bool) {
	application, exists := (*a.byID.Load())[id]
	return application.Application, exists
}

// parseCredentials reads files by their paths.
func parseCredentials(files reload.Files) (map[string]registered, error) {
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
	return register(credentials)
}

// parseCredential says no more of what it read than where it went wrong.
func parseCredential(text []byte) (Credential, error) {
	var (
		credential Credential
		syntax     *json.SyntaxError
		kind       *json.UnmarshalTypeError
	)
	switch err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &credential); {
	case errors.As(err, &syntax):
		return Credential{}, fmt.Errorf(`not JSON at byte %d; it has to be {"id": "...", "key": "...", "keys": [...], "scopes": [...], "plan": "...", "devMode": false}`, syntax.Offset)
	case errors.As(err, &kind):
		return Credential{}, fmt.Errorf("%q is a JSON %s; id, key and plan are strings, keys and scopes are lists of strings, devMode is true or false", kind.Field, kind.Value)
	case err != nil:
		return Credential{}, errors.New("not a JSON object")
	}
	return credential, nil
}

// register checks the credentials, each under the name by which errors call
// it, and puts the applications under their ids.
func register(credentials map[string]Credential) (map[string]registered, error) {
	set, origin := map[string]registered{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		application, err := check(credentials[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if other, taken := origin[application.ID]; taken {
			return nil, fmt.Errorf("%s: the id %q is that of %s too; each application has its own", name, application.ID, other)
		}
		set[application.ID], origin[application.ID] = application, name
	}
	return set, nil
}

func check(credential Credential) (registered, error) {
	switch {
	case !visible(credential.ID, 128) || strings.Contains(credential.ID, ":"):
		return registered{}, errors.New("the id has to be 1 to 128 visible ASCII characters without a colon")
	case !goodKeys(credential):
		return registered{}, fmt.Errorf("the key has to be 1 to 512 visible ASCII characters, and so has each of the further keys, of which there may be %d", maxKeys-1)
	case credential.Scopes == nil:
		return registered{}, errors.New("scopes is left out; list them, or write [] for none")
	}
	allowed, err := normalize(credential.Scopes)
	if err != nil {
		return registered{}, err
	}
	known := registered{
		Application: Application{ID: credential.ID, Scopes: allowed, Plan: credential.Plan, DevMode: credential.DevMode},
	}
	for i, key := range keysOf(credential) {
		known.digests[i] = sha256.Sum256([]byte(key))
	}
	return known, nil
}

// keysOf are all the keys of an application.
func keysOf(credential Credential) []string {
	return append([]string{credential.Key}, credential.Keys...)
}

func goodKeys(credential Credential) bool {
	keys := keysOf(credential)
	return len(keys) <= maxKeys && !slices.ContainsFunc(keys, func(key string) bool { return !visible(key, 512) })
}

// visible reports whether text is 1 to limit characters that a header can
// carry and a human can see.
func visible(text string, limit int) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != "" && len(text) <= limit
}
