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

// Relay describes a background relay.
type Relay struct {
	// ListenAddress is the address on the machine, Target the target in the node.
	ListenAddress string  `json:"listen"`
	Target        string  `json:"to"`
	Process       Process `json:"process"`
}

// Relays lists the running relays.
func (n Node) Relays() ([]Relay, error) {
	paths, err := filepath.Glob(n.State.Path("relays", "*.json"))
	if err != nil {
		return nil, err
	}
	var relays []Relay
	for _, path := range paths {
		var relay Relay
		if err := readJSON(path, &relay); err != nil {
			return nil, fmt.Errorf("reading a relay record: %w", err)
		}
		if relay.Process.IsAlive() {
			relays = append(relays, relay)
		}
	}
	return relays, nil
}

// Relay runs a relay until the relay or this process ends. It passes its listen
// address to ready, which matters if listen requests port 0.
func (n Node) Relay(ctx context.Context, listen, to string, ready func(address string)) error {
	end, err := openRelayListener(ctx, listen)
	if err != nil {
		return err
	}
	defer end.close()
	cmd := end.command(ctx, to)
	cmd.Stderr = os.Stderr
	ready(end.address)
	return n.Run(cmd)
}

// StartRelay starts a relay that runs until the node ends, and returns it. An existing
// relay at the same address is reused if it has the same target, and replaced
// otherwise.
func (n Node) StartRelay(ctx context.Context, listen, to string) (Relay, error) {
	relays, err := n.Relays()
	if err != nil {
		return Relay{}, err
	}
	for _, relay := range relays {
		if relay.ListenAddress != listen {
			continue
		}
		if relay.Target == to {
			return relay, nil
		}
		if err := relay.Process.Kill(); err != nil {
			return Relay{}, fmt.Errorf("stopping the relay from %s to %s: %w", relay.ListenAddress, relay.Target, err)
		}
	}
	return n.startRelayProcess(ctx, listen, to)
}

func (n Node) startRelayProcess(ctx context.Context, listen, to string) (Relay, error) {
	end, err := openRelayListener(ctx, listen)
	if err != nil {
		return Relay{}, err
	}
	defer end.close()
	relay := Relay{ListenAddress: end.address, Target: to}
	name := "relay-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(relay.ListenAddress)
	log, err := os.Create(n.State.LogFile(name))
	if err != nil {
		return Relay{}, fmt.Errorf("opening a relay log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := end.command(context.Background(), to)
	cmd.Stdout, cmd.Stderr = log, log
	if err := n.Start(cmd); err != nil {
		return Relay{}, fmt.Errorf("starting a relay from %s to %s: %w", relay.ListenAddress, to, err)
	}
	go func() { _ = cmd.Wait() }()
	if relay.Process, err = findProcess(cmd.Process.Pid); err != nil {
		return Relay{}, fmt.Errorf("finding the relay from %s to %s: %w", relay.ListenAddress, to, err)
	}
	return relay, writeJSON(n.State.Path("relays", name+".json"), relay)
}

// relayListener is the machine's end of a relay: a listener to be passed to another
// process.
type relayListener struct {
	address string
	file    *os.File
}

func openRelayListener(ctx context.Context, listen string) (relayListener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, unix.EADDRINUSE) {
		return relayListener{}, fmt.Errorf("%s is already in use: set another address with -listen: %w", listen, err)
	}
	if err != nil {
		return relayListener{}, fmt.Errorf("opening a relay listener: %w", err)
	}
	defer func() { _ = listener.Close() }()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return relayListener{}, fmt.Errorf("opening a relay listener: %w", err)
	}
	return relayListener{address: listener.Addr().String(), file: file}, nil
}

func (l relayListener) close() { _ = l.file.Close() }

// command returns the relay process, which inherits the listener as file descriptor 3.
func (l relayListener) command(ctx context.Context, to string) *exec.Cmd {
	cmd := selfCommand(ctx, RelayCommand, to)
	cmd.ExtraFiles = []*os.File{l.file}
	return cmd
}

// InheritedListener returns the listener in the process started by command.
func InheritedListener() (net.Listener, error) {
	file := os.NewFile(3, "listener")
	defer func() { _ = file.Close() }()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("inheriting a relay listener: %w", err)
	}
	return listener, nil
}
