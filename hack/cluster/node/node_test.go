// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// familyVariable makes the test program the first process of a family, which
// waits for every child and so cannot share a process with other tests.
const familyVariable = "ANAMNESIS_TEST_FAMILY"

func TestMain(m *testing.M) {
	if folder := os.Getenv(familyVariable); folder != "" {
		fmt.Println(firstProcess(folder))
		return
	}
	os.Exit(m.Run())
}

// firstProcess starts a component that stays, one that stays once it is ready,
// and one that ends.
func firstProcess(folder string) (string, error) {
	family := newFamily(folder)
	go family.reap()
	asked := 0
	ready := func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	err := family.startAll(context.Background(), []component{
		{name: "stays", program: "sh", args: []string{"-c", "sleep 600"}},
		{name: "becomes", program: "sh", args: []string{"-c", "sleep 600"}, ready: ready},
		{name: "ends", program: "sh", args: []string{"-c", "echo I cannot go on; (exit 9) & exit 7"}},
	})
	if err == nil {
		err = family.wait(context.Background())
	}
	for pid := range family.names {
		_ = Process{PID: pid, Start: startOf(pid)}.Kill()
	}
	return fmt.Sprintf("%s after %d questions:", family.failed(), asked), err
}

func startOf(pid int) uint64 {
	start, _ := readStart(pid)
	return start
}

func TestAFamilyEndsWithItsFirstComponent(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a node")
	for _, sub := range []string{"bin", "logs"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/bin/sh", filepath.Join(folder, "bin", "sh")); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), familyVariable+"="+folder)
	output, err := cmd.Output()
	if want := "ends after 3 questions: ends ended (with status 7)\n"; err != nil || string(output) != want {
		t.Errorf("it says %q, %v; want %q", output, err, want)
	}
	if log, err := os.ReadFile(filepath.Join(folder, "logs", "ends.log")); err != nil || string(log) != "I cannot go on\n" {
		t.Errorf("its log says %q, %v", log, err)
	}
}

func TestNodeThatDoesNotRun(t *testing.T) {
	t.Parallel()
	node := Node{State: place.State(t.TempDir())}
	if err := node.State.Create(); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(node.State.Path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(node.State.Path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("logs/node.log", "kubelet ended (with status 1)\n")
	write("logs/kubelet.log", strings.Repeat("before\n", 100)+"no such flag\n")
	write("failed", "kubelet")
	write("node.json", `{"pid":1,"start":0}`)
	if node.Running() {
		t.Error("it runs")
	}
	err := node.Check()
	for _, words := range []string{"the node ended", "kubelet ended (with status 1)", node.State.Log("kubelet"), "no such flag"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("no word on %q: %v", words, err)
		}
	}
	if count := strings.Count(err.Error(), "before"); count != 11 {
		t.Errorf("%d lines from before the last are told", count)
	}
	for name, do := range map[string]func() error{
		"run":   func() error { return node.Run(exec.Command("true")) },
		"start": func() error { return node.Start(exec.Command("true")) },
		"load":  func() error { return node.Import(t.Context(), strings.NewReader("")) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "not up") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRelaysThatEndedAreNotListed(t *testing.T) {
	t.Parallel()
	node := Node{State: place.State(t.TempDir())}
	self, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, process := range map[string]Process{"runs": self, "ended": {PID: self.PID, Start: self.Start - 1}} {
		if err := writeRecord(node.State.Path("relays", name+".json"), Relay{To: name, Process: process}); err != nil {
			t.Fatal(err)
		}
	}
	relays, err := node.Relays()
	if err != nil || len(relays) != 1 || relays[0].To != "runs" {
		t.Errorf("relays are %+v, %v", relays, err)
	}
}

func TestEndOfARelay(t *testing.T) {
	t.Parallel()
	first, err := openEnd(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(first.address, ":0") {
		t.Errorf("it listens on %s", first.address)
	}
	if _, err := openEnd(t.Context(), first.address); err == nil || !strings.Contains(err.Error(), "-listen") {
		t.Errorf("an address that is taken: %v", err)
	}
	first.close()
	again, err := openEnd(t.Context(), first.address)
	if err != nil {
		t.Fatalf("an address that is free again: %v", err)
	}
	again.close()
}

func TestCommandsSeeTheNodesTools(t *testing.T) {
	t.Setenv("PATH", "/machine")
	t.Setenv("KEPT", "yes")
	cmd := Node{}.Command(t.Context(), "psql", "-l")
	if !slices.Equal(cmd.Args[1:], []string{ExecCommand, "psql", "-l"}) {
		t.Errorf("it calls %v", cmd.Args)
	}
	last := map[string]string{}
	for _, variable := range cmd.Env {
		name, value, _ := strings.Cut(variable, "=")
		last[name] = value
	}
	if !strings.HasPrefix(last["PATH"], place.Inside+"/bin:") || last["KEPT"] != "yes" || last["KUBECONFIG"] != Kubeconfig {
		t.Errorf("it sees PATH=%s KEPT=%s KUBECONFIG=%s", last["PATH"], last["KEPT"], last["KUBECONFIG"])
	}
	if here, err := os.Getwd(); err != nil || cmd.Dir != here {
		t.Errorf("it runs in %s, not in %s, %v", cmd.Dir, here, err)
	}
}

func TestOverlaysAreOfOneFileSystem(t *testing.T) {
	t.Parallel()
	got := overlay("/var/lib")
	want := "lowerdir=/var/lib,upperdir=/run/private/var/lib/upper,workdir=/run/private/var/lib/work"
	if got.options != want || got.target != "/var/lib" || len(got.folders) != 2 {
		t.Errorf("it mounts %+v", got)
	}
}
