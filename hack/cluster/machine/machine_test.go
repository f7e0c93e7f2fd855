// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestCheckSupported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		system string
		user   int
		says   string
	}{
		{"linux", 0, ""},
		{"linux", 1000, "root"},
		{"darwin", 0, "requires Linux, got darwin"},
		{"windows", -1, "requires Linux, got windows"},
	} {
		err := checkSupported(test.system, test.user)
		switch {
		case test.says == "" && err != nil:
			t.Errorf("%s as %d: %v", test.system, test.user, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "make deploy")):
			t.Errorf("%s as %d: got error %v, want %q and make deploy", test.system, test.user, err, test.says)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	needs := []Requirement{
		{Package: "runc", Paths: []string{"/usr/sbin/runc", "/usr/bin/runc"}},
		{Package: "plugins", Paths: []string{"/usr/lib/cni/bridge", "/opt/cni/bin/bridge"}},
	}
	for _, test := range []struct {
		name  string
		there []string
		want  []string
	}{
		{"nothing is there", nil, []string{"runc", "plugins"}},
		{"one place is enough", []string{"/usr/bin/runc"}, []string{"plugins"}},
		{"all is there", []string{"/usr/sbin/runc", "/opt/cni/bin/bridge"}, nil},
		{"others do not count", []string{"/usr/bin/bridge"}, []string{"runc", "plugins"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, need := range Missing(needs, func(path string) bool { return slices.Contains(test.there, path) }) {
				got = append(got, need.Package)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got missing %v, want %v", got, test.want)
			}
		})
	}
}

func TestInstallWithoutMissingPackages(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // makes any command fail
	if err := Install(ctx, nil); err != nil {
		t.Error(err)
	}
}

func TestCheckConsent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		decision string
		terminal bool
		want     bool
	}{
		{"yes", true, true},
		{"yes", false, true},
		{"", false, true},
		{"", true, false},
		{"no", false, false},
		{"perhaps", false, false},
	} {
		err := CheckConsent(test.decision, test.terminal, []string{"runc", "iptables"})
		if (err == nil) != test.want || err != nil && !strings.Contains(err.Error(), "apt-get install --no-install-recommends runc iptables") {
			t.Errorf("decision %q, terminal %v: %v", test.decision, test.terminal, err)
		}
	}
}

func TestRequirementsHavePaths(t *testing.T) {
	t.Parallel()
	for _, need := range Requirements {
		if need.Package == "" || len(need.Paths) == 0 || !strings.HasPrefix(need.Paths[0], "/") {
			t.Errorf("requirement has no package or no absolute path: %+v", need)
		}
	}
}
