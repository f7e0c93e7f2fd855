// SPDX-License-Identifier: Apache-2.0

//go:build proof

package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// cluster is the program under test with its own state directory.
type cluster struct {
	dir, program, server string
}

func buildCluster(t *testing.T) *cluster {
	t.Helper()
	folder := t.TempDir()
	c := &cluster{dir: folder, program: filepath.Join(folder, "cluster"), server: filepath.Join(folder, "server")}
	for _, target := range []struct{ output, source string }{{c.program, ".."}, {c.server, "./server"}} {
		cmd := exec.Command("go", "build", "-o", target.output, target.source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", target.source, err, output)
		}
	}
	return c
}

func (c *cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

func (c *cluster) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(c.program, arguments...)
	cmd.Env = append(os.Environ(), "ANAMNESIS_STATE="+c.path("state with space"))
	return cmd
}

func (c *cluster) mustRun(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := c.command(arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("cluster %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	if arguments[0] == "up" {
		t.Logf("cluster up\n%s", output)
	}
	return string(output)
}

func (c *cluster) mustFail(t *testing.T, words string, arguments ...string) {
	t.Helper()
	output, err := c.command(arguments...).CombinedOutput()
	if err == nil || !strings.Contains(string(output), words) {
		t.Errorf("cluster %s: got error %v, want %q\n%s", strings.Join(arguments, " "), err, words, output)
	}
}

func (c *cluster) execInNode(arguments ...string) (string, error) {
	output, err := c.command(append([]string{"exec"}, arguments...)...).CombinedOutput()
	return string(output), err
}

// startInNode runs a program in the node until end is called.
func (c *cluster) startInNode(t *testing.T, arguments ...string) (end func()) {
	t.Helper()
	cmd := c.command(append([]string{"exec"}, arguments...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
}

func (c *cluster) podAddress(t *testing.T, app string) string {
	t.Helper()
	return c.mustRun(t, "kubectl", "-n", "proof", "get", "pods", "-l", "app="+app, "-o", "jsonpath={.items[0].status.podIP}")
}

// nodePID returns the host PID of the node's init process. The process is not a child of
// the test, so nodePID finds it by its command line.
func (c *cluster) nodePID(t *testing.T) int {
	t.Helper()
	for pid := range processes(t) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), "node-init\x00"+c.path("state with space")) {
			return pid
		}
	}
	t.Fatal("node's first process not found")
	return 0
}

func (c *cluster) killNode(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(c.nodePID(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// namespaces returns the identifiers of the node's namespaces. It keeps them open until
// the test ends so that the kernel does not reuse the identifiers.
func (c *cluster) namespaces(t *testing.T) []string {
	t.Helper()
	pid := c.nodePID(t)
	for _, kind := range namespaceKinds {
		held, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = held.Close() })
	}
	return processNamespaces(pid)
}

var namespaceKinds = []string{"net", "pid", "mnt"}

func processNamespaces(pid int) []string {
	var found []string
	for _, kind := range namespaceKinds {
		name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
		found = append(found, name)
	}
	return found
}

func processes(t *testing.T) map[int]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			found[pid] = true
		}
	}
	return found
}

// hostSnapshot describes the state of the host: devices, addresses, routes, packet
// filter rules, mounts, and the directories that Kubernetes may leave behind.
func hostSnapshot(t *testing.T, c *cluster) string {
	t.Helper()
	var seen strings.Builder
	for _, line := range []string{
		"ip -oneline link | grep --invert-match --extended-regexp ': (veth|tap)'",
		"ip -oneline address",
		"ip route",
		"nft list ruleset",
		"cat /proc/self/mounts",
		"cat /proc/sys/net/ipv4/ip_forward",
		"ls -d /var/lib/cni /var/lib/kubelet /var/lib/containerd /run/containerd /etc/cni /opt/cni /opt/containerd /var/log/pods /var/log/containers /run/netns /usr/libexec/kubernetes 2>/dev/null || true",
	} {
		output, err := exec.Command("sh", "-c", line).CombinedOutput()
		if err != nil && !strings.Contains(line, "nft") {
			t.Fatalf("%s: %v\n%s", line, err, output)
		}
		fmt.Fprintf(&seen, "%s\n%s\n", line, output)
	}
	return seen.String()
}

// mustLeaveNothing compares the host to an earlier snapshot, and looks for processes
// that still run in the node's namespaces or refer to its state directory.
func (c *cluster) mustLeaveNothing(t *testing.T, before string, inhabited []string) {
	t.Helper()
	if after := hostSnapshot(t, c); after != before {
		t.Errorf("host state changed; before:\n%s\nafter:\n%s", before, after)
	}
	for pid := range processes(t) {
		for _, namespace := range processNamespaces(pid) {
			if namespace != "" && slices.Contains(inhabited, namespace) {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Errorf("process %d (%q) still runs in the node's namespace %s", pid, line, namespace)
			}
		}
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), c.path("state with space")) {
			t.Errorf("process %d still runs: %q", pid, line)
		}
	}
	if _, err := os.Stat(c.path("state with space")); !os.IsNotExist(err) {
		t.Errorf("state directory still exists: %v", err)
	}
	groups, err := filepath.Glob("/sys/fs/cgroup/*/" + place.State(c.path("state with space")).ID())
	if err != nil || len(groups) > 0 {
		t.Errorf("control groups still exist: error %v, %v", err, groups)
	}
}
