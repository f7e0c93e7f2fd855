// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Relay is a relay that runs beside whoever started it.
type Relay struct {
	// Listen is the address on the machine, To the target in the node.
	Listen  string  `json:"listen"`
	To      string  `json:"to"`
	Process Process `json:"process"`
}

// Relays lists the relays that run.
func (n Node) Relays() ([]Relay, error) {
	paths, err := filepath.Glob(n.State.Path("relays", "*.json"))
	if err != nil {
		return nil, err
	}
	var relays []Relay
	for _, path := range paths {
		var relay Relay
		if err := readRecord(path, &relay); err != nil {
			return nil, fmt.Errorf("reading the record of a relay: %w", err)
		}
		if relay.Process.Alive() {
			relays = append(relays, relay)
		}
	}
	return relays, nil
}

// Relay runs a relay until it or this process ends. It tells ready the address
// on which it listens, which matters when listen asks for port 0.
func (n Node) Relay(ctx context.Context, listen, to string, ready func(address string)) error {
	end, err := openEnd(ctx, listen)
	if err != nil {
		return err
	}
	defer end.close()
	cmd := end.command(ctx, to)
	cmd.Stderr = os.Stderr
	ready(end.address)
	return n.Run(cmd)
}

// RelayInBackground starts a relay that lives until the node ends, and returns
// it. A relay that is already there for the same address is taken over when it
// leads to the same target, and replaced when it does not.
func (n Node) RelayInBackground(ctx context.Context, listen, to string) (Relay, error) {
	relays, err := n.Relays()
	if err != nil {
		return Relay{}, err
	}
	for _, relay := range relays {
		if relay.Listen != listen {
			continue
		}
		if relay.To == to {
			return relay, nil
		}
		if err := relay.Process.Kill(); err != nil {
			return Relay{}, fmt.Errorf("ending the relay from %s to %s: %w", relay.Listen, relay.To, err)
		}
	}
	return n.startRelay(ctx, listen, to)
}

func (n Node) startRelay(ctx context.Context, listen, to string) (Relay, error) {
	end, err := openEnd(ctx, listen)
	if err != nil {
		return Relay{}, err
	}
	defer end.close()
	relay := Relay{Listen: end.address, To: to}
	name := "relay-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(relay.Listen)
	log, err := os.Create(n.State.Log(name))
	if err != nil {
		return Relay{}, fmt.Errorf("opening the log of a relay: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := end.command(context.Background(), to)
	cmd.Stdout, cmd.Stderr = log, log
	if err := n.Start(cmd); err != nil {
		return Relay{}, fmt.Errorf("starting a relay from %s to %s: %w", relay.Listen, to, err)
	}
	go func() { _ = cmd.Wait() }()
	if relay.Process, err = identify(cmd.Process.Pid); err != nil {
		return Relay{}, fmt.Errorf("finding the relay from %s to %s: %w", relay.Listen, to, err)
	}
	return relay, writeRecord(n.State.Path("relays", name+".json"), relay)
}

// end is the machine's end of a relay: a listener that another process takes.
type end struct {
	address string
	file    *os.File
}

func openEnd(ctx context.Context, listen string) (end, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, unix.EADDRINUSE) {
		return end{}, fmt.Errorf("%s is taken by another program: name another address with -listen: %w", listen, err)
	}
	if err != nil {
		return end{}, fmt.Errorf("opening the machine's end of a relay: %w", err)
	}
	defer func() { _ = listener.Close() }()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return end{}, fmt.Errorf("opening the machine's end of a relay: %w", err)
	}
	return end{address: listener.Addr().String(), file: file}, nil
}

func (e end) close() { _ = e.file.Close() }

// command is the relay's process, which finds its listener as file 3.
func (e end) command(ctx context.Context, to string) *exec.Cmd {
	cmd := itself(ctx, RelayCommand, to)
	cmd.ExtraFiles = []*os.File{e.file}
	return cmd
}

// Listener takes over the listener in the process that command started.
func Listener() (net.Listener, error) {
	file := os.NewFile(3, "listener")
	defer func() { _ = file.Close() }()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("taking over the listener of a relay: %w", err)
	}
	return listener, nil
}
