// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	for name, test := range map[string]struct {
		build             *debug.BuildInfo
		version, revision string // of the linker
		want              Info
	}{
		"nothing is known":     {want: Info{Version: "(devel)", Revision: "unknown"}},
		"go install":           {build: build("v0.1.0"), want: Info{Version: "v0.1.0", Revision: "unknown"}},
		"a clean tree":         {build: build("v0.1.0", commit, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), want: Info{Version: "v0.1.0", Revision: "0123abcd"}},
		"a changed tree":       {build: build("v0.1.0+dirty", commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), want: Info{Version: "v0.1.0+dirty", Revision: "0123abcd-dirty"}},
		"a tree without git":   {build: build("(devel)"), want: Info{Version: "(devel)", Revision: "unknown"}},
		"the linker overrides": {build: build("(devel)", commit), version: "v0.2.0", revision: "4567", want: Info{Version: "v0.2.0", Revision: "4567"}},
	} {
		test.want.GoVersion = runtime.Version()
		if got := newInfo(test.build, test.version, test.revision); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestStringIsOneLine(t *testing.T) {
	t.Parallel()
	if got, want := (Info{"v0.1.0", "0123abcd", "go1.26.8"}).String(), "v0.1.0 (revision 0123abcd, go1.26.8)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCollectorReportsTheBuild(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector())
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "anamnesis_build_info" {
		t.Fatalf("got metrics %v, error %v", families, err)
	}
	metric := families[0].GetMetric()[0]
	labels := map[string]string{}
	for _, label := range metric.GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	if info := Get(); metric.GetGauge().GetValue() != 1 || len(labels) != 3 ||
		labels["version"] != info.Version || labels["revision"] != info.Revision || !strings.HasPrefix(labels["goversion"], "go") {
		t.Errorf("got metric %v", metric)
	}
}
