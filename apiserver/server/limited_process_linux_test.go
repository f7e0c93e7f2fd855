// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A limitedProcess is the real server in its own process under a kernel memory limit. The
// limit is RLIMIT_DATA: it needs neither privileges nor cgroups, and is stricter than a pod's
// limit because it counts memory that the process has returned.
type limitedProcess struct {
	tenant, admin string // addresses
	command       *exec.Cmd
	exited        chan error
	log           *logBuffer
}

// buildServer builds the real server.
func buildServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "apiserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/anamnesis-dev/anamnesis/apiserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, output)
	}
	return path
}

// startLimitedProcess starts the server with this memory limit, in bytes, and passes the limit
// to its runtime as for a pod.
func startLimitedProcess(t *testing.T, c Command, memory uint64) *limitedProcess {
	t.Helper()
	p := &limitedProcess{exited: make(chan error, 1), log: &logBuffer{}}
	p.command = exec.Command(buildServer(t), "serve", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0",
		"--tls-cert-file="+c.TLSCertFile, "--tls-key-file="+c.TLSKeyFile, "--credentials-dir="+c.CredentialsDir,
		"--signing-keys-dir="+c.SigningKeysDir, "--keysets-dir="+c.KeysetsDir, "--config="+c.Config, "--instance-id="+c.InstanceID,
		"--models="+c.Models, "--data-dir="+c.DataDir, "--drain=0s")
	p.command.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", memory/5*4))
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	limit := &unix.Rlimit{Cur: memory, Max: memory}
	if err := unix.Prlimit(p.command.Process.Pid, unix.RLIMIT_DATA, limit, nil); err != nil {
		t.Fatalf("limiting the memory of the server: %v", err)
	}
	listening := make(chan struct{})
	go func() {
		p.readLog(stderr, listening)
		p.exited <- p.command.Wait()
	}()
	select {
	case <-listening:
	case err := <-p.exited:
		t.Fatalf("server exited on startup: %v\n%s", err, p.log)
	case <-time.After(testTimeout):
		t.Fatalf("server did not start in time:\n%s", p.log)
	}
	t.Cleanup(func() { p.stop(t) })
	return p
}

// readLog keeps the server's log, except for requests, and reads its addresses from it.
func (p *limitedProcess) readLog(stderr io.Reader, listening chan<- struct{}) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Msg, Listen, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "handled request" {
			continue
		}
		_, _ = p.log.Write(append(lines.Bytes(), '\n'))
		if line.Msg == "server started" {
			p.tenant, p.admin = line.Listen, line.Admin
			close(listening)
		}
	}
}

// stop ends the server and checks that it exits cleanly.
func (p *limitedProcess) stop(t *testing.T) {
	t.Helper()
	_ = p.command.Process.Signal(syscall.SIGTERM) // may have exited already
	select {
	case err := <-p.exited:
		if err != nil {
			t.Errorf("server exited with error: %v\n%s", err, p.log)
		}
	case <-time.After(testTimeout):
		_ = p.command.Process.Kill()
		t.Errorf("server did not stop in time: %v\n%s", <-p.exited, p.log)
	}
}

// peakMemory returns the peak memory of the process in bytes.
func (p *limitedProcess) peakMemory(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Fatalf("reading the process status: %v\n%s", err, p.log)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes uint64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatalf("reading VmHWM: %v", err)
	}
	return kilobytes << 10
}
