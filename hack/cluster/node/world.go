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

// makeMounts makes the node's own view of the file system. It is the machine's
// with these differences: /proc shows the node's processes, /run is empty but
// for the state folder, and what is written below the folders of private stays
// in memory. All of it is gone with the last process.
func makeMounts(state place.State) error {
	// The state is opened by its own path first, as that may lie below /run.
	folder, err := os.Open(string(state))
	if err != nil {
		return fmt.Errorf("opening the state folder: %w", err)
	}
	defer func() { _ = folder.Close() }()
	stateByFile := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	steps := []mount{
		{target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{source: "proc", target: "/proc", kind: "proc", flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{source: "tmpfs", target: "/run", kind: "tmpfs", options: "mode=755"},
		{source: stateByFile, target: place.Inside, flags: unix.MS_BIND | unix.MS_REC},
	}
	for _, folder := range private {
		steps = append(steps, overlay(folder))
	}
	// Mounts that a pod shares with the node must reach it.
	steps = append(steps, mount{target: "/", flags: unix.MS_REC | unix.MS_SHARED})
	for _, step := range steps {
		if err := step.make(); err != nil {
			return err
		}
	}
	return nil
}

// private are folders in which components write by paths that cannot be set:
// the network plugins' results and the kubelet's links to container logs.
var private = []string{"/var/lib", "/var/log"}

type mount struct {
	source, target, kind, options string
	flags                         uintptr
	// folders are made first.
	folders []string
}

func overlay(folder string) mount {
	upper := "/run/private" + folder + "/upper"
	work := "/run/private" + folder + "/work"
	return mount{
		source: "overlay", target: folder, kind: "overlay",
		options: "lowerdir=" + folder + ",upperdir=" + upper + ",workdir=" + work,
		folders: []string{upper, work},
	}
}

func (m mount) make() error {
	for _, folder := range append(m.folders, m.target) {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // they take the place of folders that everybody may read
			return fmt.Errorf("making a folder to mount: %w", err)
		}
	}
	if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.options); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", m.source, m.target, err)
	}
	return nil
}

// links makes the node's network: the loopback device and a bridge that
// carries the node's address. Addresses of Services have a route, since the
// kernel looks for one before kube-proxy's rules lead elsewhere; to the world
// there is none, so that who asks for it is told so at once.
const links = `link set lo up
link add node0 type bridge
address add ` + Address + `/24 dev node0
link set node0 up
route add 10.96.0.0/16 dev node0
`

// switches are kernel settings of the node's network namespace. The second
// makes packets between pods of one bridge pass the rules of Services and
// policies.
var switches = []string{
	"/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/net/bridge/bridge-nf-call-iptables",
}

func makeNetwork(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(links)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making the node's network: %w: %s", err, output)
	}
	if !machine.Exists("/proc/sys/net/bridge") {
		// Built into some kernels, a module of others.
		if output, err := exec.CommandContext(ctx, "modprobe", "br_netfilter").CombinedOutput(); err != nil {
			return fmt.Errorf("the kernel does not filter bridged packets: modprobe br_netfilter: %w: %s", err, output)
		}
	}
	for _, path := range switches {
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			return fmt.Errorf("switching on %s: %w", path, err)
		}
	}
	return nil
}
