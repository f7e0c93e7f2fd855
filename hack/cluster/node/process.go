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

// Process identifies a process uniquely: a PID may be reused, but not with the same
// start time.
type Process struct {
	PID int `json:"pid"`
	// StartTime is in clock ticks since boot, from /proc/PID/stat.
	StartTime uint64 `json:"start"`
}

// findProcess returns the process that currently has the PID.
func findProcess(pid int) (Process, error) {
	start, err := readStartTime(pid)
	return Process{PID: pid, StartTime: start}, err
}

// IsAlive reports whether any thread of the process is running.
func (p Process) IsAlive() bool {
	handle, err := p.openPidfd()
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(handle) }()
	ended, err := waitExited(handle, 0)
	return err == nil && !ended
}

// Kill kills the process and waits until the kernel has released it. For the first process
// of a PID namespace, all other processes have exited by then.
func (p Process) Kill() error {
	handle, err := p.openPidfd()
	if err != nil {
		return nil // already exited
	}
	defer func() { _ = unix.Close(handle) }()
	if err := unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("killing process %d: %w", p.PID, err)
	}
	ended, err := waitExited(handle, 20*time.Second)
	if err == nil && !ended {
		err = errors.New("process is still running")
	}
	if err != nil {
		return fmt.Errorf("waiting for process %d to exit: %w", p.PID, err)
	}
	p.waitReaped()
	return nil
}

// waitReaped waits until the parent has reaped the exited process.
func (p Process) waitReaped() {
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if start, err := readStartTime(p.PID); err != nil || start != p.StartTime {
			return
		}
	}
}

// openPidfd returns a handle to this process, and never to a later process with the
// same PID.
func (p Process) openPidfd() (int, error) {
	if p.PID <= 0 {
		return -1, unix.ESRCH
	}
	handle, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return -1, err
	}
	if start, err := readStartTime(p.PID); err != nil || start != p.StartTime {
		_ = unix.Close(handle)
		return -1, unix.ESRCH
	}
	return handle, nil
}

// waitExited waits until the process of a handle has exited.
func waitExited(handle int, timeout time.Duration) (bool, error) {
	deadline := time.Now().Add(timeout)
	for {
		polled := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		count, err := unix.Poll(polled, int(max(0, time.Until(deadline)).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return count > 0, err
		}
	}
}

func readStartTime(pid int) (uint64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStartTime(content)
}

// parseStartTime parses the 22nd field of /proc/PID/stat. It counts from the end of
// the program name, which is in parentheses and may itself contain parentheses.
func parseStartTime(stat []byte) (uint64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start = 22 - 3
	if len(fields) <= start {
		return 0, fmt.Errorf("parsing the start time of a process from %q: too few fields", stat)
	}
	return strconv.ParseUint(string(fields[start]), 10, 64)
}

// writeJSON and readJSON store a value in a file of the state directory.
func writeJSON(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

func readJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}
