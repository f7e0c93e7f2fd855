// SPDX-License-Identifier: Apache-2.0

// Package lifecycle starts and stops the local cluster: it runs the steps in order and
// prints the duration of each. The steps themselves are implemented in other packages.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/node"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/tools"
)

// Cluster is the cluster with its state in a directory of this machine.
type Cluster struct {
	Cache place.Cache
	Node  node.Node
	// Output receives the progress.
	Output io.Writer
}

// New returns the cluster that the environment selects.
func New(output io.Writer) (Cluster, error) {
	cache, state, err := place.FromEnvironment(os.Getenv)
	return Cluster{Cache: cache, Node: node.Node{State: state}, Output: output}, err
}

// Build provides the named tools that the cache lacks, or all tools if no name is given,
// in the order of build.Tools. It returns all tools and links the existing ones into
// the envtest directory.
func (c Cluster) Build(ctx context.Context, names ...string) ([]build.Binary, error) {
	builder, err := c.newBuilder()
	if err != nil {
		return nil, err
	}
	binaries, err := builder.Binaries(build.Tools())
	if err != nil {
		return nil, err
	}
	tools, err := c.newToolset(builder)
	if err != nil {
		return nil, err
	}
	assets := build.AssetsDir(c.Cache, binaries)
	if err := tools.provide(ctx, binaries, names); err != nil {
		return nil, err
	}
	return binaries, build.LinkAssets(assets, binaries)
}

func (c Cluster) newBuilder() (build.Builder, error) {
	source, err := tools.SourceDir()
	return build.Builder{Source: source, Cache: c.Cache}, err
}

// Up starts the cluster and returns when its node and DNS are ready. It leaves a
// running cluster unchanged, and removes the remains of an earlier cluster. If a step
// fails, it stops the node and keeps the logs.
func (c Cluster) Up(ctx context.Context) error {
	useKind, err := c.chooseKind()
	switch {
	case err != nil:
		return err
	case useKind:
		return c.upKind(ctx)
	}
	if err := machine.CheckSupported(); err != nil {
		return err
	}
	release, err := place.AcquireLock(c.Cache.LockFile(c.Node.State.ID()))
	if err != nil {
		return err
	}
	defer release()
	if c.CheckReady(ctx) == nil {
		return nil
	}
	steps := newProgress(c.Output)
	if err := c.installPackages(ctx, steps); err != nil {
		return err
	}
	binaries, err := c.Build(ctx)
	if err != nil {
		return err
	}
	if err := c.start(ctx, steps, binaries); err != nil {
		return errors.Join(err, c.Node.Halt())
	}
	return nil
}

// MissingPackages returns the Debian packages that the node needs and this machine lacks.
func (c Cluster) MissingPackages() []string {
	if useKind, err := c.chooseKind(); useKind || err != nil {
		return nil
	}
	return machine.PackageNames(machine.Missing(machine.Requirements, machine.Exists))
}

func (c Cluster) installPackages(ctx context.Context, steps *progress) error {
	missing := c.MissingPackages()
	if len(missing) == 0 {
		return nil
	}
	terminal := term.IsTerminal(int(os.Stdin.Fd()))
	if err := machine.CheckConsent(os.Getenv(machine.InstallEnv), terminal, missing); err != nil {
		return err
	}
	name := "install " + strings.Join(missing, " ")
	return steps.runStep(name, func() error { return machine.Install(ctx, missing) })
}

// CheckReady returns an error that explains why the cluster is not ready.
func (c Cluster) CheckReady(ctx context.Context) error {
	if !c.Node.State.Exists() {
		return errors.New("the cluster is not running")
	}
	if c.IsKind() {
		return c.kindCluster("").CheckReady(ctx)
	}
	if err := c.Node.CheckRunning(); err != nil {
		return err
	}
	client, err := c.newClient()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := checkNode(ctx, client); err != nil {
		return err
	}
	return checkDNS(ctx, client)
}

// AssetsDir returns the directory to use as envtest's KUBEBUILDER_ASSETS.
func (c Cluster) AssetsDir() (string, error) {
	builder, err := c.newBuilder()
	if err != nil {
		return "", err
	}
	binaries, err := builder.Binaries(build.Tools())
	if err != nil {
		return "", err
	}
	return build.AssetsDir(c.Cache, binaries), nil
}

// Down stops the cluster and deletes everything but the cache.
func (c Cluster) Down(ctx context.Context) error {
	release, err := place.AcquireLock(c.Cache.LockFile(c.Node.State.ID()))
	if err != nil {
		return err
	}
	defer release()
	if c.IsKind() {
		return c.kindCluster("").Down(ctx)
	}
	return c.cleanUp()
}

func (c Cluster) cleanUp() error {
	if err := c.Node.Halt(); err != nil {
		return err
	}
	return c.Node.State.Remove()
}

// Load imports image archives into the node.
func (c Cluster) Load(ctx context.Context, archives []string) error {
	for _, archive := range archives {
		if c.IsKind() {
			if err := c.kindCluster("").Load(ctx, archive); err != nil {
				return err
			}
			continue
		}
		file, err := os.Open(archive)
		if err != nil {
			return fmt.Errorf("opening an image archive: %w", err)
		}
		defer func() { _ = file.Close() }()
		if err := c.Node.ImportImage(ctx, file); err != nil {
			return fmt.Errorf("importing %s: %w", archive, err)
		}
	}
	return nil
}
