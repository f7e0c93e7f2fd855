// SPDX-License-Identifier: Apache-2.0

// Package devserver starts a real server for measurements: built from the source tree,
// with a temporary home directory, on free loopback ports, with the embedded content.
package devserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/anamnesis-dev/anamnesis/client"
)

// Credentials of the development application.
const (
	AppID  = "dev"
	AppKey = "dev-key"
)

// Credentials returns the credentials for a Go client.
func Credentials() client.Credentials {
	return client.Credentials{AppID: AppID, AppKey: AppKey, InstanceID: "demo"}
}

// A Server is a running server.
type Server struct {
	URL     string // without a path
	cmd     *exec.Cmd
	homeDir string
}

// Start builds and starts the server, and waits until it serves. The working directory
// must be the root of the repository. Call Stop to end the server.
func Start(ctx context.Context) (_ *Server, err error) {
	s := &Server{}
	if s.homeDir, err = os.MkdirTemp("", "anamnesis-"); err != nil {
		return nil, err
	}
	binary := filepath.Join(s.homeDir, "apiserver")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./apiserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, buildErr := build.CombinedOutput(); buildErr != nil {
		return nil, errors.Join(fmt.Errorf("building the server: %w\n%s", buildErr, text), os.RemoveAll(s.homeDir))
	}
	s.cmd = exec.CommandContext(ctx, binary, "serve", "--dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	s.cmd.Env = []string{"HOME=" + s.homeDir}
	log := filepath.Join(s.homeDir, "log")
	if err := s.startAndWait(log); err != nil {
		text, _ := os.ReadFile(log)
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, text), os.RemoveAll(s.homeDir))
	}
	return s, nil
}

var listenPattern = regexp.MustCompile(`listening on (http://[^\s,]+)`)

// startTimeout limits the time until the server prints its address. The first start
// compiles all content.
const startTimeout = 2 * time.Minute

// startAndWait starts the process with its log in a file, and waits until it prints its
// address.
func (s *Server) startAndWait(log string) error {
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // the process has its own descriptor
	s.cmd.Stderr = file
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	timer := time.AfterFunc(startTimeout, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address := listenPattern.FindStringSubmatch(lines.Text()); address != nil {
			s.URL = address[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return fmt.Errorf("server exited before it was ready: %w", s.cmd.Wait())
}

// PID returns the process ID.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop stops the server and removes its home directory.
func (s *Server) Stop() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	if err == nil {
		err = s.cmd.Wait()
	}
	return errors.Join(err, os.RemoveAll(s.homeDir))
}
