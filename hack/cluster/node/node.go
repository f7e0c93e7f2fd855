// SPDX-License-Identifier: Apache-2.0

// Package node runs a single-node Kubernetes in network, mount and PID
// namespaces of its own. What runs on the machine (starting, entering, ending)
// and what runs inside as the first process of the PID namespace (mounts,
// network, components) are both here, as they are two ends of one thing. What
// is installed into the cluster once it runs is the business of package
// lifecycle.
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

// The subcommands of the program that are called by itself within the node.
const (
	// InitCommand is the first process of the node; its argument is the state.
	InitCommand = "node-init"
	// AgentCommand enforces policies and provisions volumes.
	AgentCommand = "node-agent"
	// ExecCommand becomes the command that is its arguments.
	ExecCommand = "node-exec"
	// RelayCommand relays its listener to the target that is its argument.
	RelayCommand = "node-relay"
)

// Addresses within the node's network.
const (
	// Name is the node's name, in the API too.
	Name = "anamnesis"
	// Address is the node's own address: a server that listens there, or on all
	// addresses, is reached by every pod.
	Address = "10.89.0.1"
	// ClusterDNS is the address of the Service of CoreDNS.
	ClusterDNS = "10.96.0.10"
	// APIServer is where the API server listens, for processes in the node.
	APIServer = "127.0.0.1:6443"
	// PauseImage is the image that every pod's first container is made of.
	PauseImage = "anamnesis.dev/pause:1"
)

// Node is the node whose files are in State.
type Node struct {
	State place.State
}

// Running says whether the node's first process runs.
func (n Node) Running() bool {
	_, err := n.process()
	return err == nil
}

func (n Node) process() (Process, error) {
	var process Process
	err := readRecord(n.State.Path("node.json"), &process)
	if err != nil || !process.Alive() {
		return Process{}, errors.New("the cluster is not up: start it with `up`")
	}
	return process, nil
}

// Boot starts the node's first process. The state folder must hold what
// Prepare writes. It returns when the node has its mounts and its network, so
// that it can be entered, and does not wait for any component.
func (n Node) Boot() error {
	if err := makeCgroups(cgroupRoot, n.State.ID()); err != nil {
		return err
	}
	log, err := os.Create(n.State.Log("node"))
	if err != nil {
		return fmt.Errorf("opening the node's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	made, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe to the node: %w", err)
	}
	defer func() { _ = made.Close() }()
	cmd := itself(context.Background(), InitCommand, string(n.State))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{tell}
	cmd.SysProcAttr = &unix.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
	}
	err = cmd.Start()
	_ = tell.Close()
	if err != nil {
		return fmt.Errorf("starting the node in namespaces of its own: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	process, err := identify(cmd.Process.Pid)
	if err != nil {
		return n.explain(fmt.Errorf("the node ended at once: %w", err))
	}
	if err := writeRecord(n.State.Path("node.json"), process); err != nil {
		return fmt.Errorf("writing down the node's process: %w", err)
	}
	if told, err := io.ReadAll(made); err != nil || len(told) == 0 {
		return n.explain(errors.Join(errors.New("the node could not be made"), err))
	}
	return nil
}

// Halt ends every process of the node and removes its control groups. The
// state folder stays. A node that does not run is halted already.
func (n Node) Halt() error {
	if process, err := n.process(); err == nil {
		if err := process.Kill(); err != nil {
			return fmt.Errorf("ending the node: %w", err)
		}
	}
	return removeCgroups(cgroupRoot, n.State.ID())
}

// Check returns an error that says why the node does not run.
func (n Node) Check() error {
	if n.Running() {
		return nil
	}
	return n.explain(errors.New("the node ended"))
}

// explain adds what the logs say last: the node's own, and that of the
// component by which it ended.
func (n Node) explain(err error) error {
	logs := []string{"node"}
	if component, readErr := os.ReadFile(n.State.Path("failed")); readErr == nil {
		logs = append(logs, string(component))
	}
	for _, name := range logs {
		err = fmt.Errorf("%w\n%s ends with:\n%s", err, n.State.Log(name), n.LogTail(name))
	}
	return err
}

// LogTail returns the last lines of a component's log.
func (n Node) LogTail(component string) string {
	const lines = 12
	content, err := os.ReadFile(n.State.Log(component)) //nolint:gosec // the state folder is the caller's own
	if err != nil {
		return "\t" + err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return "\t" + strings.Join(all[max(0, len(all)-lines):], "\n\t")
}
