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

// Init is the node's first process: it makes the world that the components
// live in, starts them, and ends when one of them ends, which ends everything
// in the node. It returns only with an error.
func Init(state place.State) error {
	slog.Info("making mounts and network")
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	if err := makeMounts(state); err != nil {
		return err
	}
	if err := makeNetwork(ctx); err != nil {
		return err
	}
	if err := tellMade(os.NewFile(3, "made")); err != nil {
		return err
	}
	family := newFamily(place.Inside)
	go family.reap()
	err := family.startAll(ctx, components(state.ID()))
	if err == nil {
		err = family.wait(ctx)
	}
	if failed := family.failed(); failed != "" {
		_ = os.WriteFile(place.Inside+"/failed", []byte(failed), 0o600)
	}
	return err
}

// tellMade tells Boot that the node can be entered.
func tellMade(pipe *os.File) error {
	if _, err := pipe.WriteString("made"); err != nil {
		return fmt.Errorf("telling that the node is made: %w", err)
	}
	return pipe.Close()
}

// startAll starts the components in their order, each when what it waits for
// answers.
func (f *family) startAll(ctx context.Context, components []component) error {
	for _, component := range components {
		slog.Info("starting", "component", component.name)
		if err := f.start(component); err != nil {
			return fmt.Errorf("starting %s: %w", component.name, err)
		}
		if component.ready == nil {
			continue
		}
		if err := f.waitReady(ctx, component); err != nil {
			return err
		}
	}
	slog.Info("all components are started")
	return nil
}
