// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

const (
	may      = "2026-05-01T00:00:00Z"
	november = "2026-11-21T00:00:00Z"
)

// writeRelease writes the release files of models at given versions.
func writeRelease(t *testing.T, dir string, releases ...model.ReleaseRef) {
	t.Helper()
	for _, w := range releases {
		b := modeltest.New().Condition("c_1", 0.1).Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5)
		b.Draft().Meta.ModelID, b.Draft().Meta.Version = w.ID, w.Version
		if err := model.WriteFile(filepath.Join(dir, model.FileName(w.ID, w.Version)), b.Bytes(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func openStore(t *testing.T, dir string, wanted ...model.ReleaseRef) *model.Store {
	t.Helper()
	library, err := model.OpenStore(dir, wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(library.Close)
	return library
}

func servedRefs(library *model.Store) []string {
	var ids []string
	for _, meta := range library.Releases() {
		ids = append(ids, meta.ModelID+"@"+meta.Version)
	}
	return ids
}

func TestParseReleaseRef(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want model.ReleaseRef
		ok   bool
	}{
		{"service-en", model.ReleaseRef{ID: "service-en"}, true},
		{"service-en@" + may, model.ReleaseRef{ID: "service-en", Version: may}, true},
		{"", model.ReleaseRef{}, false},
		{"@" + may, model.ReleaseRef{}, false},
		{"service-en@", model.ReleaseRef{}, false},
		{"service-en@latest", model.ReleaseRef{}, false},
		{"service-en@2026-05-01T00:00:00.5Z", model.ReleaseRef{}, false},
		{"service-en@2026-05-01T00:00:00+00:00", model.ReleaseRef{}, false},
		{"service-en@2026-13-01T00:00:00Z", model.ReleaseRef{}, false},
		{"Service EN", model.ReleaseRef{}, false},
		{"../service-en", model.ReleaseRef{}, false},
	} {
		got, err := model.ParseReleaseRef(test.text)
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("ParseWanted(%q) = %v, %v", test.text, got, err)
		}
		if err == nil && got.String() != test.text {
			t.Errorf("%v shows as %q", got, got.String())
		}
		if err != nil && !strings.Contains(err.Error(), "service-en@2026-11-21T00:00:00Z") {
			t.Errorf("error %q does not contain an example", err)
		}
	}
}

func TestOpenStoreResolvesReleases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir,
		model.ReleaseRef{ID: "a-first", Version: may},
		model.ReleaseRef{ID: "service-en", Version: may},
		model.ReleaseRef{ID: "service-en", Version: november},
		model.ReleaseRef{ID: "service-de", Version: november})
	for _, name := range []string{"README.md", "service-fr.release", "service-fr@soon.release", ".service-en@2027-01-01T00-00-00Z.release.123"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		wanted []model.ReleaseRef
		want   []string
	}{
		{"every model at its newest, the default first", nil, []string{"service-en@" + november, "a-first@" + may, "service-de@" + november}},
		{"the newest of one", []model.ReleaseRef{{ID: "service-en"}}, []string{"service-en@" + november}},
		{"a version by name", []model.ReleaseRef{{ID: "service-en", Version: may}}, []string{"service-en@" + may}},
		{"the order asked for", []model.ReleaseRef{{ID: "service-de"}, {ID: "service-en"}}, []string{"service-de@" + november, "service-en@" + november}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, servedRefs(openStore(t, dir, test.wanted...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenStoreRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may}, model.ReleaseRef{ID: "service-de", Version: may})
	renamed := t.TempDir()
	writeRelease(t, renamed, model.ReleaseRef{ID: "service-en", Version: may})
	if err := os.Rename(filepath.Join(renamed, model.FileName("service-en", may)), filepath.Join(renamed, model.FileName("service-de", may))); err != nil {
		t.Fatal(err)
	}
	corrupt := t.TempDir()
	if err := os.WriteFile(filepath.Join(corrupt, model.FileName("service-en", may)), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		dir     string
		wanted  []model.ReleaseRef
		wantErr []string
	}{
		{"an unknown model", dir, []model.ReleaseRef{{ID: "service-fr"}}, []string{"service-fr", "service-de@" + may, "service-en@" + may}},
		{"a version that no release has", dir, []model.ReleaseRef{{ID: "service-en", Version: november}}, []string{"service-en@" + november, "available releases are service-de@", "service-en@" + may}},
		{"a model twice", dir, []model.ReleaseRef{{ID: "service-en"}, {ID: "service-en", Version: may}}, []string{"service-en is listed twice"}},
		{"an empty directory", t.TempDir(), nil, []string{"release files not found in", "service-en@"}},
		{"no directory", filepath.Join(dir, "none"), nil, []string{"listing the release files"}},
		{"a file that holds another release", renamed, nil, []string{"service-de@", "contains service-en@" + may}},
		{"an invalid file", corrupt, nil, []string{"not a release file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := model.OpenStore(test.dir, test.wanted)
			if err == nil {
				t.Fatal("the library opened")
			}
			for _, say := range test.wantErr {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("got error %q, want it to contain %q", err, say)
				}
			}
		})
	}
}

func TestAcquire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may}, model.ReleaseRef{ID: "service-de", Version: may})
	library := openStore(t, dir)
	for id, want := range map[string]string{
		"":               "service-en",
		"service-en":     "service-en",
		"service-de":     "service-de",
		"infermedica-en": "service-en",
		"infermedica-de": "service-de",
	} {
		lease, err := library.Acquire(id)
		if err != nil {
			t.Fatalf("Acquire(%q): %v", id, err)
		}
		if got := lease.Release().Meta.ModelID; got != want {
			t.Errorf("Acquire(%q) leases %s, want %s", id, got, want)
		}
		lease.Done()
	}
	for _, id := range []string{"service-fr", "infermedica-fr", "infermedica-", "en"} {
		var unknown *model.UnknownModelError
		if _, err := library.Acquire(id); !errors.As(err, &unknown) {
			t.Errorf("Acquire(%q): %v", id, err)
		} else if want := `unknown model "` + id + `": this instance serves service-en, service-de`; err.Error() != want {
			t.Errorf("Acquire(%q) failed with %q, want %q", id, err, want)
		}
	}
}

func TestRefreshServesLatestVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may}, model.ReleaseRef{ID: "service-de", Version: may})
	library := openStore(t, dir, model.ReleaseRef{ID: "service-en"}, model.ReleaseRef{ID: "service-de", Version: may})
	if changed, err := library.Refresh(); changed || err != nil {
		t.Fatalf("Refresh without changes: %t, %v", changed, err)
	}
	lease, err := library.Acquire("service-en")
	if err != nil {
		t.Fatal(err)
	}
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: november}, model.ReleaseRef{ID: "service-de", Version: november})
	if changed, err := library.Refresh(); !changed || err != nil {
		t.Fatalf("with a newer release: %t, %v", changed, err)
	}
	if diff := cmp.Diff([]string{"service-en@" + november, "service-de@" + may}, servedRefs(library)); diff != "" {
		t.Error(diff)
	}
	// The lease of the replaced release is still valid.
	if r := lease.Release(); r.Meta.Version != may || r.ConditionID(0) != "c_1" || r.Text(r.Conditions[0].Name) != "c_1" {
		t.Error("the lease does not keep its release")
	}
	lease.Done()
	lease.Done()
	if len(lease.Release().Conditions) != 0 {
		t.Error("the replaced release is still mapped after its last lease")
	}
}

// TestRefreshSkipsCorruptReleases checks that a corrupt release blocks updates of its own
// model only.
func TestRefreshSkipsCorruptReleases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may}, model.ReleaseRef{ID: "service-en-us", Version: may})
	library := openStore(t, dir)
	for _, id := range []string{"service-en", "service-de"} {
		if err := os.WriteFile(filepath.Join(dir, model.FileName(id, november)), []byte("corrupt"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en-us", Version: november})
	for _, wantChanged := range []bool{true, false} {
		changed, err := library.Refresh()
		if changed != wantChanged || err == nil || !strings.Contains(err.Error(), "service-en@") || !strings.Contains(err.Error(), "service-de@") {
			t.Errorf("got %t, %v; want %t and an error with both file names", changed, err, wantChanged)
		}
		if diff := cmp.Diff([]string{"service-en@" + may, "service-en-us@" + november}, servedRefs(library)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCloseWaitsForLeases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may})
	library := openStore(t, dir)
	first, _ := library.Acquire("")
	second, err := library.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	library.Close()
	library.Close()
	if _, err := library.Acquire(""); !errors.Is(err, model.ErrStoreClosed) {
		t.Errorf("Acquire after Close: %v", err)
	}
	first.Done()
	if got := second.Release().ConditionID(0); got != "c_1" {
		t.Errorf("the second lease reads %q", got)
	}
	second.Done()
	if len(second.Release().Conditions) != 0 {
		t.Error("the release is still mapped after its last lease")
	}
}

// TestLeasesDuringConcurrentRefresh checks that concurrent readers always see a complete
// release while releases are replaced. The race detector and the memory map catch
// violations.
func TestLeasesDuringConcurrentRefresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: may})
	library := openStore(t, dir)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				lease, err := library.Acquire("service-en")
				if err != nil {
					t.Error(err)
					return
				}
				if r := lease.Release(); r.Text(r.Conditions[0].Name) != "c_1" {
					t.Error("the lease reads something else")
				}
				lease.Done()
			}
		})
	}
	for day := 1; day <= 20; day++ {
		version := "2026-12-01T00:00:" + string(rune('0'+day/10)) + string(rune('0'+day%10)) + "Z"
		writeRelease(t, dir, model.ReleaseRef{ID: "service-en", Version: version})
		if changed, err := library.Refresh(); !changed || err != nil {
			t.Fatal(changed, err)
		}
	}
	close(stop)
	readers.Wait()
}
