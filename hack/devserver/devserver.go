// SPDX-License-Identifier: Apache-2.0

// Package devserver starts the real server for what is measured on it: built
// from the tree, in a home of its own, on free ports of loopback, with the
// content it was built with.
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

// What a client of the server calls as.
const (
	AppID  = "dev"
	AppKey = "dev-key"
)

// Credentials are what a client in Go calls as.
func Credentials() client.Credentials {
	return client.Credentials{AppID: AppID, AppKey: AppKey, InstanceID: "demo"}
}

// A Server is a running one.
type Server struct {
	URL     string // without a path
	process *exec.Cmd
	home    string
}

// Start builds the server, for which the working directory must be the root of
// the repository, starts it, and waits until it serves. It ends with Stop.
func Start(ctx context.Context) (_ *Server, err error) {
	s := &Server{}
	if s.home, err = os.MkdirTemp("", "anamnesis-"); err != nil {
		return nil, err
	}
	binary := filepath.Join(s.home, "apiserver")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./apiserver")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, buildErr := build.CombinedOutput(); buildErr != nil {
		return nil, errors.Join(fmt.Errorf("building the server: %w\n%s", buildErr, text), os.RemoveAll(s.home))
	}
	s.process = exec.CommandContext(ctx, binary, "serve", "--dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	s.process.Env = []string{"HOME=" + s.home}
	log := filepath.Join(s.home, "log")
	if err := s.await(log); err != nil {
		text, _ := os.ReadFile(log)
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, text), os.RemoveAll(s.home))
	}
	return s, nil
}

var greeted = regexp.MustCompile(`serves on (http://[^\s,]+)`)

// patience is how long a server may take until it greets, the first time with
// all of the content to compile.
const patience = 2 * time.Minute

// await starts the process, whose log goes to a file, and waits until it greets,
// for the greeting has its address.
func (s *Server) await(log string) error {
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // the process has its own
	s.process.Stderr = file
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	silent := time.AfterFunc(patience, func() { _ = s.process.Process.Kill() })
	defer silent.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address := greeted.FindStringSubmatch(lines.Text()); address != nil {
			s.URL = address[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return fmt.Errorf("the server ended before it greeted: %w", s.process.Wait())
}

// PID is the process id.
func (s *Server) PID() int { return s.process.Process.Pid }

// Stop ends the server and removes its home.
func (s *Server) Stop() error {
	err := s.process.Process.Signal(syscall.SIGTERM)
	if err == nil {
		err = s.process.Wait()
	}
	return errors.Join(err, os.RemoveAll(s.home))
}
