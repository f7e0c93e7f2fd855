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

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

const version = "2026-11-21T00:00:00Z"

// tiny is a content of one condition.
func tiny() fstest.MapFS {
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
    sources: [everybody]
`,
		"lang/en/language.yaml": "model: service-en\nlanguage: en\nchoices: {present: a, absent: b, unknown: c}\nspecialists: {gp: Doctor}\ncategories: {nose: Nose}\n" +
			"questions: {duration: '{symptom}?', duration_third_person: '{symptom}?'}\n",
		"lang/en/all.yaml": "conditions:\n  cold: {name: Cold}\nobservations:\n  sneezing: {name: Sneezing, question: q, question_third_person: t}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// american adds a language derived from the one of a content.
func american(content fstest.MapFS) fstest.MapFS {
	content["lang/en-us/language.yaml"] = &fstest.MapFile{Data: []byte("model: service-en-us\nlanguage: en-US\nbase: en\nreplace: {cold: catarrh}\n")}
	return content
}

// directory is a content as files on disk.
func directory(t *testing.T, content fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, content); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command parses a command line as the apiserver does and runs it.
func command(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var cli struct {
		Build Build `cmd:""`
		Check Check `cmd:""`
	}
	var stdout bytes.Buffer
	parser, err := kong.New(&cli, kong.Exit(func(int) { t.Error("the parser wants to exit") }))
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

func TestBuildWritesAReleaseForEachLanguage(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "new", "models")
	said, err := command(t, "build", "--content", directory(t, tiny()), "--out", out)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, "service-en@2026-11-21T00-00-00Z.release")
	if !strings.HasPrefix(said, path+": 1 conditions, 1 symptoms, ") {
		t.Errorf("build says %q", said)
	}
	r, err := model.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Text(r.Conditions[0].Name); got != "Cold" {
		t.Errorf("the release holds %q", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestBuildWritesDerivedLanguages(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	said, err := command(t, "build", "--content", directory(t, american(tiny())), "--out", out)
	if err != nil || strings.Count(said, "\n") != 2 {
		t.Fatalf("build says %q, %v", said, err)
	}
	library, err := model.OpenLibrary(out, nil)
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
			t.Errorf("%s says %q, want %q", id, got, want)
		}
		lease.Done()
	}
}

// What was compiled by a program before this one is told as that, and what to
// do about it.
func TestCheckRefusesTheFormatBefore(t *testing.T) {
	t.Parallel()
	dir := models(t)
	path := filepath.Join(dir, model.FileName("service-de", version))
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file[8] = model.FormatVersion - 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = command(t, "check", "--models", dir)
	for _, says := range []string{path, fmt.Sprintf("a release of format %d, where this program reads format %d", model.FormatVersion-1, model.FormatVersion), "model build"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("check says %v, want %q in it", err, says)
		}
	}
}

func TestBuildRefusesBadContent(t *testing.T) {
	t.Parallel()
	content := tiny()
	content["lang/en/all.yaml"] = &fstest.MapFile{Data: []byte("observations:\n  sneezing: {name: Sneezing, question: q, question_third_person: t}\n")}
	dir, out := directory(t, content), t.TempDir()
	_, err := command(t, "build", "--content", dir, "--out", out)
	if want := dir + "/core/all.yaml:4: condition cold has no words in language en"; err == nil || err.Error() != want {
		t.Errorf("build: %v, want %s", err, want)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 0 {
		t.Errorf("it wrote %v, %v", entries, err)
	}
}

func TestCheckContent(t *testing.T) {
	t.Parallel()
	dir := directory(t, tiny())
	said, err := command(t, "check", "--content", dir)
	if err != nil || !strings.HasPrefix(said, "service-en "+version+": 1 conditions, 1 symptoms, 0 risk factors") || !strings.Contains(said, "conditions with fewer than 6 findings: 1\n  cold\n") {
		t.Errorf("check says %q, %v", said, err)
	}
	said, err = command(t, "check", "--content", dir, "--json")
	var answer struct {
		Reports []struct {
			Model       string
			FewFindings []string `json:"few_findings"`
		}
	}
	if err != nil || json.Unmarshal([]byte(said), &answer) != nil || len(answer.Reports) != 1 || answer.Reports[0].Model != "service-en" || len(answer.Reports[0].FewFindings) != 1 {
		t.Errorf("check --json says %q, %v", said, err)
	}
}

// A check says what free text cannot mention, and how much of an experimental
// language is its base's.
func TestCheckContentTellsWhatFreeTextLacks(t *testing.T) {
	t.Parallel()
	content := american(tiny())
	out, err := command(t, "check", "--content", directory(t, content))
	if err != nil || strings.Count(out, "symptoms and risk factors that the lexicon says nothing of: 1\n  sneezing\n") != 2 || strings.Contains(out, "experimental") {
		t.Errorf("%v, %s", err, out)
	}
	content["lang/en/lexicon.yaml"] = &fstest.MapFile{Data: []byte("observations:\n  sneezing: {wordings: ['[achoo|atishoo]']}\n")}
	content["lang/en-us/language.yaml"].Data = append(content["lang/en-us/language.yaml"].Data, "experimental: true\n"...)
	out, err = command(t, "check", "--content", directory(t, content))
	for _, says := range []string{
		"links, 2 patterns, ",
		"the lexicon says nothing of: 0\n",
		"an experimental language, with concepts, groups and articles as they are in its base: 2\n",
	} {
		if err != nil || !strings.Contains(out, says) {
			t.Errorf("%v, %q is not in %s", err, says, out)
		}
	}
	content["lang/en/lexicon.yaml"].Data = []byte("observations:\n  snoring: {wordings: ['[']}\n  sneezing: {wordings: ['achoo ]']}\n")
	dir := directory(t, content)
	_, err = command(t, "check", "--content", dir)
	want := filepath.Join(dir, "lang/en/lexicon.yaml") + ":2: unknown observation snoring: no file under core defines it as a symptom or a risk factor\n" +
		filepath.Join(dir, "lang/en/lexicon.yaml") + ":3: \"achoo ]\" of sneezing: a \"]\" without a [ before it"
	if err == nil || err.Error() != want {
		t.Errorf("the check says\n%v, want\n%s", err, want)
	}
}

func TestCheckContentInBrief(t *testing.T) {
	t.Parallel()
	said, err := command(t, "check", "--brief", "--content", directory(t, tiny()))
	if err != nil || !strings.Contains(said, "conditions with fewer than 6 findings: 1\nfindings linked") {
		t.Errorf("check --brief says %q, %v", said, err)
	}
}

// Content in which nothing tells two conditions apart compiles, but is not done.
func TestCheckContentRefusesWhatNothingSeparates(t *testing.T) {
	t.Parallel()
	content := tiny()
	replace := func(name string, pairs ...string) {
		content[name].Data = []byte(strings.NewReplacer(pairs...).Replace(string(content[name].Data)))
	}
	_, cold, _ := strings.Cut(string(content["core/all.yaml"].Data), "conditions:\n")
	content["core/twin.yaml"] = &fstest.MapFile{Data: []byte("conditions:\n" + strings.Replace(cold, "slug: cold", "slug: flu", 1))}
	replace("core/registry.yaml", "{cold: c_1}", "{cold: c_1, flu: c_2}")
	replace("lang/en/all.yaml", "{name: Cold}", "{name: Cold}\n  flu: {name: Flu}")
	_, err := command(t, "check", "--content", directory(t, content))
	if err == nil || !strings.Contains(err.Error(), "1 pairs of conditions of service-en") || !strings.Contains(err.Error(), "cold and flu overlap by 1.00") {
		t.Errorf("check says %v", err)
	}
	content["core/twin.yaml"].Data = append(content["core/twin.yaml"].Data, "alike:\n  - {conditions: [cold, flu], reason: Both sneeze.}\n"...)
	said, err := command(t, "check", "--content", directory(t, content))
	if err != nil || !strings.Contains(said, "cold and flu: Both sneeze.") {
		t.Errorf("check says %q, %v", said, err)
	}
}

func TestCheckContentTellsProblems(t *testing.T) {
	t.Parallel()
	content := tiny()
	content["core/more.yaml"] = &fstest.MapFile{Data: []byte("tuples:\n  - {slug: x}\n")}
	dir := directory(t, content)
	said, err := command(t, "check", "--content", dir)
	if err == nil || !strings.Contains(err.Error(), dir+"/core/more.yaml:2: level is missing") || said != "" {
		t.Errorf("check says %q, %v", said, err)
	}
}

// models is a directory of three releases.
func models(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, w := range []model.Wanted{{ID: "service-en", Version: "2026-05-01T00:00:00Z"}, {ID: "service-en", Version: version}, {ID: "service-de", Version: version}} {
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
	dir := models(t)
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
			said, err := command(t, append([]string{"check", "--models", dir, "--json", "--result-file", result}, test.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"models":[` + test.want + `]}`
			if said != want+"\n" {
				t.Errorf("it says %s, want %s", said, want)
			}
			if written, err := os.ReadFile(result); err != nil || string(written) != want {
				t.Errorf("it wrote %s, %v", written, err)
			}
		})
	}
	said, err := command(t, "check", "--models", dir, "--model", "service-de")
	if want := "service-de " + version + ": 2 conditions, 1 symptoms, 3 risk factors, 1 laboratory tests\n"; err != nil || said != want {
		t.Errorf("in plain text it says %q, %v, want %q", said, err, want)
	}
}

func TestCheckModelsTellsWhatThereIs(t *testing.T) {
	t.Parallel()
	dir := models(t)
	const there = "service-de@2026-11-21T00:00:00Z, service-en@2026-05-01T00:00:00Z, service-en@2026-11-21T00:00:00Z"
	for _, test := range []struct{ name, model, says string }{
		{"an unknown model", "service-fr", "no release of model service-fr in " + dir + ": there are " + there},
		{"a version that no release has", "service-en@2026-01-01T00:00:00Z", "no release of model service-en@2026-01-01T00:00:00Z in " + dir + ": there are " + there},
		{"what is no model", "latest!", `model "latest!": expected an id such as service-en`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := filepath.Join(t.TempDir(), "termination-log")
			said, err := command(t, "check", "--models", dir, "--model", test.model, "--json", "--result-file", result)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v, want %q in it", err, test.says)
			}
			written, errRead := os.ReadFile(result)
			var answer struct{ Error string }
			if errRead != nil || json.Unmarshal(written, &answer) != nil || !strings.Contains(answer.Error, test.says) || said != string(written)+"\n" {
				t.Errorf("it says %q and wrote %q, %v", said, written, errRead)
			}
		})
	}
}

func TestCheckRefusesFlagsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	dir := directory(t, tiny())
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"check", "--content", dir, "--models", dir}, "can't be used together"},
		{[]string{"check", "--content", dir, "--model", "service-en"}, "--models"},
		{[]string{"check", "--content", filepath.Join(dir, "none")}, "no such file"},
		{[]string{"build", "--content", dir}, "--out"},
	} {
		if _, err := command(t, test.args...); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: %v, want it to say %q", test.args, err, test.says)
		}
	}
}

func TestCheckTellsWhereItCannotWrite(t *testing.T) {
	t.Parallel()
	dir := models(t)
	_, err := command(t, "check", "--models", dir, "--result-file", filepath.Join(dir, "none", "result"))
	if err == nil || !strings.Contains(err.Error(), "writing the answer of the check") {
		t.Errorf("the error is %v", err)
	}
}

// A termination message is cut at 4 KiB; JSON that was cut is no JSON.
func TestALongErrorStaysWhole(t *testing.T) {
	t.Parallel()
	for _, message := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 5000)} {
		got := abridged(message)
		data, err := json.Marshal(failure{Error: got})
		if err != nil || len(data) > 4096 || !strings.HasPrefix(message, strings.TrimSuffix(got, "…")) {
			t.Errorf("%d bytes, %v: %.40s", len(data), err, data)
		}
	}
	if got := abridged("short"); got != "short" {
		t.Errorf("a short message becomes %q", got)
	}
}

// building writes the releases of some content.
func building(t *testing.T, content fstest.MapFS) func(dir string) error {
	return func(dir string) error {
		return (&Build{Content: directory(t, content), Out: dir}).Run(io.Discard)
	}
}

// TestApartRunsTheProgram holds that the content is built by another process, with
// the command that Build is, and that what it says is told when it fails.
func TestApartRunsTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\necho $$ \"$@\" >\"$4/said\" || { echo no such folder; exit 1; }\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Apart(t.Context(), program)(dir); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	if _, arguments, _ := strings.Cut(string(said), " "); arguments != "model build --out "+dir+"\n" {
		t.Errorf("it was called with %q", arguments)
	}
	if err := Apart(t.Context(), program)(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("building into no folder: %v", err)
	}
}

func TestCachedCompilesOnce(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "cache")
	dir, err := Cached(american(tiny()), root, building(t, american(tiny())))
	if err != nil {
		t.Fatal(err)
	}
	library, err := model.OpenLibrary(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if releases := library.Releases(); len(releases) != 2 || releases[0].ModelID != model.DefaultModelID {
		t.Errorf("the cache holds %v", releases)
	}
	library.Close()
	// What is in the cache is used as it is, not compiled again.
	mark := filepath.Join(dir, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Cached(american(tiny()), root, building(t, american(tiny())))
	if err != nil || again != dir {
		t.Fatalf("the same content is in %s, %v, want %s", again, err, dir)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("it was made again")
	}
	changed := tiny()
	changed["lang/en/all.yaml"] = &fstest.MapFile{Data: bytes.Replace(changed["lang/en/all.yaml"].Data, []byte("Cold"), []byte("Common cold"), 1)}
	other, err := Cached(changed, root, building(t, changed))
	if err != nil || other == dir {
		t.Fatalf("other content is in %s, %v", other, err)
	}
	if diff := cmp.Diff(2, entries(t, root)); diff != "" {
		t.Errorf("entries in the cache: %s", diff)
	}
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestCachedKeepsNothingOfBadContent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	content := tiny()
	delete(content, "core/release.yaml")
	if _, err := Cached(content, root, building(t, content)); err == nil {
		t.Error("content without a version was compiled")
	}
	if n := entries(t, root); n != 0 {
		t.Errorf("%d entries in the cache", n)
	}
}

func TestCachedTellsWhereItCannotWrite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{file, filepath.Join(file, "below")} {
		if _, err := Cached(tiny(), root, building(t, tiny())); err == nil || !strings.Contains(err.Error(), "making the cache of compiled content") {
			t.Errorf("in %s: %v", root, err)
		}
		if _, err := command(t, "build", "--content", directory(t, tiny()), "--out", root); err == nil || !strings.Contains(err.Error(), "making the directory of release files") {
			t.Errorf("building into %s: %v", root, err)
		}
	}
}

func TestCacheRootIsTheUsers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/home/someone/.cache")
	t.Setenv("HOME", "/home/someone")
	root, err := CacheRoot()
	if want := filepath.Join("anamnesis", "models"); err != nil || !strings.HasSuffix(root, want) || !strings.HasPrefix(root, "/home/someone") {
		t.Errorf("the cache is in %s, %v", root, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := CacheRoot(); err == nil || !strings.Contains(err.Error(), "--models") {
		t.Errorf("without a home: %v", err)
	}
}

func TestCachedByManyAtOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			dir, err := Cached(tiny(), root, building(t, tiny()))
			if err != nil {
				t.Error(err)
				return
			}
			library, err := model.OpenLibrary(dir, nil)
			if err != nil {
				t.Error(err)
				return
			}
			library.Close()
		})
	}
	group.Wait()
	if n := entries(t, root); n != 1 {
		t.Errorf("%d entries in the cache, want 1", n)
	}
}

func TestCachedKeepsTheLatestOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var last string
	for i := range kept + 4 {
		content := tiny()
		content["core/note.yaml"] = &fstest.MapFile{Data: []byte("# " + strings.Repeat("x", i))}
		dir, err := Cached(content, root, building(t, content))
		if err != nil {
			t.Fatal(err)
		}
		last = dir
	}
	if n := entries(t, root); n != kept {
		t.Errorf("%d entries in the cache, want %d", n, kept)
	}
	if _, err := os.Stat(last); err != nil {
		t.Errorf("the latest is gone: %v", err)
	}
}

// One name and content cannot pass for another: sizes and names are hashed.
func TestHashedTellsContentsApart(t *testing.T) {
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
		if err := hashed(files, &into); err != nil {
			t.Fatal(err)
		}
		if before, taken := seen[into.String()]; taken {
			t.Errorf("contents %d and %d hash the same", before, i)
		}
		seen[into.String()] = i
	}
}
