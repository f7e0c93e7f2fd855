// SPDX-License-Identifier: Apache-2.0

// Package kind runs the cluster in a container engine with the kind program. The cluster
// has a unique name, so that other kind clusters are never changed. Other packages build
// Kubernetes and images.
package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/relay"
)

// engines are the container engines that kind supports.
var engines = []string{"docker", "podman", "nerdctl"}

// CheckAvailable returns an error unless kind and a container engine are in PATH.
func CheckAvailable() error {
	if _, err := exec.LookPath("kind"); err != nil {
		return errors.New("kind not found in PATH")
	}
	for _, engine := range engines {
		if _, err := exec.LookPath(engine); err == nil {
			return nil
		}
	}
	return fmt.Errorf("kind requires a container engine: none of %s found in PATH", strings.Join(engines, ", "))
}

// Cluster is the kind cluster of a state directory.
type Cluster struct {
	State place.State
	// Output receives the output of kind.
	Output io.Writer
	// Kubectl is the path of kubectl.
	Kubectl string
}

// marker is a file in the state directory of a kind cluster.
const marker = "kind"

// forwardsDir contains a file for each relay, named after its process ID.
const forwardsDir = "port-forwards"

// IsKindCluster reports whether the state directory belongs to a kind cluster.
func IsKindCluster(state place.State) bool {
	_, err := os.Stat(state.Path(marker))
	return err == nil
}

// Name returns the name of the cluster.
func (c Cluster) Name() string { return c.State.ID() }

// Up creates the cluster unless it exists.
func (c Cluster) Up(ctx context.Context) error {
	if err := c.State.Create(); err != nil {
		return err
	}
	if err := os.WriteFile(c.State.Path(marker), []byte(c.Name()+"\n"), 0o600); err != nil {
		return fmt.Errorf("marking the state directory: %w", err)
	}
	if c.CheckReady(ctx) == nil {
		return nil
	}
	return c.kind(ctx, "create", "cluster", "--kubeconfig", c.State.Kubeconfig(), "--wait", "3m")
}

// CheckReady returns an error that explains why the cluster is not ready.
func (c Cluster) CheckReady(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "kind", "get", "clusters").Output()
	if err != nil {
		return fmt.Errorf("listing the kind clusters: %w", err)
	}
	for line := range strings.Lines(string(output)) {
		if strings.TrimSpace(line) == c.Name() {
			return nil
		}
	}
	return fmt.Errorf("kind cluster %s not found", c.Name())
}

// Down deletes the cluster, its relays and its state directory.
func (c Cluster) Down(ctx context.Context) error {
	if err := errors.Join(c.stopRelays(), c.kind(ctx, "delete", "cluster", "--kubeconfig", c.State.Kubeconfig())); err != nil {
		return err
	}
	return c.State.Remove()
}

// Load loads an image archive into the nodes.
func (c Cluster) Load(ctx context.Context, archive string) error {
	return c.kind(ctx, "load", "image-archive", archive)
}

// kind runs kind for this cluster. Its output is shown, because creating a cluster takes
// minutes.
func (c Cluster) kind(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "kind", append(args, "--name", c.Name())...)
	var output bytes.Buffer
	both := io.MultiWriter(c.Output, &output)
	cmd.Stdout, cmd.Stderr = both, both // one writer, which os/exec does not call concurrently
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kind %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}

// relayTimeout is how long a relay may take to listen.
const relayTimeout = 30 * time.Second

// StartRelay forwards a local port to a Service or Pod until the cluster is deleted, and
// returns the address that it listens on. Port 0 selects a free port.
func (c Cluster) StartRelay(ctx context.Context, listen string, target relay.Target) (string, error) {
	args, err := c.forwardArgs(listen, target)
	if err != nil {
		return "", err
	}
	for _, dir := range []string{"logs", forwardsDir} {
		if err := os.MkdirAll(c.State.Path(dir), 0o700); err != nil {
			return "", fmt.Errorf("preparing a relay: %w", err)
		}
	}
	log, err := os.CreateTemp(c.State.Path("logs"), "relay-"+strings.ReplaceAll(listen, ":", "-")+"-*.log")
	if err != nil {
		return "", fmt.Errorf("creating a relay log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.Kubectl, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // outlives this process
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("starting a relay: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if err := os.WriteFile(c.State.Path(forwardsDir, strconv.Itoa(cmd.Process.Pid)), nil, 0o600); err != nil {
		return "", fmt.Errorf("recording a relay: %w", err)
	}
	return waitUntilForwarding(ctx, log.Name(), exited)
}

// forwardArgs returns the arguments of kubectl for a relay.
func (c Cluster) forwardArgs(listen string, target relay.Target) ([]string, error) {
	if target.Kind == "" {
		return nil, errors.New("relays in a kind cluster support only Services and Pods")
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("invalid relay address: %w", err)
	}
	if port == "0" {
		port = ""
	}
	return []string{
		"--kubeconfig", c.State.Kubeconfig(), "port-forward", "--address", host, "--namespace", target.Namespace,
		target.Kind + "/" + target.Name, port + ":" + target.Port,
	}, nil
}

// waitUntilForwarding returns the address that kubectl reports in its log.
func waitUntilForwarding(ctx context.Context, log string, exited <-chan error) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	for {
		content, err := os.ReadFile(log)
		if err != nil {
			return "", fmt.Errorf("reading a relay log: %w", err)
		}
		if _, rest, ok := strings.Cut(string(content), "Forwarding from "); ok {
			if address, _, ok := strings.Cut(rest, " "); ok {
				return address, nil
			}
		}
		select {
		case err := <-exited:
			content, _ = os.ReadFile(log) // include the last output
			return "", fmt.Errorf("kubectl port-forward exited: %w\n%s", err, content)
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for kubectl port-forward to listen: %w\n%s", ctx.Err(), content)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stopRelays stops the relays of this cluster. It ignores process IDs that have
// been reused by other programs.
func (c Cluster) stopRelays() error {
	entries, err := os.ReadDir(c.State.Path(forwardsDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		pid, parseErr := strconv.Atoi(entry.Name())
		if parseErr == nil && c.isRelay(pid) {
			err = errors.Join(err, unix.Kill(pid, unix.SIGTERM))
		}
	}
	return err
}

// isRelay reports whether a process is a relay of this cluster.
func (c Cluster) isRelay(pid int) bool {
	arguments, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && bytes.Contains(arguments, []byte("port-forward")) && bytes.Contains(arguments, []byte(c.State.Kubeconfig()))
}
