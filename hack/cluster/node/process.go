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
	start, err := readStart(pid)
	return Process{PID: pid, Start: start}, err
}

// Alive says whether any thread of the process still runs.
func (p Process) Alive() bool {
	handle, err := p.open()
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(handle) }()
	ended, err := hasEnded(handle, 0)
	return err == nil && !ended
}

// Kill ends the process at once and waits until the kernel is done with it,
// which for the first of a PID namespace is when all others are gone.
func (p Process) Kill() error {
	handle, err := p.open()
	if err != nil {
		return nil // it has ended already
	}
	defer func() { _ = unix.Close(handle) }()
	if err := unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("killing process %d: %w", p.PID, err)
	}
	ended, err := hasEnded(handle, 20*time.Second)
	if err == nil && !ended {
		err = errors.New("it is still there")
	}
	if err != nil {
		return fmt.Errorf("waiting for the end of process %d: %w", p.PID, err)
	}
	p.awaitBurial()
	return nil
}

// awaitBurial waits until the parent has taken notice of a process that has
// ended, which before long every parent does.
func (p Process) awaitBurial() {
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if start, err := readStart(p.PID); err != nil || start != p.Start {
			return
		}
	}
}

// open returns a handle that means this process and no later one of its number.
func (p Process) open() (int, error) {
	if p.PID <= 0 {
		return -1, unix.ESRCH
	}
	handle, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return -1, err
	}
	if start, err := readStart(p.PID); err != nil || start != p.Start {
		_ = unix.Close(handle)
		return -1, unix.ESRCH
	}
	return handle, nil
}

// hasEnded waits for a handle to say that its process has ended.
func hasEnded(handle int, patience time.Duration) (bool, error) {
	deadline := time.Now().Add(patience)
	for {
		polled := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		count, err := unix.Poll(polled, int(max(0, time.Until(deadline)).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return count > 0, err
		}
	}
}

func readStart(pid int) (uint64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStart(content)
}

// parseStart reads the 22nd field of /proc/PID/stat. It counts from behind the
// program's name, which is in brackets and may hold anything, brackets too.
func parseStart(stat []byte) (uint64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start = 22 - 3
	if len(fields) <= start {
		return 0, fmt.Errorf("reading when a process started from %q: too few fields", stat)
	}
	return strconv.ParseUint(string(fields[start]), 10, 64)
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
