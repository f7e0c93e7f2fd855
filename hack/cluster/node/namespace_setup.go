// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// setUpMounts creates the node's view of the file system. It differs from the
// machine's as follows: /proc shows the node's processes, /run contains only the state
// directory, and writes below overlayDirs stay in memory. All of it disappears with
// the last process.
func setUpMounts(state place.State) error {
	// Open the state directory first, because its path may be below /run.
	folder, err := os.Open(string(state))
	if err != nil {
		return fmt.Errorf("opening the state directory: %w", err)
	}
	defer func() { _ = folder.Close() }()
	stateByFile := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	steps := []mount{
		{target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{source: "proc", target: "/proc", fsType: "proc", flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{source: "tmpfs", target: "/run", fsType: "tmpfs", options: "mode=755"},
		{source: stateByFile, target: place.NodeStateDir, flags: unix.MS_BIND | unix.MS_REC},
	}
	for _, folder := range overlayDirs {
		steps = append(steps, newOverlayMount(folder))
	}
	// Mounts that a pod shares with the node must propagate to it.
	steps = append(steps, mount{target: "/", flags: unix.MS_REC | unix.MS_SHARED})
	for _, step := range steps {
		if err := step.apply(); err != nil {
			return err
		}
	}
	return nil
}

// overlayDirs are directories in which components write to fixed paths: the network
// plugins' results and the kubelet's links to container logs.
var overlayDirs = []string{"/var/lib", "/var/log"}

type mount struct {
	source, target, fsType, options string
	flags                           uintptr
	// dirs are created first.
	dirs []string
}

func newOverlayMount(folder string) mount {
	upper := "/run/private" + folder + "/upper"
	work := "/run/private" + folder + "/work"
	return mount{
		source: "overlay", target: folder, fsType: "overlay",
		options: "lowerdir=" + folder + ",upperdir=" + upper + ",workdir=" + work,
		dirs:    []string{upper, work},
	}
}

func (m mount) apply() error {
	for _, folder := range append(m.dirs, m.target) {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // mount points are world-readable
			return fmt.Errorf("creating a mount point: %w", err)
		}
	}
	if err := unix.Mount(m.source, m.target, m.fsType, m.flags, m.options); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", m.source, m.target, err)
	}
	return nil
}

// ipBatch configures the node's network: the loopback device and a bridge with the
// node's address. The Service CIDR has a route, because the kernel needs one before
// kube-proxy's rules redirect the packets. There is no default route, so that
// connections to the outside fail immediately.
const ipBatch = `link set lo up
link add node0 type bridge
address add ` + Address + `/24 dev node0
link set node0 up
route add 10.96.0.0/16 dev node0
`

// sysctls are kernel settings of the node's network namespace. The second applies the
// rules of Services and policies to packets between pods on the same bridge.
var sysctls = []string{
	"/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/net/bridge/bridge-nf-call-iptables",
}

func setUpNetwork(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(ipBatch)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("creating the node's network: %w: %s", err, output)
	}
	if !machine.Exists("/proc/sys/net/bridge") {
		// Built into some kernels, a module in others.
		if output, err := exec.CommandContext(ctx, "modprobe", "br_netfilter").CombinedOutput(); err != nil {
			return fmt.Errorf("enabling the filtering of bridged packets: modprobe br_netfilter: %w: %s", err, output)
		}
	}
	for _, path := range sysctls {
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			return fmt.Errorf("enabling %s: %w", path, err)
		}
	}
	return nil
}
