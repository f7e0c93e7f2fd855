// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// namespaces are those that the node has of its own.
var namespaces = []struct {
	name string
	flag int
}{
	{"net", unix.CLONE_NEWNET},
	{"pid", unix.CLONE_NEWPID},
	{"mnt", unix.CLONE_NEWNS},
}

// within calls start on a thread that is in the namespaces of the process pid,
// so that the process which start makes is born there. What is in the PID
// namespace ends with the node, by the kernel's hand.
//
// The thread is never given back to the runtime: it ends with its goroutine.
func within(pid int, start func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := enter(pid); err != nil {
			result <- err
			return
		}
		result <- start()
	}()
	return <-result
}

// enter moves the calling thread. All files are opened before the first move,
// after which /proc is another.
func enter(pid int) error {
	files := make([]*os.File, 0, len(namespaces))
	for _, namespace := range namespaces {
		file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "ns", namespace.name))
		if err != nil {
			return fmt.Errorf("opening the node's namespaces: %w", err)
		}
		defer func() { _ = file.Close() }()
		files = append(files, file)
	}
	// Threads share their root and working folder, which a mount namespace
	// cannot be entered with.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("leaving the shared working folder: %w", err)
	}
	for i, namespace := range namespaces {
		if err := unix.Setns(int(files[i].Fd()), namespace.flag); err != nil {
			return fmt.Errorf("entering the node's %s namespace: %w", namespace.name, err)
		}
	}
	return nil
}

// Run runs the command within the node and waits for it.
func (n Node) Run(cmd *exec.Cmd) error {
	return n.within(cmd.Run)
}

// Start starts the command within the node, where it lives until the node
// ends, in a session of its own.
func (n Node) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	return n.within(cmd.Start)
}

func (n Node) within(start func() error) error {
	process, err := n.process()
	if err != nil {
		return err
	}
	return within(process.PID, start)
}
