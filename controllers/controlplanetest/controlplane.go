// SPDX-License-Identifier: Apache-2.0

// Package controlplanetest starts kube-apiserver and etcd for tests, with RBAC and the
// CRDs. All tests of a process share them: the first call of Get starts them, and Run,
// which TestMain calls, stops them. No other Kubernetes component runs, so no controller
// deletes the contents of a terminating namespace, and no kubelet runs pods.
package controlplanetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// A ControlPlane is a running control plane.
type ControlPlane struct {
	environment *envtest.Environment
	// userMutex serializes the creation of users, which envtest does not support
	// concurrently.
	userMutex sync.Mutex
}

// stop stops the control plane if it was started.
var stop = func() error { return nil }

// startShared starts the control plane of the process.
var startShared = sync.OnceValues(func() (*ControlPlane, error) {
	environment, err := startEnvironment()
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", err)
	}
	stop = environment.Stop
	return &ControlPlane{environment: environment}, nil
})

// Get returns the control plane of the process and starts it if necessary. It fails the
// test if the control plane cannot be started. It requires the binaries built by
// hack/cluster or the binaries in KUBEBUILDER_ASSETS, and a working directory within this
// repository.
func Get(t testing.TB) *ControlPlane {
	t.Helper()
	shared, err := startShared()
	if err != nil {
		t.Fatal(err)
	}
	return shared
}

// Run runs the tests of a package, stops the control plane if it was started, and returns
// the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		code = max(code, 1)
	}
	return code
}

// startEnvironment starts envtest with the CRDs of this repository.
func startEnvironment() (*envtest.Environment, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	assets, err := assetsDirectory()
	if err != nil {
		return nil, err
	}
	crds := filepath.Join(root, "config", "crd", "bases")
	var failures error
	for range maxStartAttempts {
		environment, err := start(assets, crds)
		if err == nil {
			return environment, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, failures
}

// maxStartAttempts limits the attempts to start envtest. envtest gives a new API server
// five seconds to create its first namespace, which may be too short on a busy machine.
const maxStartAttempts = 3

// start starts envtest, and stops all processes if it fails.
func start(assets, crds string) (*envtest.Environment, error) {
	environment := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDDirectoryPaths:        []string{crds},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: time.Minute,
	}
	// The default range has 254 addresses, which is not enough for repeated test runs:
	// nothing deletes the Services left in test namespaces.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	if _, err := environment.Start(); err != nil {
		return nil, errors.Join(err, environment.Stop())
	}
	return environment, nil
}

// AdminConfig returns a client configuration with all permissions.
func (c *ControlPlane) AdminConfig() *rest.Config { return rest.CopyConfig(c.environment.Config) }

// AddServiceAccountUser adds a user with the identity that a pod of the service account
// would have. The user has the permissions that RBAC grants to the service account.
func (c *ControlPlane) AddServiceAccountUser(namespace, name string) (*envtest.AuthenticatedUser, error) {
	return c.addUser("system:serviceaccount:"+namespace+":"+name, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// AddAdminUser adds a user with all permissions.
func (c *ControlPlane) AddAdminUser(name string) (*envtest.AuthenticatedUser, error) {
	return c.addUser(name, "system:masters")
}

func (c *ControlPlane) addUser(name string, groups ...string) (*envtest.AuthenticatedUser, error) {
	c.userMutex.Lock()
	defer c.userMutex.Unlock()
	user, err := c.environment.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", name, err)
	}
	return user, nil
}

// repositoryRoot returns the root of this repository, at or above the working directory.
func repositoryRoot() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(directory, "PROJECT")); err == nil {
			return directory, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return "", errors.New("finding the repository: file PROJECT not found in any parent of the working directory")
		}
		directory = parent
	}
}

// assetsDirectory returns the directory of kube-apiserver and etcd: KUBEBUILDER_ASSETS
// if set, else the output of hack/cluster.
func assetsDirectory() (string, error) {
	directory := os.Getenv("KUBEBUILDER_ASSETS")
	if directory == "" {
		found, err := filepath.Glob(filepath.Join(cacheDirectory(), "assets", "*", "kube-apiserver"))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			directory = filepath.Dir(found[len(found)-1])
		}
	}
	if _, err := os.Stat(filepath.Join(directory, "kube-apiserver")); err != nil { //nolint:gosec // the person running the tests sets the path
		return "", fmt.Errorf("kube-apiserver not found in %q: build it with `go -C hack/cluster run . build assets`", directory)
	}
	return directory, nil
}

func cacheDirectory() string {
	if directory := os.Getenv("ANAMNESIS_CACHE"); directory != "" {
		return directory
	}
	directory, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(directory, "anamnesis")
}
