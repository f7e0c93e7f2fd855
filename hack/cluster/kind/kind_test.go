// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/relay"
)

// fakeKind records its arguments and keeps the names of clusters in a file. It fails to
// load an archive that does not exist.
const fakeKind = `#!/bin/sh
echo "$*" >> "$FAKE/calls"
case "$1 $2" in
"get clusters") cat "$FAKE/clusters" 2>/dev/null; exit 0 ;;
"create cluster") while [ "$1" != --name ]; do shift; done; echo other >> "$FAKE/clusters"; echo "$2" >> "$FAKE/clusters" ;;
"load image-archive") [ -f "$3" ] || { echo "no archive $3" >&2; exit 1; } ;;
esac
`

// fakeKubectl forwards like kubectl port-forward, or ends at once for a Service that is
// named missing.
const fakeKubectl = `#!/bin/sh
case "$*" in
*svc/missing*) echo "services missing not found" >&2; exit 1 ;;
*" :443") echo "Forwarding from 127.0.0.1:39999 -> 443" ;;
*) echo "Forwarding from 127.0.0.1:8443 -> 443" ;;
esac
while :; do sleep 0.1; done
`

// setUp puts fake programs in PATH, and returns a cluster and the directory of what they
// record.
func setUp(t *testing.T) (Cluster, string) {
	t.Helper()
	fake := t.TempDir()
	for name, content := range map[string]string{"kind": fakeKind, "docker": "#!/bin/sh\n", "kubectl": fakeKubectl} {
		if err := os.WriteFile(filepath.Join(fake, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", fake+":/usr/bin:/bin")
	t.Setenv("FAKE", fake)
	state := place.State(filepath.Join(t.TempDir(), "state"))
	return Cluster{State: state, Output: new(bytes.Buffer), Kubectl: filepath.Join(fake, "kubectl")}, fake
}

// calls returns the recorded command lines of kind.
func calls(t *testing.T, fake string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(fake, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

func TestCheckAvailable(t *testing.T) {
	_, fake := setUp(t)
	t.Setenv("PATH", fake)
	if err := CheckAvailable(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"docker", "kind"} {
		if err := os.Remove(filepath.Join(fake, name)); err != nil {
			t.Fatal(err)
		}
		if err := CheckAvailable(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v without %s", err, name)
		}
	}
}

// TestCluster checks that the cluster has a name of its own, is created once, and is
// deleted together with its state.
func TestCluster(t *testing.T) {
	cluster, fake := setUp(t)
	if IsKindCluster(cluster.State) || cluster.CheckReady(t.Context()) == nil {
		t.Error("cluster exists before it is created")
	}
	for range 2 {
		if err := cluster.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(fake, "image.tar")
	if err := os.WriteFile(archive, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Load(t.Context(), archive); err != nil {
		t.Error(err)
	}
	if err := cluster.Load(t.Context(), archive+".gone"); err == nil || !strings.Contains(err.Error(), "no archive") {
		t.Errorf("got error %v for a missing archive", err)
	}
	if err := cluster.CheckReady(t.Context()); err != nil || !IsKindCluster(cluster.State) {
		t.Errorf("cluster is not ready: %v", err)
	}
	if err := cluster.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cluster.State.Exists() {
		t.Error("state directory was not removed")
	}
	name, kubeconfig := " --name "+cluster.Name(), " --kubeconfig "+cluster.State.Kubeconfig()
	want := []string{
		"get clusters",
		"get clusters", "create cluster" + kubeconfig + " --wait 3m" + name,
		"get clusters",
		"load image-archive " + archive + name, "load image-archive " + archive + ".gone" + name,
		"get clusters",
		"delete cluster" + kubeconfig + name,
	}
	if got := calls(t, fake); !slices.Equal(got, want) {
		t.Errorf("kind was called with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRelay checks that a relay listens when it is reported, and stops with the cluster.
func TestRelay(t *testing.T) {
	cluster, _ := setUp(t)
	if err := cluster.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	target := relay.Target{Kind: "svc", Namespace: "anamnesis-demo", Name: "demo", Port: "443"}
	for listen, want := range map[string]string{"127.0.0.1:8443": "127.0.0.1:8443", "127.0.0.1:0": "127.0.0.1:39999"} {
		if got, err := cluster.StartRelay(t.Context(), listen, target); err != nil || got != want {
			t.Errorf("%s: got %q, %v", listen, got, err)
		}
	}
	missing := relay.Target{Kind: "svc", Namespace: "anamnesis-demo", Name: "missing", Port: "443"}
	if _, err := cluster.StartRelay(t.Context(), "127.0.0.1:0", missing); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("got error %v for a missing Service", err)
	}
	if _, err := cluster.StartRelay(t.Context(), "127.0.0.1:0", relay.Target{Host: "10.0.0.1", Port: "80"}); err == nil {
		t.Error("relay accepted an address as its target")
	}
	relays, err := os.ReadDir(cluster.State.Path(forwardsDir))
	if err != nil || len(relays) != 3 {
		t.Fatalf("recorded relays: %v, %v", relays, err)
	}
	if err := cluster.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, relay := range relays {
		pid, err := strconv.Atoi(relay.Name())
		for deadline := time.Now().Add(time.Minute); err == nil && cluster.isRelay(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("relay %d still runs after the cluster was deleted", pid)
			}
		}
	}
}

// TestStopRelaysLeavesOtherProcesses checks that only processes that forward to this
// cluster are stopped.
func TestStopRelaysLeavesOtherProcesses(t *testing.T) {
	cluster, _ := setUp(t)
	if cluster.isRelay(os.Getpid()) {
		t.Error("isRelay returned true for the test process")
	}
	if _, err := waitUntilForwarding(t.Context(), filepath.Join(t.TempDir(), "gone"), make(chan error)); err == nil {
		t.Error("missing log did not cause an error")
	}
}
