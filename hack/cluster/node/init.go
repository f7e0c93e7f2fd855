// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// Init is the node's first process. It sets up mounts and network, starts the
// components, and exits when one of them exits, which ends everything in the node. It
// returns only with an error.
func Init(state place.State) error {
	slog.Info("setting up mounts and network")
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	if err := setUpMounts(state); err != nil {
		return err
	}
	if err := setUpNetwork(ctx); err != nil {
		return err
	}
	if err := signalCreated(os.NewFile(3, "made")); err != nil {
		return err
	}
	family := newSupervisor(place.NodeStateDir)
	go family.reap()
	err := family.startAll(ctx, components(state.ID()))
	if err == nil {
		err = family.wait(ctx)
	}
	if failed := family.failedComponentName(); failed != "" {
		_ = os.WriteFile(place.NodeStateDir+"/failed", []byte(failed), 0o600)
	}
	return err
}

// signalCreated notifies Boot that the node can be entered.
func signalCreated(pipe *os.File) error {
	if _, err := pipe.WriteString("made"); err != nil {
		return fmt.Errorf("reporting that the node is set up: %w", err)
	}
	return pipe.Close()
}

// startAll starts the components in order, waiting for the readiness check of each
// before starting the next.
func (s *supervisor) startAll(ctx context.Context, components []component) error {
	for _, component := range components {
		slog.Info("starting component", "component", component.name)
		if err := s.start(component); err != nil {
			return fmt.Errorf("starting %s: %w", component.name, err)
		}
		if component.readinessCheck == nil {
			continue
		}
		if err := s.waitReady(ctx, component); err != nil {
			return err
		}
	}
	slog.Info("started all components")
	return nil
}
