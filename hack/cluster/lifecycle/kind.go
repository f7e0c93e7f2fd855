// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/kind"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/relay"
)

// IsKind reports whether the cluster was created as a kind cluster.
func (c Cluster) IsKind() bool { return kind.IsKindCluster(c.Node.State) }

// chooseKind reports whether to use kind: if the environment selects it, if the cluster
// was created as one, or if this machine cannot run the node and has kind.
func (c Cluster) chooseKind() (bool, error) {
	value := os.Getenv(OriginEnv)
	if _, err := ParseOrigin(value); err != nil {
		return false, err
	}
	return chooseKind(value, c.IsKind(), c.Node.State.Exists(), machine.CheckSupported(), kind.CheckAvailable())
}

// chooseKind decides by the value of OriginEnv, whether a kind cluster or any cluster
// exists, and what prevents this machine from running the node or kind.
func chooseKind(value string, isKind, exists bool, unsupported, unavailable error) (bool, error) {
	const stop = "remove it first with `make stop`"
	switch value {
	case "kind":
		if exists && !isKind {
			return false, fmt.Errorf("a cluster without kind is already running: %s", stop)
		}
		return true, unavailable
	case string(Downloaded), string(Built):
		if isKind {
			return false, fmt.Errorf("a kind cluster is already running: %s", stop)
		}
		return false, nil
	}
	return isKind || unsupported != nil && unavailable == nil, nil
}

func (c Cluster) kindCluster(kubectl string) kind.Cluster {
	return kind.Cluster{State: c.Node.State, Output: c.Output, Kubectl: kubectl}
}

// upKind starts a kind cluster. The only tool that it needs is kubectl.
func (c Cluster) upKind(ctx context.Context) error {
	if _, err := c.Build(ctx, "kubectl"); err != nil {
		return err
	}
	fmt.Fprintf(c.Output, "using kind, with a cluster named %s\n", c.kindCluster("").Name())
	return c.kindCluster("").Up(ctx)
}

// StartRelay forwards a local port into the cluster until it is down, and returns the
// address that it listens on.
func (c Cluster) StartRelay(ctx context.Context, listen, to string) (string, error) {
	if !c.IsKind() {
		relay, err := c.Node.StartRelay(ctx, listen, to)
		return relay.ListenAddress, err
	}
	target, err := relay.ParseTarget(to)
	if err != nil {
		return "", err
	}
	assets, err := c.AssetsDir()
	if err != nil {
		return "", err
	}
	return c.kindCluster(filepath.Join(assets, "kubectl")).StartRelay(ctx, listen, target)
}

// CheckHasNode returns an error if the cluster is a kind cluster, which has no node on
// this machine.
func (c Cluster) CheckHasNode() error {
	if c.IsKind() {
		return errors.New("not available in a kind cluster")
	}
	return nil
}
