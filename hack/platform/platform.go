// SPDX-License-Identifier: Apache-2.0

// Package platform brings Anamnesis up as a platform team would: images, the
// chart, an Instance, a question answered. `make run` does so for a person and
// the end-to-end test for itself, by the same steps on the same local cluster
// that hack/cluster provides.
//
// It holds no knowledge of Kubernetes internals, which belong to hack/cluster,
// and none of the operator's, which belong to the chart.
package platform

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Platform is a local cluster with Anamnesis on it.
type Platform struct {
	// Root is the top of the source tree.
	Root string
	// Command is the path of the command of hack/cluster; empty for the one that
	// is built below Root.
	Command string
	// State is the folder of the local cluster; empty for the default one.
	State string
	// Progress gets a line per step.
	Progress io.Writer
}

// Namespace of the operator.
const Namespace = "anamnesis-system"

// Step runs do and prints its name and how long it took.
func (p Platform) Step(name string, do func() error) error {
	start := time.Now()
	fmt.Fprintf(p.Progress, "%-48s ", name)
	if err := do(); err != nil {
		fmt.Fprintln(p.Progress, "failed")
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(p.Progress, "%6.1f s\n", time.Since(start).Seconds())
	return nil
}

// Up starts the cluster, or finds it running.
func (p Platform) Up(ctx context.Context) error {
	cmd := p.cluster(ctx, "up")
	cmd.Stdout, cmd.Stderr = p.Progress, p.Progress
	return cmd.Run()
}

// Down removes the cluster and all that is in it.
func (p Platform) Down(ctx context.Context) error {
	_, err := p.run(p.cluster(ctx, "down"))
	return err
}

// Kubectl runs kubectl against the cluster and returns what it prints.
func (p Platform) Kubectl(ctx context.Context, args ...string) (string, error) {
	return p.run(p.cluster(ctx, append([]string{"kubectl"}, args...)...))
}

// Exec runs a command inside the node's namespaces and returns what it prints.
func (p Platform) Exec(ctx context.Context, args ...string) (string, error) {
	return p.run(p.ExecCommand(ctx, args...))
}

// ExecCommand is a command, not yet started, inside the node's namespaces.
func (p Platform) ExecCommand(ctx context.Context, args ...string) *exec.Cmd {
	return p.cluster(ctx, append([]string{"exec"}, args...)...)
}

// Relay makes a Service's port reachable at a loopback address of the machine
// until the cluster goes down, and returns the address. Port 0 takes a free one.
func (p Platform) Relay(ctx context.Context, listen, namespace, service string, port int) (string, error) {
	target := fmt.Sprintf("svc/%s/%s:%d", namespace, service, port)
	address, err := p.run(p.cluster(ctx, "relay", "-background", "-listen", listen, "-to", target))
	return strings.TrimSpace(address), err
}

// RelayLog is what the relay from a loopback address says of connections that led
// nowhere. State must be set.
func (p Platform) RelayLog(address string) (string, error) {
	name := "relay-" + strings.ReplaceAll(address, ":", "-") + ".log"
	said, err := os.ReadFile(filepath.Join(p.State, "logs", name))
	return string(said), err
}

// Kubeconfig is the path of the cluster's kubeconfig.
func (p Platform) Kubeconfig(ctx context.Context) (string, error) {
	out, err := p.run(p.cluster(ctx, "env"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG="); found {
			return strings.Trim(value, `'"`), nil
		}
	}
	return "", fmt.Errorf("the cluster's environment names no KUBECONFIG")
}

func (p Platform) cluster(ctx context.Context, args ...string) *exec.Cmd {
	return p.command(ctx, cmp.Or(p.Command, filepath.Join(p.Root, "bin", "cluster")), args...)
}

func (p Platform) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = p.Root
	cmd.Env = os.Environ()
	if p.State != "" {
		cmd.Env = append(cmd.Env, "ANAMNESIS_STATE="+p.State)
	}
	return cmd
}

// run runs a command to its end and returns its output; what it printed to
// standard error explains a failure.
func (p Platform) run(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
