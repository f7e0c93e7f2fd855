// SPDX-License-Identifier: Apache-2.0

// Package node runs a single-node Kubernetes cluster in separate network, mount and
// PID namespaces. It contains both the code that runs on the machine (starting,
// entering and stopping the node) and the code that runs inside as the first process
// of the PID namespace (mounts, network, components). What is installed into the
// running cluster belongs to package lifecycle.
package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// The subcommands with which the program calls itself in the node.
const (
	// InitCommand is the first process of the node. Its argument is the state directory.
	InitCommand = "node-init"
	// AgentCommand enforces policies and provisions volumes.
	AgentCommand = "node-agent"
	// ExecCommand replaces itself with the command in its arguments.
	ExecCommand = "node-exec"
	// RelayCommand relays its listener to the target in its argument.
	RelayCommand = "node-relay"
)

// Addresses in the node's network.
const (
	// Name is the node's name, also in the API.
	Name = "anamnesis"
	// Address is the node's own address. Every pod can reach a server that listens on it
	// or on all addresses.
	Address = "10.89.0.1"
	// ClusterDNS is the address of the CoreDNS Service.
	ClusterDNS = "10.96.0.10"
	// APIServer is the address of the API server for processes in the node.
	APIServer = "127.0.0.1:6443"
	// PauseImage is the image of every pod's sandbox container.
	PauseImage = "anamnesis.dev/pause:1"
)

// Node is the node with its files in State.
type Node struct {
	State place.State
}

// IsRunning reports whether the node's first process is running.
func (n Node) IsRunning() bool {
	_, err := n.readProcess()
	return err == nil
}

func (n Node) readProcess() (Process, error) {
	var process Process
	err := readJSON(n.State.Path("node.json"), &process)
	if err != nil || !process.IsAlive() {
		return Process{}, errors.New("the cluster is not running: start it with `up`")
	}
	return process, nil
}

// Boot starts the node's first process. The state directory must contain the files
// that Prepare writes. Boot returns once the node has its mounts and its network and
// can be entered; it does not wait for any component.
func (n Node) Boot() error {
	if err := createCgroups(cgroupRoot, n.State.ID()); err != nil {
		return err
	}
	log, err := os.Create(n.State.LogFile("node"))
	if err != nil {
		return fmt.Errorf("opening the node's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	made, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("creating a pipe to the node: %w", err)
	}
	defer func() { _ = made.Close() }()
	cmd := selfCommand(context.Background(), InitCommand, string(n.State))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{tell}
	cmd.SysProcAttr = &unix.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
	}
	err = cmd.Start()
	_ = tell.Close()
	if err != nil {
		return fmt.Errorf("starting the node in its own namespaces: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	process, err := findProcess(cmd.Process.Pid)
	if err != nil {
		return n.withLogTails(fmt.Errorf("node exited immediately: %w", err))
	}
	if err := writeJSON(n.State.Path("node.json"), process); err != nil {
		return fmt.Errorf("recording the node's process: %w", err)
	}
	if report, err := io.ReadAll(made); err != nil || len(report) == 0 {
		return n.withLogTails(errors.Join(errors.New("setting up the node failed"), err))
	}
	return nil
}

// Halt kills every process of the node and removes its cgroups. It keeps the state
// directory. Halting a node that is not running is a no-op.
func (n Node) Halt() error {
	if process, err := n.readProcess(); err == nil {
		if err := process.Kill(); err != nil {
			return fmt.Errorf("stopping the node: %w", err)
		}
	}
	return removeCgroups(cgroupRoot, n.State.ID())
}

// CheckRunning returns an error that explains why the node is not running.
func (n Node) CheckRunning() error {
	if n.IsRunning() {
		return nil
	}
	return n.withLogTails(errors.New("node exited"))
}

// withLogTails adds the last lines of the node's log and of the log of the component
// that failed.
func (n Node) withLogTails(err error) error {
	logs := []string{"node"}
	if component, readErr := os.ReadFile(n.State.Path("failed")); readErr == nil {
		logs = append(logs, string(component))
	}
	for _, name := range logs {
		err = fmt.Errorf("%w\nlast lines of %s:\n%s", err, n.State.LogFile(name), n.LogTail(name))
	}
	return err
}

// LogTail returns the last lines of a component's log.
func (n Node) LogTail(component string) string {
	const lines = 12
	content, err := os.ReadFile(n.State.LogFile(component)) //nolint:gosec // the state folder is the caller's own
	if err != nil {
		return "\t" + err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return "\t" + strings.Join(all[max(0, len(all)-lines):], "\n\t")
}
