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

// supervisorEnv makes the test binary run as a supervisor. A supervisor reaps every
// child process, so it cannot share a process with other tests.
const supervisorEnv = "ANAMNESIS_TEST_FAMILY"

func TestMain(m *testing.M) {
	if folder := os.Getenv(supervisorEnv); folder != "" {
		fmt.Println(runSupervisor(folder))
		return
	}
	os.Exit(m.Run())
}

// runSupervisor starts one component that keeps running, one that keeps running and
// becomes ready at the third check, and one that exits.
func runSupervisor(folder string) (string, error) {
	family := newSupervisor(folder)
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
		{name: "becomes", program: "sh", args: []string{"-c", "sleep 600"}, readinessCheck: ready},
		{name: "ends", program: "sh", args: []string{"-c", "echo I cannot go on; (exit 9) & exit 7"}},
	})
	if err == nil {
		err = family.wait(context.Background())
	}
	for pid := range family.componentByPID {
		_ = Process{PID: pid, StartTime: startTime(pid)}.Kill()
	}
	return fmt.Sprintf("%s after %d questions:", family.failedComponentName(), asked), err
}

func startTime(pid int) uint64 {
	start, _ := readStartTime(pid)
	return start
}

func TestSupervisorStopsWhenAComponentExits(t *testing.T) {
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
	cmd.Env = append(os.Environ(), supervisorEnv+"="+folder)
	output, err := cmd.Output()
	if want := "ends after 3 questions: ends exited (with status 7)\n"; err != nil || string(output) != want {
		t.Errorf("got output %q, error %v; want %q", output, err, want)
	}
	if log, err := os.ReadFile(filepath.Join(folder, "logs", "ends.log")); err != nil || string(log) != "I cannot go on\n" {
		t.Errorf("got log %q, error %v", log, err)
	}
}

func TestStoppedNode(t *testing.T) {
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
	write("logs/node.log", "kubelet exited (with status 1)\n")
	write("logs/kubelet.log", strings.Repeat("before\n", 100)+"no such flag\n")
	write("failed", "kubelet")
	write("node.json", `{"pid":1,"start":0}`)
	if node.IsRunning() {
		t.Error("IsRunning() = true for a stopped node")
	}
	err := node.CheckRunning()
	for _, words := range []string{"node exited", "kubelet exited (with status 1)", node.State.LogFile("kubelet"), "no such flag"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error does not contain %q: %v", words, err)
		}
	}
	if count := strings.Count(err.Error(), "before"); count != 11 {
		t.Errorf("error contains %d log lines, want 11", count)
	}
	for name, do := range map[string]func() error{
		"run":   func() error { return node.Run(exec.Command("true")) },
		"start": func() error { return node.Start(exec.Command("true")) },
		"load":  func() error { return node.ImportImage(t.Context(), strings.NewReader("")) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "not running") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRelaysOmitsExitedRelays(t *testing.T) {
	t.Parallel()
	node := Node{State: place.State(t.TempDir())}
	self, err := findProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, process := range map[string]Process{"runs": self, "ended": {PID: self.PID, StartTime: self.StartTime - 1}} {
		if err := writeJSON(node.State.Path("relays", name+".json"), Relay{Target: name, Process: process}); err != nil {
			t.Fatal(err)
		}
	}
	relays, err := node.Relays()
	if err != nil || len(relays) != 1 || relays[0].Target != "runs" {
		t.Errorf("got relays %+v, error %v", relays, err)
	}
}

func TestRelayListener(t *testing.T) {
	t.Parallel()
	first, err := openRelayListener(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(first.address, ":0") {
		t.Errorf("relay listens on %s", first.address)
	}
	if _, err := openRelayListener(t.Context(), first.address); err == nil || !strings.Contains(err.Error(), "-listen") {
		t.Errorf("opening an address in use: %v", err)
	}
	first.close()
	again, err := openRelayListener(t.Context(), first.address)
	for range 100 { // a process that another test is starting may hold the socket until it executes
		if err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
		again, err = openRelayListener(t.Context(), first.address)
	}
	if err != nil {
		t.Fatalf("reopening a closed address: %v", err)
	}
	again.close()
}

func TestCommandEnvironment(t *testing.T) {
	t.Setenv("PATH", "/machine")
	t.Setenv("KEPT", "yes")
	cmd := Node{}.Command(t.Context(), "psql", "-l")
	if !slices.Equal(cmd.Args[1:], []string{ExecCommand, "psql", "-l"}) {
		t.Errorf("got arguments %v", cmd.Args)
	}
	last := map[string]string{}
	for _, variable := range cmd.Env {
		name, value, _ := strings.Cut(variable, "=")
		last[name] = value
	}
	if !strings.HasPrefix(last["PATH"], place.NodeStateDir+"/bin:") || last["KEPT"] != "yes" || last["KUBECONFIG"] != KubeconfigPath {
		t.Errorf("got environment PATH=%s KEPT=%s KUBECONFIG=%s", last["PATH"], last["KEPT"], last["KUBECONFIG"])
	}
	if here, err := os.Getwd(); err != nil || cmd.Dir != here {
		t.Errorf("got working directory %s, want %s, error %v", cmd.Dir, here, err)
	}
}

func TestOverlayUsesOneFileSystem(t *testing.T) {
	t.Parallel()
	got := newOverlayMount("/var/lib")
	want := "lowerdir=/var/lib,upperdir=/run/private/var/lib/upper,workdir=/run/private/var/lib/work"
	if got.options != want || got.target != "/var/lib" || len(got.dirs) != 2 {
		t.Errorf("got mounts %+v", got)
	}
}
