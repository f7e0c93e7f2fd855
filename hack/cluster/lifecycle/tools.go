// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/installed"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/release"
)

// Origin selects the source of tools that the cache does not have.
type Origin string

const (
	// AnyOrigin uses matching programs on this machine, then official releases if their host
	// responds promptly, then builds from source.
	AnyOrigin Origin = "auto"
	// Downloaded uses official releases, and fails if one cannot be downloaded.
	Downloaded Origin = "download"
	// Built builds everything from source.
	Built Origin = "build"
)

// OriginEnv is the environment variable that selects the origin. Its other values select
// another cluster.
const OriginEnv = "CLUSTER"

// ParseOrigin returns the origin that a value of OriginEnv selects.
func ParseOrigin(value string) (Origin, error) {
	switch value {
	case "", "kind", "current":
		return AnyOrigin, nil
	case string(AnyOrigin), string(Downloaded), string(Built):
		return Origin(value), nil
	}
	return "", fmt.Errorf("unknown %s=%s: use auto, download, build, kind or current", OriginEnv, value)
}

// toolset provides tools that the cache does not have.
type toolset struct {
	builder build.Builder
	origin  Origin
	output  io.Writer
	dirs    []string // directories to search for installed programs
}

// provide provides the named tools, or all tools if no name is given. For tools that are
// already installed on this machine, it sets the path and version in binaries.
func (t toolset) provide(ctx context.Context, binaries []build.Binary, names []string) error {
	var missing []build.Binary
	for i, binary := range binaries {
		if binary.IsBuilt() || len(names) > 0 && !slices.Contains(names, binary.Name) {
			continue
		}
		if found, ok := t.findInstalled(ctx, binary); ok {
			fmt.Fprintf(t.output, "using %s %s\n", found.Path, found.Version)
			binaries[i] = found
			continue
		}
		missing = append(missing, binary)
	}
	if len(missing) == 0 {
		return nil
	}
	downloads := t.planDownloads(ctx, missing)
	t.printPlan(missing, downloads)
	for i, binary := range missing {
		if err := t.create(ctx, binary, downloads[binary.Name], fmt.Sprintf("[%d/%d]", i+1, len(missing))); err != nil {
			return err
		}
	}
	return nil
}

// findInstalled returns a matching program on this machine.
func (t toolset) findInstalled(ctx context.Context, binary build.Binary) (build.Binary, bool) {
	if t.origin != AnyOrigin || len(binary.VersionArgs) == 0 {
		return binary, false
	}
	program := installed.Program{Name: binary.Name, VersionArgs: binary.VersionArgs, Version: binary.Version}
	path, version, found := installed.Find(ctx, program, t.dirs)
	if found {
		binary.Path, binary.Version = path, version
	}
	return binary, found
}

// planDownloads returns the names of the tools to download. It prints hosts that do not
// respond.
func (t toolset) planDownloads(ctx context.Context, missing []build.Binary) map[string]bool {
	downloads := map[string]bool{}
	if t.origin == Built {
		return downloads
	}
	hosts := map[string][]build.Binary{}
	for _, binary := range missing {
		if file, ok := binary.ReleaseFile(); ok {
			host := hostOf(file)
			hosts[host] = append(hosts[host], binary)
		}
	}
	failures := map[string]error{}
	if t.origin == AnyOrigin {
		failures = probe(ctx, hosts)
	}
	var unavailable []string
	for host, binaries := range hosts {
		if err := failures[host]; err != nil {
			unavailable = append(unavailable, err.Error())
			continue
		}
		for _, binary := range binaries {
			downloads[binary.Name] = true
		}
	}
	if len(unavailable) > 0 {
		slices.Sort(unavailable)
		fmt.Fprintf(t.output, "official releases are unavailable: %s\n", strings.Join(unavailable, "; "))
	}
	return downloads
}

func hostOf(file release.File) string {
	parsed, err := url.Parse(file.URL)
	if err != nil {
		return file.URL
	}
	return parsed.Host
}

// probe probes all hosts concurrently and returns the failures.
func probe(ctx context.Context, hosts map[string][]build.Binary) map[string]error {
	failures := map[string]error{}
	var mutex sync.Mutex
	var probes sync.WaitGroup
	for host, binaries := range hosts {
		probes.Go(func() {
			file, _ := binaries[0].ReleaseFile()
			err := release.Probe(ctx, file)
			mutex.Lock()
			defer mutex.Unlock()
			failures[host] = err
		})
	}
	probes.Wait()
	return failures
}

// printPlan prints how many programs will be downloaded and built, and how long building
// takes.
func (t toolset) printPlan(missing []build.Binary, downloads map[string]bool) {
	var seconds int
	for _, binary := range missing {
		if !downloads[binary.Name] {
			seconds += binary.BuildSeconds
		}
	}
	fmt.Fprintf(t.output, "Kubernetes programs to download: %d, to build from source: %d", len(downloads), len(missing)-len(downloads))
	if estimate := estimateBuild(seconds, runtime.NumCPU()); estimate >= time.Minute {
		fmt.Fprintf(t.output, " (about %d minutes on %d idle processors with an empty build cache)", int(estimate.Minutes()), runtime.NumCPU())
	}
	fmt.Fprintln(t.output)
}

// estimateBuild scales a duration on two processors.
func estimateBuild(seconds, processors int) time.Duration {
	return time.Duration(seconds) * time.Second * 2 / time.Duration(processors)
}

// create downloads or builds a tool. Unless the origin is Downloaded, it builds a tool
// that cannot be downloaded.
func (t toolset) create(ctx context.Context, binary build.Binary, download bool, position string) error {
	steps := newProgress(t.output)
	tool := binary.Name + " " + binary.Version
	if file, ok := binary.ReleaseFile(); ok && download {
		sum := "published checksum"
		if file.IsPinned() {
			sum = "pinned checksum"
		}
		name := fmt.Sprintf("%s download %s (%s)", position, tool, sum)
		err := steps.runStep(name, func() error { return t.builder.Download(ctx, binary) })
		if err == nil || ctx.Err() != nil || t.origin == Downloaded {
			return err
		}
		fmt.Fprintf(t.output, "%v; building it from source\n", err)
	}
	return steps.runStep(position+" build "+tool, func() error { return t.builder.Build(ctx, binary) })
}

// newToolset returns the toolset that the environment selects.
func (c Cluster) newToolset(builder build.Builder) (toolset, error) {
	origin, err := ParseOrigin(os.Getenv(OriginEnv))
	return toolset{builder: builder, origin: origin, output: c.Output, dirs: installed.Dirs(os.Getenv)}, err
}
