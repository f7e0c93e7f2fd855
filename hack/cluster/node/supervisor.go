// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// component is a process of the node.
type component struct {
	name string
	// program is a tool of the node, or empty for this program itself.
	program string
	args    []string
	// readinessCheck reports whether the following components may start. If nil, they
	// start immediately.
	readinessCheck func(context.Context) error
}

// supervisor manages the processes of the node from their first process. It reaps all
// of them in one place, because orphans become its children too.
type supervisor struct {
	// dir contains bin and logs.
	dir string

	mu             sync.Mutex
	componentByPID map[int]string
	// started receives a value once there is a first process to wait for.
	started         chan struct{}
	exited          chan error
	failedComponent string
}

func newSupervisor(folder string) *supervisor {
	return &supervisor{dir: folder, componentByPID: map[int]string{}, started: make(chan struct{}, 1), exited: make(chan error, 1)}
}

// start starts a component with a separate log file.
func (s *supervisor) start(component component) error {
	log, err := os.Create(path.Join(s.dir, "logs", component.name+".log")) //nolint:gosec // names are those of the table of components
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = nothing.Close() }()
	program := "/proc/self/exe"
	if component.program != "" {
		program = path.Join(s.dir, "bin", component.program)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	process, err := os.StartProcess(program, append([]string{component.name}, component.args...), &os.ProcAttr{ //nolint:gosec // as above
		Dir:   s.dir,
		Env:   nodeEnv(),
		Files: []*os.File{nothing, log, log},
	})
	if err != nil {
		return err
	}
	s.componentByPID[process.Pid] = component.name
	select {
	case s.started <- struct{}{}:
	default:
	}
	return process.Release()
}

// reap reaps every process that exits and reports the first component that does.
func (s *supervisor) reap() {
	<-s.started
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // no children left
		}
		s.mu.Lock()
		name, isComponent := s.componentByPID[pid]
		if isComponent && s.failedComponent == "" {
			s.failedComponent = name
			s.exited <- fmt.Errorf("%s exited (%s)", name, formatStatus(status))
		}
		s.mu.Unlock()
	}
}

func formatStatus(status unix.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("by signal %s", status.Signal())
	}
	return fmt.Sprintf("with status %d", status.ExitStatus())
}

// wait returns when a component exits or the context is done.
func (s *supervisor) wait(ctx context.Context) error {
	select {
	case err := <-s.exited:
		return err
	case <-ctx.Done():
		return errors.New("node was stopped")
	}
}

// failedComponentName returns the name of the component that exited, if any.
func (s *supervisor) failedComponentName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failedComponent
}

// startTimeout is generous: the machine may be busy with builds.
const startTimeout = 3 * time.Minute

func (s *supervisor) waitReady(ctx context.Context, component component) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := component.readinessCheck(ctx)
		if err == nil {
			return nil
		}
		select {
		case ended := <-s.exited:
			return ended
		case <-ctx.Done():
			s.mu.Lock()
			s.failedComponent = component.name
			s.mu.Unlock()
			return fmt.Errorf("waiting for %s to become ready: %w", component.name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
