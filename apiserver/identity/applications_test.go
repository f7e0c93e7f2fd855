// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

const portalJSON = `{"id": "portal", "key": "portal-key", "scopes": ["survey:write", "survey:read"], "plan": "trial"}`

// portal is the application in portalJSON.
var portal = Application{ID: "portal", Scopes: []Scope{SurveyRead, SurveyWrite}, Plan: "trial"}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"portal.json": portalJSON,
		"kiosk.json":  "\ufeff" + `{"id": "kiosk", "key": "portal-key2", "scopes": [], "plan": null, "since": 2026}`,
		"README":      "not a credential",
		".hidden":     "{",
	})
	applications, _, err := LoadApplications(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		id, key string
		want    *Application
	}{
		{"portal", "portal-key", &portal},
		{"kiosk", "portal-key2", &Application{ID: "kiosk", Scopes: []Scope{}}},
		{"portal", "portal-key2", nil},
		{"kiosk", "portal-key", nil},
		{"portal", "", nil},
		{"portal", "portal-ke", nil},
		{"portal", "portal-key ", nil},
		{"portal", "Portal-key", nil},
		{"Portal", "portal-key", nil},
		{"", "", nil},
		{"", "portal-key", nil},
		{"unknown", "", nil},
		{"unknown", string(make([]byte, 32)), nil},
		{"portal", strings.Repeat("k", 1<<20), nil},
	} {
		got, ok := applications.Authenticate(test.id, test.key)
		switch {
		case test.want == nil && (ok || got.ID != "" || got.Scopes != nil):
			t.Errorf("Authenticate(%q, %.20q) = %v, want rejection", test.id, test.key, got)
		case test.want != nil && (!ok || cmp.Diff(*test.want, got) != ""):
			t.Errorf("Authenticate(%q, %q) = %v, %v; want %v", test.id, test.key, got, ok, test.want)
		}
	}
	if got, ok := applications.Lookup("portal"); !ok || cmp.Diff(portal, got) != "" {
		t.Errorf("Lookup returned %v, %v", got, ok)
	}
	if got, ok := applications.Lookup("unknown"); ok {
		t.Errorf("Lookup of an unknown application returned %v", got)
	}
}

// TestAuthenticateProperty checks that only the exact id and key of an application
// authenticate.
func TestAuthenticateProperty(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[!-9;-~]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.MapOfN(text, rapid.SliceOfN(text, 1, configv1alpha1.MaxApplicationKeys), 0, 5).Draw(t, "keys")
		var credentials []Credential
		for id, keys := range keys {
			credentials = append(credentials, Credential{ID: id, Key: keys[0], Keys: keys[1:], Scopes: []Scope{}})
		}
		applications, err := NewApplications(credentials...)
		if err != nil {
			t.Fatal(err)
		}
		id, key := text.Draw(t, "id"), text.Draw(t, "key")
		if len(keys) > 0 && rapid.Bool().Draw(t, "id exists") {
			id = rapid.SampledFrom(slices.Sorted(maps.Keys(keys))).Draw(t, "which")
		}
		want, exists := keys[id]
		if _, ok := applications.Authenticate(id, key); ok != (exists && slices.Contains(want, key)) {
			t.Fatalf("Authenticate(%q, %q) = %v", id, key, ok)
		}
		for _, validKey := range want {
			if _, ok := applications.Authenticate(id, validKey); !ok {
				t.Fatalf("Authenticate(%q) with a valid key = %v", id, ok)
			}
		}
	})
}

// TestLoadApplicationsErrors checks that errors name the file but do not quote its
// content.
func TestLoadApplicationsErrors(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, test := range map[string]struct{ content, want string }{
		"empty":              {``, "invalid JSON at byte 0"},
		"half":               {`{"id": "portal", "key": "` + secret, "invalid JSON at byte"},
		"not JSON":           {`id: portal, key: ` + secret, "invalid JSON at byte 1"},
		"more than JSON":     {portalJSON + secret, "invalid JSON at byte"},
		"a list":             {`["` + secret + `"]`, "has JSON type array"},
		"a string":           {`"` + secret + `"`, "has JSON type string"},
		"null":               {`null`, "the id must be"},
		"key is a number":    {`{"id": "portal", "key": 1234567, "scopes": []}`, `"key" has JSON type number`},
		"scopes is a string": {`{"id": "portal", "key": "` + secret + `", "scopes": "survey:read"}`, `"scopes" has JSON type string`},
		"no id":              {`{"key": "` + secret + `", "scopes": []}`, "the id must be"},
		"no key":             {`{"id": "portal", "scopes": []}`, "the key and each additional key must be"},
		"keys is a string":   {`{"id": "portal", "key": "` + secret + `", "keys": "` + secret + `", "scopes": []}`, `"keys" has JSON type string`},
		"an empty key":       {`{"id": "portal", "key": "` + secret + `", "keys": [""], "scopes": []}`, "each additional key"},
		"too many keys":      {`{"id": "portal", "key": "` + secret + `", "keys": ["1", "2", "3", "4"], "scopes": []}`, "at most 3 additional keys"},
		"no scopes":          {`{"id": "portal", "key": "` + secret + `"}`, "scopes is missing"},
		"scopes null":        {`{"id": "portal", "key": "` + secret + `", "scopes": null}`, "scopes is missing"},
		"unknown scope":      {`{"id": "portal", "key": "` + secret + `", "scopes": ["survey:delete"]}`, `unknown scope "survey:delete"`},
		"colon in id":        {`{"id": "por:tal", "key": "` + secret + `", "scopes": []}`, "without a colon"},
		"space in id":        {`{"id": "por tal", "key": "` + secret + `", "scopes": []}`, "the id must be"},
		"long id":            {`{"id": "` + strings.Repeat("x", 129) + `", "key": "` + secret + `", "scopes": []}`, "the id must be 1 to 128"},
		"space in key":       {`{"id": "portal", "key": "` + secret + ` ", "scopes": []}`, "the key and each additional key must be"},
		"key not ASCII":      {`{"id": "portal", "key": "` + secret + `é", "scopes": []}`, "the key and each additional key must be"},
		"long key":           {`{"id": "portal", "key": "` + strings.Repeat(secret, 74) + `", "scopes": []}`, "must be 1 to 512"},
		"twice the same id":  {strings.ReplaceAll(portalJSON, "portal-key", secret), "other.json: duplicate application id \"portal\", already used in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"other.json": test.content})
			if name == "twice the same id" {
				writeFiles(t, dir, map[string]string{"first.json": portalJSON})
			}
			_, _, err := LoadApplications(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "other.json") {
				t.Fatalf("got error %v, want one containing %q and the file name", err, test.want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "1234567") {
				t.Errorf("error %q reveals the key", err)
			}
		})
	}
	if _, _, err := LoadApplications(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("want an error for a missing directory")
	}
	if _, err := NewApplications(Credential{ID: "portal", Key: "k"}); err == nil {
		t.Error("want an error for a credential without scopes")
	}
}

func TestLoadApplicationsFromEmptyDirectory(t *testing.T) {
	t.Parallel()
	applications, _, err := LoadApplications(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := applications.Authenticate("", ""); ok {
		t.Errorf("authenticated as %v without an application", got)
	}
}

// TestApplicationKeysAreNotPrinted checks that formatting applications does not reveal
// their keys.
func TestApplicationKeysAreNotPrinted(t *testing.T) {
	t.Parallel()
	applications, err := NewApplications(Credential{ID: "portal", Key: "hunter2", Scopes: []Scope{}})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v %#v", applications.byID.Load(), *applications.byID.Load()); strings.Contains(text, "hunter2") {
		t.Error("want formatted applications to omit keys")
	}
}

// TestApplicationsAreReloaded checks that applications follow updates that Kubernetes
// makes to the directory, and stay unchanged if any file is invalid.
func TestApplicationsAreReloaded(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	swapVolume(t, volume, map[string]string{"portal.json": portalJSON})
	synctest.Test(t, func(t *testing.T) {
		applications, source, err := LoadApplications(volume)
		if err != nil {
			t.Fatal(err)
		}
		var reports []string
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			reload.Watch(ctx, time.Second, func(name string, err error) {
				reports = append(reports, fmt.Sprint(name, " ", err != nil))
			}, source)
		})
		key := func(key string) string { return strings.ReplaceAll(portalJSON, "portal-key", key) }
		const kiosk = `{"id": "kiosk", "key": "kiosk-key", "scopes": []}`
		for _, step := range []struct {
			what    string
			files   map[string]string
			allowed []string
			refused []string
		}{
			{"as it was", nil, []string{"portal portal-key"}, []string{"kiosk kiosk-key"}},
			{"one more", map[string]string{"portal.json": portalJSON, "kiosk.json": kiosk}, []string{"portal portal-key", "kiosk kiosk-key"}, nil},
			{"rotated", map[string]string{"portal.json": key("new"), "kiosk.json": kiosk}, []string{"portal new", "kiosk kiosk-key"}, []string{"portal portal-key"}},
			{"garbage", map[string]string{"portal.json": key("newer"), "kiosk.json": "{"}, []string{"portal new", "kiosk kiosk-key"}, []string{"portal newer"}},
			{"repaired", map[string]string{"portal.json": key("newer")}, []string{"portal newer"}, []string{"portal new", "kiosk kiosk-key"}},
			{"none", map[string]string{}, nil, []string{"portal newer", "kiosk kiosk-key"}},
		} {
			if step.files != nil {
				swapVolume(t, volume, step.files)
			}
			time.Sleep(5 * time.Second)
			for _, pair := range step.allowed {
				id, key, _ := strings.Cut(pair, " ")
				if _, ok := applications.Authenticate(id, key); !ok {
					t.Errorf("%s: %s was rejected, want accepted", step.what, pair)
				}
			}
			for _, pair := range step.refused {
				id, key, _ := strings.Cut(pair, " ")
				if _, ok := applications.Authenticate(id, key); ok {
					t.Errorf("%s: %s was accepted, want rejected", step.what, pair)
				}
			}
		}
		cancel()
		group.Wait()
		want := []string{"credentials false", "credentials false", "credentials true", "credentials false", "credentials false"}
		if diff := cmp.Diff(want, reports); diff != "" {
			t.Errorf("reports (-want +got)\n%s", diff)
		}
	})
}

// swapVolume replaces the files of a volume atomically through the ..data symlink, like
// the kubelet.
func swapVolume(t *testing.T, volume string, files map[string]string) {
	t.Helper()
	newDir, err := os.MkdirTemp(volume, "..")
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, newDir, files)
	link := filepath.Join(volume, "..data_new")
	if err := os.Symlink(filepath.Base(newDir), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, filepath.Join(volume, "..data")); err != nil {
		t.Fatal(err)
	}
	existing, err := filepath.Glob(filepath.Join(volume, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range existing {
		if _, keep := files[filepath.Base(path)]; !keep && !strings.HasPrefix(filepath.Base(path), "..") {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
}

// FuzzCredentialFile checks that no file causes a panic and that accepted files match the
// result of a JSON parser.
func FuzzCredentialFile(f *testing.F) {
	for _, seed := range []string{portalJSON, `{}`, `{"id":1}`, `[]`, "null", `{"id":"a","key":"b","scopes":[]}`, "\ufeff{}", `{"scopes":["x"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		set, err := parseCredentials(reload.Files{"dir/fuzz.json": content})
		if err != nil {
			return
		}
		var plain struct {
			ID, Key string
			Scopes  []Scope
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(content), "\ufeff")), &plain); err != nil {
			t.Fatalf("%q was accepted but is not JSON: %v", content, err)
		}
		application, exists := set[plain.ID]
		if len(set) != 1 || !exists || strings.ContainsAny(plain.ID, ": \n") || plain.Key == "" {
			t.Fatalf("%q was parsed as %v", content, set)
		}
		for _, scope := range application.Scopes {
			if !slices.Contains(plain.Scopes, scope) {
				t.Fatalf("%q yields unknown scope %s", content, scope)
			}
		}
	})
}
