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
func (f *supervisor) start(component component) error {
	log, err := os.Create(path.Join(f.dir, "logs", component.name+".log")) //nolint:gosec // names are those of the table of components
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
		program = path.Join(f.dir, "bin", component.program)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	process, err := os.StartProcess(program, append([]string{component.name}, component.args...), &os.ProcAttr{ //nolint:gosec // as above
		Dir:   f.dir,
		Env:   nodeEnv(),
		Files: []*os.File{nothing, log, log},
	})
	if err != nil {
		return err
	}
	f.componentByPID[process.Pid] = component.name
	select {
	case f.started <- struct{}{}:
	default:
	}
	return process.Release()
}

// reap reaps every process that exits and reports the first component that does.
func (f *supervisor) reap() {
	<-f.started
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // no children left
		}
		f.mu.Lock()
		name, isComponent := f.componentByPID[pid]
		if isComponent && f.failedComponent == "" {
			f.failedComponent = name
			f.exited <- fmt.Errorf("%s exited (%s)", name, formatStatus(status))
		}
		f.mu.Unlock()
	}
}

func formatStatus(status unix.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("by signal %s", status.Signal())
	}
	return fmt.Sprintf("with status %d", status.ExitStatus())
}

// wait returns when a component exits or the context is done.
func (f *supervisor) wait(ctx context.Context) error {
	select {
	case err := <-f.exited:
		return err
	case <-ctx.Done():
		return errors.New("the node was asked to stop")
	}
}

// failedComponentName returns the name of the component that exited, if any.
func (f *supervisor) failedComponentName() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failedComponent
}

// startTimeout is generous: the machine may be busy with builds.
const startTimeout = 3 * time.Minute

func (f *supervisor) waitReady(ctx context.Context, component component) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := component.readinessCheck(ctx)
		if err == nil {
			return nil
		}
		select {
		case ended := <-f.exited:
			return ended
		case <-ctx.Done():
			f.mu.Lock()
			f.failedComponent = component.name
			f.mu.Unlock()
			return fmt.Errorf("%s does not answer: %w", component.name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
