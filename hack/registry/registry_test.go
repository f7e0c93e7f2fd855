// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

const coreYAML = `observations:
  - {slug: headache, kind: symptom}
  - {slug: fever, kind: symptom}
  - {slug: smoking, kind: risk_factor}
  - {slug: crp_high, kind: lab_result}
lab_tests:
  - {slug: c_reactive_protein, results: {high: crp_high}}
drugs:
  - {slug: aspirin, atc: N02BA01}
conditions:
  - {slug: flu, categories: [infections], specialists: [stranger]}
  - {slug: migraine, categories: [neurology, infections]}
`

// writeContent creates a content directory. It omits the registry if registry is empty.
func writeContent(t *testing.T, registry, core string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{source.ReleaseFile: "version: x\n", "core/all.yaml": core}
	if registry != "" {
		files[source.RegistryFile] = registry
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunAddsMissingEntries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
	}{
		{
			"missing registry",
			"",
			"conditions:\n  flu: c_1\n  migraine: c_2\nobservations:\n  headache: s_1\n  fever: s_2\n  smoking: p_1\n  crp_high: lt_1\ncategories:\n  infections: cc_1\n  neurology: cc_2\nlab_tests:\n  c_reactive_protein: lab_1\ndrugs:\n  aspirin: d_1\n",
		},
		{
			"appended to each section, without other changes",
			"# Forever.\nconditions:\n    flu: c_7 # the first\n\n# What patients report.\nobservations:\n    smoking: p_236\n    headache: s_21\nspecialists: {gp: sp_1}\nlab_tests:\n    iron: lab_4\ncategories:\n",
			"# Forever.\nconditions:\n    flu: c_7 # the first\n    migraine: c_8\n\n# What patients report.\nobservations:\n    smoking: p_236\n    headache: s_21\n    fever: s_22\n    crp_high: lt_1\nspecialists: {gp: sp_1}\nlab_tests:\n    iron: lab_4\n    c_reactive_protein: lab_5\ncategories:\n  infections: cc_1\n  neurology: cc_2\ndrugs:\n  aspirin: d_1\n",
		},
		{
			"removed numbers are not reused",
			"conditions:\n  flu: c_1\nremoved: [c_5, s_40, cc_3, p_9, lab_2, d_7]\n",
			"conditions:\n  flu: c_1\n  migraine: c_6\nremoved: [c_5, s_40, cc_3, p_9, lab_2, d_7]\nobservations:\n  headache: s_41\n  fever: s_42\n  smoking: p_10\n  crp_high: lt_1\ncategories:\n  infections: cc_4\n  neurology: cc_5\nlab_tests:\n  c_reactive_protein: lab_3\ndrugs:\n  aspirin: d_8\n",
		},
		{
			"reserved numbers and aliases are not reused",
			"conditions:\n  flu: c_1\naliases: {s_98: headache, p_8: smoking}\nreserved: {c_5: Why., lt_4: Why.}\n",
			"conditions:\n  flu: c_1\n  migraine: c_6\naliases: {s_98: headache, p_8: smoking}\nreserved: {c_5: Why., lt_4: Why.}\nobservations:\n  headache: s_99\n  fever: s_100\n  smoking: p_9\n  crp_high: lt_5\ncategories:\n  infections: cc_1\n  neurology: cc_2\nlab_tests:\n  c_reactive_protein: lab_1\ndrugs:\n  aspirin: d_1\n",
		},
		{
			"no changes if no entry is missing",
			"conditions: {flu: c_1, migraine: c_2}\nobservations: {headache: s_1, fever: s_2, smoking: p_1, crp_high: lt_1}\ncategories: {infections: cc_1, neurology: cc_2}\nlab_tests: {c_reactive_protein: lab_1}\ndrugs: {aspirin: d_1}",
			"conditions: {flu: c_1, migraine: c_2}\nobservations: {headache: s_1, fever: s_2, smoking: p_1, crp_high: lt_1}\ncategories: {infections: cc_1, neurology: cc_2}\nlab_tests: {c_reactive_protein: lab_1}\ndrugs: {aspirin: d_1}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := writeContent(t, test.before, coreYAML)
			for range 2 { // the second run changes nothing
				if err := run(dir); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(dir, "core", "registry.yaml"))
				if err != nil || string(got) != test.after {
					t.Fatalf("got registry\n%s\nerror %v, want\n%s", got, err, test.after)
				}
			}
		})
	}
}

func TestRunRejectsInvalidContent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, registry, core, want string
	}{
		{"section in braces", "conditions: {flu: c_1}\n", coreYAML, "line 1: expected conditions to have one slug per line"},
		{"invalid YAML", "conditions:\n\t- x\n", coreYAML, "core/registry.yaml:2:"},
		{"unknown kind", "", "observations:\n  - {slug: fever, kind: sign}\n", `core/all.yaml:2: fever: unknown kind "sign"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := writeContent(t, test.registry, test.core)
			if err := run(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			got, err := os.ReadFile(filepath.Join(dir, "core", "registry.yaml"))
			if string(got) != test.registry || (err != nil) != (test.registry == "") {
				t.Errorf("got changed registry\n%s", got)
			}
		})
	}
}
