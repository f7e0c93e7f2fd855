// SPDX-License-Identifier: Apache-2.0

// Package version identifies the build of a binary: its version, revision and Go version.
// Both binaries print it (--version) and report it as a metric. Versions of medical models
// and of the API do not belong here.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// version and revision are set by the linker for builds without a version control system:
//
//	go build -ldflags "-X github.com/anamnesis-dev/anamnesis/version.version=v0.1.0"
var version, revision string

// Info describes a build.
type Info struct {
	// Version is a semantic version, a pseudo-version, or (devel).
	Version string
	// Revision is the commit, with the suffix -dirty if the source had changes, or unknown.
	Revision string
	// GoVersion is the version of Go that compiled the binary.
	GoVersion string
}

// Get returns the build of the running binary.
func Get() Info {
	build, _ := debug.ReadBuildInfo()
	return newInfo(build, version, revision)
}

// newInfo prefers the values set by the linker to the values recorded by the Go command. build may be nil.
func newInfo(build *debug.BuildInfo, version, revision string) Info {
	recorded := ""
	if build != nil {
		recorded = build.Main.Version
	}
	return Info{
		Version:   cmp.Or(version, recorded, "(devel)"),
		Revision:  cmp.Or(revision, recordedRevision(build), "unknown"),
		GoVersion: runtime.Version(),
	}
}

// recordedRevision returns the commit that the Go command recorded, or "".
func recordedRevision(build *debug.BuildInfo) string {
	if build == nil {
		return ""
	}
	settings := map[string]string{}
	for _, setting := range build.Settings {
		settings[setting.Key] = setting.Value
	}
	if commit := settings["vcs.revision"]; commit != "" && settings["vcs.modified"] == "true" {
		return commit + "-dirty"
	}
	return settings["vcs.revision"]
}

// String returns the build on one line.
func (i Info) String() string {
	return fmt.Sprintf("%s (revision %s, %s)", i.Version, i.Revision, i.GoVersion)
}

// NewCollector returns the metric anamnesis_build_info.
func NewCollector() prometheus.Collector {
	info := Get()
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "anamnesis_build_info",
		Help:        "Version, revision and Go version of this build; always 1.",
		ConstLabels: prometheus.Labels{"version": info.Version, "revision": info.Revision, "goversion": info.GoVersion},
	}, func() float64 { return 1 })
}
