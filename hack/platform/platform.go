// SPDX-License-Identifier: Apache-2.0

// Package platform deploys Anamnesis as a platform team would: it builds the images,
// installs the chart, creates an Instance and sends it a request. `make run` and the
// end-to-end tests use the same steps on the same local cluster, which hack/cluster
// provides.
//
// Kubernetes internals belong to hack/cluster, and the operator's internals to the chart.
package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Platform is a local cluster that runs Anamnesis.
type Platform struct {
	// Root is the root of the source tree.
	Root string
	// StateDir is the state directory of the local cluster. If empty, the default applies.
	StateDir string
	// Progress receives one line per step.
	Progress io.Writer
}

// Namespace is the operator's namespace.
const Namespace = "anamnesis-system"

// RunStep runs do, and prints the name and the duration of the step.
func (p Platform) RunStep(name string, do func() error) error {
	start := time.Now()
	fmt.Fprintf(p.Progress, "%-48s ", name)
	if err := do(); err != nil {
		fmt.Fprintln(p.Progress, "failed")
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(p.Progress, "%6.1f s\n", time.Since(start).Seconds())
	return nil
}

// Up starts the cluster unless it is running.
func (p Platform) Up(ctx context.Context) error {
	cmd := p.clusterCommand(ctx, "up")
	cmd.Stdout, cmd.Stderr = p.Progress, p.Progress
	return cmd.Run()
}

// Down deletes the cluster with everything in it.
func (p Platform) Down(ctx context.Context) error {
	_, err := p.output(p.clusterCommand(ctx, "down"))
	return err
}

// Kubectl runs kubectl against the cluster and returns its output.
func (p Platform) Kubectl(ctx context.Context, args ...string) (string, error) {
	return p.output(p.clusterCommand(ctx, append([]string{"kubectl"}, args...)...))
}

// Exec runs a command in the node's namespaces and returns its output.
func (p Platform) Exec(ctx context.Context, args ...string) (string, error) {
	return p.output(p.ExecCommand(ctx, args...))
}

// ExecCommand returns a command that runs in the node's namespaces when started.
func (p Platform) ExecCommand(ctx context.Context, args ...string) *exec.Cmd {
	return p.clusterCommand(ctx, append([]string{"exec"}, args...)...)
}

// Relay makes a Service's port reachable at a loopback address of the machine until
// the cluster is deleted, and returns the address. Port 0 selects a free port.
func (p Platform) Relay(ctx context.Context, listen, namespace, service string, port int) (string, error) {
	target := fmt.Sprintf("svc/%s/%s:%d", namespace, service, port)
	address, err := p.output(p.clusterCommand(ctx, "relay", "-background", "-listen", listen, "-to", target))
	return strings.TrimSpace(address), err
}

// RelayLog returns the log of the relay at a loopback address, which lists failed
// connections. StateDir must be set.
func (p Platform) RelayLog(address string) (string, error) {
	name := "relay-" + strings.ReplaceAll(address, ":", "-") + ".log"
	content, err := os.ReadFile(filepath.Join(p.StateDir, "logs", name))
	return string(content), err
}

// KubeconfigPath returns the path of the cluster's kubeconfig.
func (p Platform) KubeconfigPath(ctx context.Context) (string, error) {
	out, err := p.output(p.clusterCommand(ctx, "env"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG="); found {
			return strings.Trim(value, `'"`), nil
		}
	}
	return "", errors.New("KUBECONFIG not found in the output of `cluster env`")
}

func (p Platform) clusterCommand(ctx context.Context, args ...string) *exec.Cmd {
	return p.command(ctx, filepath.Join(p.Root, "bin", "cluster"), args...)
}

func (p Platform) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = p.Root
	cmd.Env = os.Environ()
	if p.StateDir != "" {
		cmd.Env = append(cmd.Env, "ANAMNESIS_STATE="+p.StateDir)
	}
	return cmd
}

// output runs a command and returns its output. Errors include the standard error of
// the command.
func (p Platform) output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
