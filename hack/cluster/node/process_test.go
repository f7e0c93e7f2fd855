// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStart(t *testing.T) {
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
		got, err := parseStart([]byte(test.stat))
		if got != test.want && !test.fails || (err != nil) != test.fails {
			t.Errorf("%q started at %d, %v; want %d", test.stat, got, err, test.want)
		}
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := identify(cmd.Process.Pid)
	if err != nil || !process.Alive() {
		t.Fatalf("%+v runs but is not alive, %v", process, err)
	}
	earlier := Process{PID: process.PID, Start: process.Start - 1}
	if earlier.Alive() {
		t.Error("an earlier process of the same number is alive")
	}
	if err := earlier.Kill(); err != nil || !process.Alive() {
		t.Errorf("killing an earlier process of the same number: %v, and this one is alive: %v", err, process.Alive())
	}
	for range 2 { // it is not waited for, so it stays as a zombie
		if err := process.Kill(); err != nil || process.Alive() {
			t.Errorf("after being killed: %v, alive %v", err, process.Alive())
		}
	}
	_ = cmd.Wait()
	if process.Alive() {
		t.Error("a process that is gone is alive")
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
}

func TestNoProcessIsAlive(t *testing.T) {
	t.Parallel()
	if (Process{}).Alive() || (Process{PID: -1}).Alive() {
		t.Error("no process is alive")
	}
	if _, err := identify(0); err == nil {
		t.Error("no process has a start")
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "relay.json")
	want := Relay{Listen: "127.0.0.1:1", To: "svc/a/b:c", Process: Process{PID: 7, Start: 8}}
	if err := writeRecord(path, want); err != nil {
		t.Fatal(err)
	}
	var got Relay
	if err := readRecord(path, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readRecord(path, &got); err == nil {
		t.Error("half a record is read")
	}
}
