// SPDX-License-Identifier: Apache-2.0

// Package lifecycle brings the local cluster up and down: it puts the steps in
// their order and says how long each took. How a step is done is known to the
// packages that it calls.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/node"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/tools"
)

// Cluster is the cluster whose state is in one folder of this machine.
type Cluster struct {
	Cache place.Cache
	Node  node.Node
	// Output is told the progress.
	Output io.Writer
}

// New finds the cluster that the environment names.
func New(output io.Writer) (Cluster, error) {
	cache, state, err := place.FromEnvironment(os.Getenv)
	return Cluster{Cache: cache, Node: node.Node{State: state}, Output: output}, err
}

// Build builds what is missing in the cache of the tools with these names, all
// of them when there is none, in the order of build.Tools. It returns all tools
// and links the folder for envtest to those that are there.
func (c Cluster) Build(ctx context.Context, names ...string) ([]build.Binary, error) {
	builder, err := c.builder()
	if err != nil {
		return nil, err
	}
	binaries, err := builder.Binaries(build.Tools())
	if err != nil {
		return nil, err
	}
	steps := newSteps(c.Output)
	for _, binary := range binaries {
		if binary.Built() || (len(names) > 0 && !slices.Contains(names, binary.Name)) {
			continue
		}
		name := "build " + binary.Name + " " + binary.Version
		if err := steps.do(name, func() error { return builder.Build(ctx, binary) }); err != nil {
			return nil, err
		}
	}
	return binaries, build.LinkAssets(c.Cache, binaries)
}

func (c Cluster) builder() (build.Builder, error) {
	source, err := tools.Source()
	return build.Builder{Source: source, Cache: c.Cache}, err
}

// Up starts the cluster and returns when its node and its DNS are ready. A
// cluster that is up stays as it is; what an earlier one left is removed. When
// a step fails the node is ended, and the logs stay.
func (c Cluster) Up(ctx context.Context) error {
	if err := machine.Supported(); err != nil {
		return err
	}
	release, err := place.Hold(c.Cache.Lock(c.Node.State.ID()))
	if err != nil {
		return err
	}
	defer release()
	if c.Ready(ctx) == nil {
		return nil
	}
	steps := newSteps(c.Output)
	if missing := machine.Missing(machine.Needs, machine.Exists); len(missing) > 0 {
		if err := steps.do("install packages", func() error { return machine.Install(ctx, missing) }); err != nil {
			return err
		}
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

// Ready returns an error that says what is missing for the cluster to be up.
func (c Cluster) Ready(ctx context.Context) error {
	if !c.Node.State.Exists() {
		return errors.New("the cluster is not up")
	}
	if err := c.Node.Check(); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := nodeReady(ctx, client); err != nil {
		return err
	}
	return dnsReady(ctx, client)
}

// Assets is the folder of the tools that envtest takes as KUBEBUILDER_ASSETS.
func (c Cluster) Assets() (string, error) {
	builder, err := c.builder()
	if err != nil {
		return "", err
	}
	binaries, err := builder.Binaries(build.Tools())
	if err != nil {
		return "", err
	}
	return build.AssetsFolder(c.Cache, binaries), nil
}

// Down ends the cluster and removes everything of it but the cache.
func (c Cluster) Down() error {
	release, err := place.Hold(c.Cache.Lock(c.Node.State.ID()))
	if err != nil {
		return err
	}
	defer release()
	return c.clean()
}

func (c Cluster) clean() error {
	if err := c.Node.Halt(); err != nil {
		return err
	}
	return c.Node.State.Remove()
}

// Load imports image archives into the node.
func (c Cluster) Load(ctx context.Context, archives []string) error {
	for _, archive := range archives {
		file, err := os.Open(archive)
		if err != nil {
			return fmt.Errorf("opening an image archive: %w", err)
		}
		defer func() { _ = file.Close() }()
		if err := c.Node.Import(ctx, file); err != nil {
			return fmt.Errorf("importing %s: %w", archive, err)
		}
	}
	return nil
}
