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
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
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
	if err := n.makeCgroups(); err != nil {
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
	return n.removeCgroups()
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
	content, err := os.ReadFile(n.State.Log(component))
	if err != nil {
		return "\t" + err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return "\t" + strings.Join(all[max(0, len(all)-lines):], "\n\t")
}

// Command is a command for Run in the present working folder, with the
// machine's environment but the node's tools and kubeconfig. It is told to end
// when the context does, and killed when this process is.
func (n Node) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := itself(ctx, append([]string{ExecCommand, name}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.Env = append(os.Environ(), environment()...)
	cmd.Dir, _ = os.Getwd()
	return cmd
}

// Exec becomes the command, looked up as the node sees it. It is bound to the
// life of the thread that Run waits on, which only a process can do for itself
// that was born into another PID namespace: syscall.SysProcAttr.Pdeathsig takes
// a parent that it cannot see for one that has died.
func Exec(name string, args ...string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("binding %s to its caller: %w", name, err)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if err := unix.Exec(found, append([]string{name}, args...), os.Environ()); err != nil {
		return fmt.Errorf("running %s: %w", found, err)
	}
	return nil
}

// bin holds a link to each of the node's tools.
const bin = place.Inside + "/bin"

// environment is what the node's processes see of the machine's environment:
// nothing but this. It has no proxy in particular.
func environment() []string {
	return []string{
		"PATH=" + bin + ":" + machine.Path,
		"HOME=" + place.Inside,
		"KUBECONFIG=" + Kubeconfig,
	}
}

// Kubeconfig is the administrator's kubeconfig for processes in the node.
const Kubeconfig = place.Inside + "/users/admin"

// itself is this program with another command line. The link leads to the
// right file even when `go run` has deleted it meanwhile.
func itself(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Args[0] = "anamnesis-cluster"
	cmd.Env = environment()
	return cmd
}
