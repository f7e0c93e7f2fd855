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

// namespaces are the namespaces that the node does not share with the machine.
var namespaces = []struct {
	name string
	flag int
}{
	{"net", unix.CLONE_NEWNET},
	{"pid", unix.CLONE_NEWPID},
	{"mnt", unix.CLONE_NEWNS},
}

// runInNamespaces calls start on a thread in the namespaces of the process pid, so
// that the process created by start belongs to them. The kernel kills all processes in
// the PID namespace when the node ends.
//
// The thread is never returned to the runtime: it exits with its goroutine.
func runInNamespaces(pid int, start func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := enterNamespaces(pid); err != nil {
			result <- err
			return
		}
		result <- start()
	}()
	return <-result
}

// enterNamespaces moves the calling thread into the namespaces. It opens all files
// before the first move, because /proc changes afterward.
func enterNamespaces(pid int) error {
	files := make([]*os.File, 0, len(namespaces))
	for _, namespace := range namespaces {
		file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "ns", namespace.name))
		if err != nil {
			return fmt.Errorf("opening the node's namespaces: %w", err)
		}
		defer func() { _ = file.Close() }()
		files = append(files, file)
	}
	// Threads share their root and working directory; setns fails for a mount namespace
	// while they do.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("leaving the shared working directory: %w", err)
	}
	for i, namespace := range namespaces {
		if err := unix.Setns(int(files[i].Fd()), namespace.flag); err != nil {
			return fmt.Errorf("entering the node's %s namespace: %w", namespace.name, err)
		}
	}
	return nil
}

// Run runs the command in the node and waits for it.
func (n Node) Run(cmd *exec.Cmd) error {
	return n.runInNamespaces(cmd.Run)
}

// Start starts the command in the node in its own session. It runs until the node
// ends.
func (n Node) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	return n.runInNamespaces(cmd.Start)
}

func (n Node) runInNamespaces(start func() error) error {
	process, err := n.readProcess()
	if err != nil {
		return err
	}
	return runInNamespaces(process.PID, start)
}
