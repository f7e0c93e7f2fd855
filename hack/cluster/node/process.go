// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Process names a process for good: a number may be given to another process
// later, but not with the same start.
type Process struct {
	PID int `json:"pid"`
	// Start is in the clock ticks since boot of /proc/PID/stat.
	Start uint64 `json:"start"`
}

// identify returns the process that has the number now.
func identify(pid int) (Process, error) {
	stat, err := readStat(pid)
	return Process{PID: pid, Start: stat.start}, err
}

// Alive says whether the process still runs.
func (p Process) Alive() bool {
	stat, err := readStat(p.PID)
	return p.PID > 0 && err == nil && stat.start == p.Start && stat.state != 'Z'
}

// Kill ends the process at once and waits until it is gone.
func (p Process) Kill() error {
	for deadline := time.Now().Add(20 * time.Second); p.Alive(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d is still there after being killed", p.PID)
		}
		if err := unix.Kill(p.PID, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("killing process %d: %w", p.PID, err)
		}
	}
	return nil
}

type stat struct {
	state byte
	start uint64
}

func readStat(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(content)
}

// parseStat reads the fields behind the program's name, which is in brackets
// and may hold anything, brackets too.
func parseStat(content []byte) (stat, error) {
	fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
	const state, start = 0, 19
	if len(fields) <= start {
		return stat{}, fmt.Errorf("reading the state of a process from %q: too few fields", content)
	}
	ticks, err := strconv.ParseUint(string(fields[start]), 10, 64)
	return stat{state: fields[state][0], start: ticks}, err
}

// writeRecord and readRecord keep a value in a file of the state folder.
func writeRecord(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

func readRecord(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}
