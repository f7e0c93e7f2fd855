// SPDX-License-Identifier: Apache-2.0

// Package machine checks whether this machine can run the local cluster, and installs
// the Debian packages that it needs. Tools built from Go modules belong to package
// build.
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

// Requirement is a package and the possible locations of one of its programs.
type Requirement struct {
	Package string
	Paths   []string
}

// CNIPluginDirs are the directories in which distributions install network plugins.
var CNIPluginDirs = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// Requirements are the programs that the node needs and that are not built from Go
// modules.
var Requirements = []Requirement{
	{Package: "iproute2", Paths: pathsInSearchPath("ip")},
	{Package: "mount", Paths: pathsInSearchPath("mount")},
	{Package: "runc", Paths: pathsInSearchPath("runc")},
	{Package: "iptables", Paths: pathsInSearchPath("iptables")},
	{Package: "nftables", Paths: pathsInSearchPath("nft")},
	{Package: "containernetworking-plugins", Paths: pathsInDirs("bridge", CNIPluginDirs)},
}

// SearchPath is the search path in the node, after the cluster's own tools.
const SearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func pathsInSearchPath(program string) []string {
	return pathsInDirs(program, filepath.SplitList(SearchPath))
}

func pathsInDirs(program string, folders []string) []string {
	paths := make([]string, 0, len(folders))
	for _, folder := range folders {
		paths = append(paths, filepath.Join(folder, program))
	}
	return paths
}

// CheckSupported returns an error that explains why the cluster cannot run on this
// machine, and the alternatives.
func CheckSupported() error {
	return checkSupported(runtime.GOOS, os.Geteuid())
}

func checkSupported(system string, user int) error {
	const instead = "on any cluster that kubectl points to, `make deploy` installs the same"
	switch {
	case system != "linux":
		return fmt.Errorf("the local cluster requires Linux, got %s; %s", system, instead)
	case user != 0:
		return fmt.Errorf("the local cluster requires root for its namespaces; %s", instead)
	}
	return nil
}

// Missing returns the requirements without an existing program.
func Missing(needs []Requirement, exists func(path string) bool) []Requirement {
	var missing []Requirement
	for _, need := range needs {
		if _, found := firstExisting(need.Paths, exists); !found {
			missing = append(missing, need)
		}
	}
	return missing
}

// FirstExisting returns the first of the paths that exists.
func FirstExisting(paths []string) (string, bool) {
	return firstExisting(paths, Exists)
}

func firstExisting(paths []string, exists func(string) bool) (string, bool) {
	for _, path := range paths {
		if exists(path) {
			return path, true
		}
	}
	return "", false
}

// Exists reports whether path exists.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// InstallEnv is the environment variable that decides whether missing packages are
// installed: yes or no. hack/setup, which asks the user, sets it. If unset, packages are
// installed unless the user sits at a terminal.
const InstallEnv = "ANAMNESIS_INSTALL"

// CheckConsent returns an error unless the packages may be installed.
func CheckConsent(decision string, terminal bool, packages []string) error {
	if decision == "yes" || decision == "" && !terminal {
		return nil
	}
	return fmt.Errorf("the node requires the Debian packages %[1]s: set %[2]s=yes to install them, or run apt-get install --no-install-recommends %[1]s",
		strings.Join(packages, " "), InstallEnv)
}

// PackageNames returns the package names of the requirements.
func PackageNames(needs []Requirement) []string {
	names := make([]string, 0, len(needs))
	for _, need := range needs {
		names = append(names, need.Package)
	}
	return names
}

// Install installs packages if apt-get is available. Otherwise the error lists them.
func Install(ctx context.Context, packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("the node requires these packages (Debian names): %s", strings.Join(packages, " "))
	}
	install := append([]string{"install", "--yes", "--quiet", "--no-install-recommends"}, packages...)
	if aptGet(ctx, install...) == nil {
		return nil
	}
	// The package lists may be missing or outdated.
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
