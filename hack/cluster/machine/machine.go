// SPDX-License-Identifier: Apache-2.0

// Package machine asks whether this machine can carry the local cluster, and
// installs what it needs of Debian's packages. What is built from Go modules
// is the business of package build.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Need is a package and the places where a program of it may be found: any
// one of them will do.
type Need struct {
	Package string
	AnyOf   []string
}

// CNI are the folders in which distributions keep the network plugins.
var CNI = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// Needs is what the node runs but Go modules do not hold.
var Needs = []Need{
	{Package: "iproute2", AnyOf: inPath("ip")},
	{Package: "mount", AnyOf: inPath("mount")},
	{Package: "runc", AnyOf: inPath("runc")},
	{Package: "iptables", AnyOf: inPath("iptables")},
	{Package: "nftables", AnyOf: inPath("nft")},
	{Package: "containernetworking-plugins", AnyOf: inFolders("bridge", CNI)},
}

// Path is the search path inside the node, behind the cluster's own tools.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func inPath(program string) []string {
	return inFolders(program, filepath.SplitList(Path))
}

func inFolders(program string, folders []string) []string {
	paths := make([]string, 0, len(folders))
	for _, folder := range folders {
		paths = append(paths, filepath.Join(folder, program))
	}
	return paths
}

// Supported says in an error why the cluster cannot run here, and what can be
// done instead.
func Supported() error {
	return supported(runtime.GOOS, os.Geteuid())
}

func supported(system string, user int) error {
	const instead = "on any cluster that kubectl points to, `make deploy` installs the same"
	switch {
	case system != "linux":
		return fmt.Errorf("the local cluster needs Linux, this is %s; %s", system, instead)
	case user != 0:
		return fmt.Errorf("the local cluster needs root for its namespaces; %s", instead)
	}
	return nil
}

// Missing returns those needs of which exists finds no program.
func Missing(needs []Need, exists func(path string) bool) []Need {
	var missing []Need
	for _, need := range needs {
		if _, found := first(need.AnyOf, exists); !found {
			missing = append(missing, need)
		}
	}
	return missing
}

// First returns the first of the paths at which there is something.
func First(paths []string) (string, bool) {
	return first(paths, Exists)
}

func first(paths []string, exists func(string) bool) (string, bool) {
	for _, path := range paths {
		if exists(path) {
			return path, true
		}
	}
	return "", false
}

// Exists says whether there is something at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Install installs what is missing where that is possible, which is as root
// with apt-get, and otherwise names it in the error.
func Install(ctx context.Context, missing []Need) error {
	if len(missing) == 0 {
		return nil
	}
	names := make([]string, 0, len(missing))
	for _, need := range missing {
		names = append(names, need.Package)
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("the node needs these packages (by their Debian names): %s", strings.Join(names, " "))
	}
	install := append([]string{"install", "--yes", "--quiet", "--no-install-recommends"}, names...)
	if aptGet(ctx, install...) == nil {
		return nil
	}
	// The lists may be missing or name files that are no longer served.
	return errors.Join(aptGet(ctx, "update", "--quiet"), aptGet(ctx, install...))
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"--option=DPkg::Lock::Timeout=120"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
