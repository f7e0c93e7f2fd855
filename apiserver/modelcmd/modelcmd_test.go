// SPDX-License-Identifier: Apache-2.0

package modelcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

const version = "2026-11-21T00:00:00Z"

// minimalContent returns content with one condition.
func minimalContent() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"core/release.yaml":  `version: "` + version + `"` + "\ncourse: {from: 6h, to: 1y}\n",
		"core/registry.yaml": "conditions: {cold: c_1}\nobservations: {sneezing: s_1}\nspecialists: {gp: sp_1}\ncategories: {nose: cc_1}\n",
		"core/all.yaml": `observations:
  - {slug: sneezing, kind: symptom, background: 0.05}
conditions:
  - slug: cold
    categories: [nose]
    acuteness: acute
    severity: mild
    triage_level: self_care
    channel: text_teleconsultation
    specialists: [gp]
    prior: {per_10000: 500}
    findings: {sneezing: 0.8}
    sources: [survey]
`,
		"lang/en/language.yaml": "model: service-en\nlanguage: en\nchoices: {present: a, absent: b, unknown: c}\nspecialists: {gp: Doctor}\ncategories: {nose: Nose}\n" +
			"questions: {duration: '{symptom}?', duration_third_person: '{symptom}?'}\n",
		"lang/en/all.yaml": "conditions:\n  cold: {name: Cold}\nobservations:\n  sneezing: {name: Sneezing, question: q, question_third_person: t}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// addAmerican adds a derived language to content.
func addAmerican(content fstest.MapFS) fstest.MapFS {
	content["lang/en-us/language.yaml"] = &fstest.MapFile{Data: []byte("model: service-en-us\nlanguage: en-US\nbase: en\nreplace: {cold: catarrh}\n")}
	return content
}

// writeContent writes content to a directory.
func writeContent(t *testing.T, content fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, content); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runCommand parses a command line as the apiserver does and runs it.
func runCommand(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var cli struct {
		Build Build `cmd:""`
		Check Check `cmd:""`
	}
	var stdout bytes.Buffer
	parser, err := kong.New(&cli, kong.Exit(func(int) { t.Error("parser called Exit") }))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return "", err
	}
	parsed.BindTo(&stdout, (*io.Writer)(nil))
	err = parsed.Run()
	return stdout.String(), err
}

func TestBuildWritesOneReleasePerLanguage(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "new", "models")
	output, err := runCommand(t, "build", "--content", writeContent(t, minimalContent()), "--out", out)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, "service-en@2026-11-21T00-00-00Z.release")
	if !strings.HasPrefix(output, path+": 1 conditions, 1 symptoms, ") {
		t.Errorf("got build output %q", output)
	}
	r, err := model.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Text(r.Conditions[0].Name); got != "Cold" {
		t.Errorf("got release content %q", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestBuildWritesDerivedLanguages(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	output, err := runCommand(t, "build", "--content", writeContent(t, addAmerican(minimalContent())), "--out", out)
	if err != nil || strings.Count(output, "\n") != 2 {
		t.Fatalf("got build output %q, error %v", output, err)
	}
	library, err := model.OpenStore(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	for id, want := range map[string]string{"service-en": "Cold", "service-en-us": "Catarrh"} {
		lease, err := library.Acquire(id)
		if err != nil {
			t.Fatal(err)
		}
		r := lease.Release()
		if got := r.Text(r.Conditions[0].Name); got != want {
			t.Errorf("release %s: got %q, want %q", id, got, want)
		}
		lease.Done()
	}
}

// TestCheckRejectsOldFormat checks that releases compiled by an older program are
// rejected with a message that explains the cause and the remedy.
func TestCheckRejectsOldFormat(t *testing.T) {
	t.Parallel()
	dir := writeModels(t)
	path := filepath.Join(dir, model.FileName("service-de", version))
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file[8] = model.FormatVersion - 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = runCommand(t, "check", "--models", dir)
	for _, want := range []string{path, fmt.Sprintf("unsupported release format %d, expected %d", model.FormatVersion-1, model.FormatVersion), "model build"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to contain %q", err, want)
		}
	}
}

func TestBuildRejectsInvalidContent(t *testing.T) {
	t.Parallel()
	content := minimalContent()
	content["lang/en/all.yaml"] = &fstest.MapFile{Data: []byte("observations:\n  sneezing: {name: Sneezing, question: q, question_third_person: t}\n")}
	dir, out := writeContent(t, content), t.TempDir()
	_, err := runCommand(t, "build", "--content", dir, "--out", out)
	if want := dir + "/core/all.yaml:4: condition cold has no texts in language en"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 0 {
		t.Errorf("build wrote %v, error %v", entries, err)
	}
}

func TestCheckContent(t *testing.T) {
	t.Parallel()
	dir := writeContent(t, minimalContent())
	output, err := runCommand(t, "check", "--content", dir)
	if err != nil || !strings.HasPrefix(output, "service-en "+version+": 1 conditions, 1 symptoms, 0 risk factors") || !strings.Contains(output, "conditions with fewer than 6 findings: 1\n  cold\n") {
		t.Errorf("check want %q, %v", output, err)
	}
	output, err = runCommand(t, "check", "--content", dir, "--json")
	var answer struct {
		Reports []struct {
			Model       string
			FewFindings []string `json:"few_findings"`
		}
	}
	if err != nil || json.Unmarshal([]byte(output), &answer) != nil || len(answer.Reports) != 1 || answer.Reports[0].Model != "service-en" || len(answer.Reports[0].FewFindings) != 1 {
		t.Errorf("got JSON output %q, error %v", output, err)
	}
}

// TestCheckContentReportsMissingWordings checks that a check reports the observations
// that free text cannot mention, and how much of an experimental language is
// untranslated.
func TestCheckContentReportsMissingWordings(t *testing.T) {
	t.Parallel()
	content := addAmerican(minimalContent())
	out, err := runCommand(t, "check", "--content", writeContent(t, content))
	if err != nil || strings.Count(out, "symptoms and risk factors without wordings in the lexicon: 1\n  sneezing\n") != 2 || strings.Contains(out, "experimental") {
		t.Errorf("%v, %s", err, out)
	}
	content["lang/en/lexicon.yaml"] = &fstest.MapFile{Data: []byte("observations:\n  sneezing: {wordings: ['[achoo|atishoo]']}\n")}
	content["lang/en-us/language.yaml"].Data = append(content["lang/en-us/language.yaml"].Data, "experimental: true\n"...)
	out, err = runCommand(t, "check", "--content", writeContent(t, content))
	for _, want := range []string{
		"links, 2 patterns, ",
		"without wordings in the lexicon: 0\n",
		"untranslated concepts, groups and articles of an experimental language, taken from its base: 2\n",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v, %q is not in %s", err, want, out)
		}
	}
	content["lang/en/lexicon.yaml"].Data = []byte("observations:\n  snoring: {wordings: ['[']}\n  sneezing: {wordings: ['achoo ]']}\n")
	dir := writeContent(t, content)
	_, err = runCommand(t, "check", "--content", dir)
	want := filepath.Join(dir, "lang/en/lexicon.yaml") + ":2: unknown observation snoring: no file under core defines it as a symptom or a risk factor\n" +
		filepath.Join(dir, "lang/en/lexicon.yaml") + ":3: invalid wording \"achoo ]\" of sneezing: unexpected \"]\" without a preceding ["
	if err == nil || err.Error() != want {
		t.Errorf("got error\n%v, want\n%s", err, want)
	}
}

func TestCheckContentSummary(t *testing.T) {
	t.Parallel()
	output, err := runCommand(t, "check", "--brief", "--content", writeContent(t, minimalContent()))
	if err != nil || !strings.Contains(output, "conditions with fewer than 6 findings: 1\nfindings linked") {
		t.Errorf("got brief output %q, error %v", output, err)
	}
}

// TestCheckContentRejectsIndistinguishableConditions checks that content with
// indistinguishable conditions compiles but fails the check.
func TestCheckContentRejectsIndistinguishableConditions(t *testing.T) {
	t.Parallel()
	content := minimalContent()
	replace := func(name string, pairs ...string) {
		content[name].Data = []byte(strings.NewReplacer(pairs...).Replace(string(content[name].Data)))
	}
	_, cold, _ := strings.Cut(string(content["core/all.yaml"].Data), "conditions:\n")
	content["core/twin.yaml"] = &fstest.MapFile{Data: []byte("conditions:\n" + strings.Replace(cold, "slug: cold", "slug: flu", 1))}
	replace("core/registry.yaml", "{cold: c_1}", "{cold: c_1, flu: c_2}")
	replace("lang/en/all.yaml", "{name: Cold}", "{name: Cold}\n  flu: {name: Flu}")
	_, err := runCommand(t, "check", "--content", writeContent(t, content))
	if err == nil || !strings.Contains(err.Error(), "1 pairs of conditions of service-en") || !strings.Contains(err.Error(), "cold and flu overlap by 1.00") {
		t.Errorf("got error %v", err)
	}
	content["core/twin.yaml"].Data = append(content["core/twin.yaml"].Data, "alike:\n  - {conditions: [cold, flu], reason: Both sneeze.}\n"...)
	output, err := runCommand(t, "check", "--content", writeContent(t, content))
	if err != nil || !strings.Contains(output, "cold and flu: Both sneeze.") {
		t.Errorf("check want %q, %v", output, err)
	}
}

func TestCheckContentReportsProblems(t *testing.T) {
	t.Parallel()
	content := minimalContent()
	content["core/more.yaml"] = &fstest.MapFile{Data: []byte("tuples:\n  - {slug: x}\n")}
	dir := writeContent(t, content)
	output, err := runCommand(t, "check", "--content", dir)
	if err == nil || !strings.Contains(err.Error(), dir+"/core/more.yaml:2: level is missing") || output != "" {
		t.Errorf("check want %q, %v", output, err)
	}
}

// writeModels writes three releases to a directory and returns the directory.
func writeModels(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, w := range []model.ReleaseRef{{ID: "service-en", Version: "2026-05-01T00:00:00Z"}, {ID: "service-en", Version: version}, {ID: "service-de", Version: version}} {
		b := modeltest.New().Condition("c_1", 0.1).Condition("c_2", 0.1).Symptom("s_1", 0.1).RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1).RiskFactor("p_3", 0.1).LabResult("lt_1", 0.1)
		b.Draft().Meta.ModelID, b.Draft().Meta.Version = w.ID, w.Version
		if err := model.WriteFile(filepath.Join(dir, model.FileName(w.ID, w.Version)), b.Bytes(t)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckModels(t *testing.T) {
	t.Parallel()
	dir := writeModels(t)
	const english = `{"id":"service-en","version":"2026-11-21T00:00:00Z","conditions":2,"symptoms":1,"riskFactors":3,"labTests":1}`
	const german = `{"id":"service-de","version":"2026-11-21T00:00:00Z","conditions":2,"symptoms":1,"riskFactors":3,"labTests":1}`
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"all", nil, english + "," + german},
		{"one", []string{"--model", "service-de"}, german},
		{"two in their order", []string{"--model", "service-de", "--model", "service-en@" + version}, german + "," + english},
		{"a version", []string{"--model", "service-en@2026-05-01T00:00:00Z"}, strings.Replace(english, "11-21", "05-01", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := filepath.Join(t.TempDir(), "termination-log")
			output, err := runCommand(t, append([]string{"check", "--models", dir, "--json", "--result-file", result}, test.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"models":[` + test.want + `]}`
			if output != want+"\n" {
				t.Errorf("got output %s, want %s", output, want)
			}
			if written, err := os.ReadFile(result); err != nil || string(written) != want {
				t.Errorf("result file contains %s, error %v", written, err)
			}
		})
	}
	output, err := runCommand(t, "check", "--models", dir, "--model", "service-de")
	if want := "service-de " + version + ": 2 conditions, 1 symptoms, 3 risk factors, 1 laboratory tests\n"; err != nil || output != want {
		t.Errorf("got text output %q, error %v, want %q", output, err, want)
	}
}

func TestCheckModelsListsAvailableReleases(t *testing.T) {
	t.Parallel()
	dir := writeModels(t)
	const there = "service-de@2026-11-21T00:00:00Z, service-en@2026-05-01T00:00:00Z, service-en@2026-11-21T00:00:00Z"
	for _, test := range []struct{ name, model, want string }{
		{"an unknown model", "service-fr", "release of model service-fr not found in " + dir + ": available releases are " + there},
		{"a version that no release has", "service-en@2026-01-01T00:00:00Z", "release of model service-en@2026-01-01T00:00:00Z not found in " + dir + ": available releases are " + there},
		{"invalid model", "latest!", `invalid model "latest!": expected an ID such as service-en`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := filepath.Join(t.TempDir(), "termination-log")
			output, err := runCommand(t, "check", "--models", dir, "--model", test.model, "--json", "--result-file", result)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want it to contain %q", err, test.want)
			}
			written, errRead := os.ReadFile(result)
			var answer struct{ Error string }
			if errRead != nil || json.Unmarshal(written, &answer) != nil || !strings.Contains(answer.Error, test.want) || output != string(written)+"\n" {
				t.Errorf("got output %q and result file %q, error %v", output, written, errRead)
			}
		})
	}
}

func TestCheckRejectsConflictingFlags(t *testing.T) {
	t.Parallel()
	dir := writeContent(t, minimalContent())
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "--content", dir, "--models", dir}, "can't be used together"},
		{[]string{"check", "--content", dir, "--model", "service-en"}, "--models"},
		{[]string{"check", "--content", filepath.Join(dir, "none")}, "no such file"},
		{[]string{"build", "--content", dir}, "--out"},
	} {
		if _, err := runCommand(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got error %v, want it to contain %q", test.args, err, test.want)
		}
	}
}

func TestCheckReportsUnwritableResultFile(t *testing.T) {
	t.Parallel()
	dir := writeModels(t)
	_, err := runCommand(t, "check", "--models", dir, "--result-file", filepath.Join(dir, "none", "result"))
	if err == nil || !strings.Contains(err.Error(), "writing the check result") {
		t.Errorf("got error %v", err)
	}
}

// TestTruncateKeepsValidJSON checks that a result fits the 4 KiB of a termination
// message, because Kubernetes would otherwise cut the JSON.
func TestTruncateKeepsValidJSON(t *testing.T) {
	t.Parallel()
	for _, message := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 5000)} {
		got := truncate(message)
		data, err := json.Marshal(checkFailure{Error: got})
		if err != nil || len(data) > 4096 || !strings.HasPrefix(message, strings.TrimSuffix(got, "…")) {
			t.Errorf("got %d bytes, error %v: %.40s", len(data), err, data)
		}
	}
	if got := truncate("short"); got != "short" {
		t.Errorf("short message was truncated to %q", got)
	}
}

// buildFunc returns a function that writes the releases of some content.
func buildFunc(t *testing.T, content fstest.MapFS) func(dir string) error {
	return func(dir string) error {
		return (&Build{Content: writeContent(t, content), Out: dir}).Run(io.Discard)
	}
}

// TestBuildInSubprocess checks that the content is built by another process with the
// Build command, and that the error includes its output if it fails.
func TestBuildInSubprocess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\necho $$ \"$@\" >\"$4/output\" || { echo no such folder; exit 1; }\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := BuildInSubprocess(t.Context(), program)(dir); err != nil {
		t.Fatal(err)
	}
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	if _, arguments, _ := strings.Cut(string(output), " "); arguments != "model build --out "+dir+"\n" {
		t.Errorf("got arguments %q", arguments)
	}
	if err := BuildInSubprocess(t.Context(), program)(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("building into a missing directory: got error %v", err)
	}
}

func TestEnsureCachedCompilesOnce(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "cache")
	dir, err := EnsureCached(addAmerican(minimalContent()), root, buildFunc(t, addAmerican(minimalContent())))
	if err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenStore(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if releases := library.Releases(); len(releases) != 2 || releases[0].ModelID != model.DefaultModelID {
		t.Errorf("got cached releases %v", releases)
	}
	library.Close()
	// Cached content is used without compiling it again.
	mark := filepath.Join(dir, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := EnsureCached(addAmerican(minimalContent()), root, buildFunc(t, addAmerican(minimalContent())))
	if err != nil || again != dir {
		t.Fatalf("same content: got directory %s, error %v, want %s", again, err, dir)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("content was compiled again")
	}
	changed := minimalContent()
	changed["lang/en/all.yaml"] = &fstest.MapFile{Data: bytes.Replace(changed["lang/en/all.yaml"].Data, []byte("Cold"), []byte("Common cold"), 1)}
	other, err := EnsureCached(changed, root, buildFunc(t, changed))
	if err != nil || other == dir {
		t.Fatalf("other content: got directory %s, error %v", other, err)
	}
	if diff := cmp.Diff(2, countEntries(t, root)); diff != "" {
		t.Errorf("entries in the cache: %s", diff)
	}
}

func countEntries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestEnsureCachedDiscardsFailedBuilds(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	content := minimalContent()
	delete(content, "core/release.yaml")
	if _, err := EnsureCached(content, root, buildFunc(t, content)); err == nil {
		t.Error("content without a version was compiled")
	}
	if n := countEntries(t, root); n != 0 {
		t.Errorf("%d entries in the cache", n)
	}
}

func TestEnsureCachedReportsUnwritableDir(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{file, filepath.Join(file, "below")} {
		if _, err := EnsureCached(minimalContent(), root, buildFunc(t, minimalContent())); err == nil || !strings.Contains(err.Error(), "creating the cache of compiled content") {
			t.Errorf("cache in %s: got error %v", root, err)
		}
		if _, err := runCommand(t, "build", "--content", writeContent(t, minimalContent()), "--out", root); err == nil || !strings.Contains(err.Error(), "creating the directory of release files") {
			t.Errorf("building into %s: got error %v", root, err)
		}
	}
}

func TestDefaultCacheDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/home/someone/.cache")
	t.Setenv("HOME", "/home/someone")
	root, err := DefaultCacheDir()
	if want := filepath.Join("anamnesis", "models"); err != nil || !strings.HasSuffix(root, want) || !strings.HasPrefix(root, "/home/someone") {
		t.Errorf("got cache directory %s, error %v", root, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := DefaultCacheDir(); err == nil || !strings.Contains(err.Error(), "--models") {
		t.Errorf("without a home directory: got error %v", err)
	}
}

func TestEnsureCachedConcurrently(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			dir, err := EnsureCached(minimalContent(), root, buildFunc(t, minimalContent()))
			if err != nil {
				t.Error(err)
				return
			}
			library, err := model.OpenStore(dir, nil)
			if err != nil {
				t.Error(err)
				return
			}
			library.Close()
		})
	}
	group.Wait()
	if n := countEntries(t, root); n != 1 {
		t.Errorf("%d entries in the cache, want 1", n)
	}
}

func TestEnsureCachedPrunesOldEntries(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var last string
	for i := range maxCacheEntries + 4 {
		content := minimalContent()
		content["core/note.yaml"] = &fstest.MapFile{Data: []byte("# " + strings.Repeat("x", i))}
		dir, err := EnsureCached(content, root, buildFunc(t, content))
		if err != nil {
			t.Fatal(err)
		}
		last = dir
	}
	if n := countEntries(t, root); n != maxCacheEntries {
		t.Errorf("%d entries in the cache, want %d", n, maxCacheEntries)
	}
	if _, err := os.Stat(last); err != nil {
		t.Errorf("latest entry was removed: %v", err)
	}
}

// TestHashContentDistinguishesContent checks that different content has different hash
// input, because sizes and names are included.
func TestHashContentDistinguishesContent(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, files := range []fstest.MapFS{
		{"a": {Data: []byte("xy")}, "b": {}},
		{"a": {Data: []byte("x")}, "b": {Data: []byte("y")}},
		{"a": {}, "b": {Data: []byte("xy")}},
		{"ab": {Data: []byte("xy")}},
		{"a": {Data: []byte(`"b" 0`)}},
	} {
		var into bytes.Buffer
		if err := hashContent(files, &into); err != nil {
			t.Fatal(err)
		}
		if before, taken := seen[into.String()]; taken {
			t.Errorf("contents %d and %d have the same hash input", before, i)
		}
		seen[into.String()] = i
	}
}
