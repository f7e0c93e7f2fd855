// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseStartTime(t *testing.T) {
	t.Parallel()
	const rest = " S 1 100 100 0 -1 4194560 2000 0 0 0 1 2 0 0 20 0 9 0 270630 1499660 273744 18446744073709551615"
	for _, test := range []struct {
		stat  string
		want  uint64
		fails bool
	}{
		{stat: "100 (etcd)" + rest, want: 270630},
		{stat: "100 (a b)" + rest, want: 270630},
		{stat: "100 (a) S 7 (b))" + rest, want: 270630},
		{stat: "100 (etcd) S 1 100", fails: true},
		{stat: "", fails: true},
		{stat: "100 (etcd) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 never 1", fails: true},
	} {
		got, err := parseStartTime([]byte(test.stat))
		if got != test.want && !test.fails || (err != nil) != test.fails {
			t.Errorf("%q: got start time %d, error %v; want %d", test.stat, got, err, test.want)
		}
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := findProcess(cmd.Process.Pid)
	if err != nil || !process.IsAlive() {
		t.Fatalf("running process %+v is not alive, error %v", process, err)
	}
	earlier := Process{PID: process.PID, StartTime: process.StartTime - 1}
	if earlier.IsAlive() {
		t.Error("earlier process with the same PID is alive")
	}
	if err := earlier.Kill(); err != nil || !process.IsAlive() {
		t.Errorf("killing an earlier process with the same PID: error %v, current process alive %v", err, process.IsAlive())
	}
	go func() { _ = cmd.Wait() }()
	for range 2 {
		if err := process.Kill(); err != nil || process.IsAlive() {
			t.Errorf("after Kill: error %v, alive %v", err, process.IsAlive())
		}
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(process.PID))); !os.IsNotExist(err) {
		t.Errorf("process still exists: %v", err)
	}
}

func TestExitedProcessIsNotAlive(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := findProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for process.IsAlive() { // it stays a zombie until Wait
		time.Sleep(time.Millisecond)
	}
	if _, err := readStartTime(process.PID); err != nil {
		t.Errorf("process does not exist: %v", err)
	}
	_ = cmd.Wait()
}

func TestZeroProcessIsNotAlive(t *testing.T) {
	t.Parallel()
	if (Process{}).IsAlive() || (Process{PID: -1}).IsAlive() {
		t.Error("zero Process is alive")
	}
	if _, err := findProcess(0); err == nil {
		t.Error("missing process has a start time")
	}
}

func TestReadWriteJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "relay.json")
	want := Relay{ListenAddress: "127.0.0.1:1", Target: "svc/a/b:c", Process: Process{PID: 7, StartTime: 8}}
	if err := writeJSON(path, want); err != nil {
		t.Fatal(err)
	}
	var got Relay
	if err := readJSON(path, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readJSON(path, &got); err == nil {
		t.Error("readJSON accepted a truncated record")
	}
}
