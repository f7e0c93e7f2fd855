// SPDX-License-Identifier: Apache-2.0

// Package controlplanetest starts a kube-apiserver and an etcd for tests, with
// RBAC and the CRD, and nothing else of Kubernetes: no controller deletes what is
// in a namespace that is being deleted, no kubelet runs pods.
package controlplanetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// A ControlPlane was started by Start and must be stopped.
type ControlPlane struct {
	environment *envtest.Environment
	// users is held while a user is added, which envtest cannot do for several
	// at a time.
	users sync.Mutex
}

// Start starts a control plane. It needs the binaries that hack/cluster builds,
// or those where KUBEBUILDER_ASSETS says, and a working directory within this
// repository, as tests have.
func Start() (*ControlPlane, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	assets, err := assetsDirectory()
	if err != nil {
		return nil, err
	}
	crds := filepath.Join(root, "config", "crd", "bases")
	var failures error
	for range startAttempts {
		environment, err := start(assets, crds)
		if err == nil {
			return &ControlPlane{environment: environment}, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, failures
}

// startAttempts is how often to try: envtest gives a new API server five seconds
// to make its first namespace, which a busy machine may not have.
const startAttempts = 3

// start leaves nothing running when it fails.
func start(assets, crds string) (*envtest.Environment, error) {
	environment := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDDirectoryPaths:        []string{crds},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: time.Minute,
	}
	if _, err := environment.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a control plane: %w", err), environment.Stop())
	}
	return environment, nil
}

// Admin may do everything.
func (c *ControlPlane) Admin() *rest.Config { return rest.CopyConfig(c.environment.Config) }

// ServiceAccount is who a pod with a ServiceAccount is: it may do what roles say.
func (c *ControlPlane) ServiceAccount(namespace, name string) (*envtest.AuthenticatedUser, error) {
	c.users.Lock()
	defer c.users.Unlock()
	user, err := c.environment.AddUser(envtest.User{
		Name:   "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("making ServiceAccount %s/%s known: %w", namespace, name, err)
	}
	return user, nil
}

// Stop ends it.
func (c *ControlPlane) Stop() error { return c.environment.Stop() }

// repository finds the root of this repository above the working directory.
func repository() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(directory, "PROJECT")); err == nil {
			return directory, nil
		}
		above := filepath.Dir(directory)
		if above == directory {
			return "", errors.New("finding the repository: no folder above the working directory has a file PROJECT")
		}
		directory = above
	}
}

// assetsDirectory finds kube-apiserver and etcd: where KUBEBUILDER_ASSETS says,
// else where hack/cluster builds them.
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
	if _, err := os.Stat(filepath.Join(directory, "kube-apiserver")); err != nil { //nolint:gosec // the folder is the developer's to say
		return "", fmt.Errorf("no kube-apiserver in %q: build it with `go -C hack/cluster run . build assets`", directory)
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
