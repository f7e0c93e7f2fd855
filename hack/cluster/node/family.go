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

// component is a process that the node consists of.
type component struct {
	name string
	// program is a tool of the node, or this program itself when empty.
	program string
	args    []string
	// ready asks whether those that come after may start; nil: at once.
	ready func(context.Context) error
}

// family is the processes of the node as their first process sees them. It
// waits for all of them in one place, since orphans of others come to it too.
type family struct {
	// folder holds bin and logs.
	folder string

	mu    sync.Mutex
	names map[int]string
	// born is told when there is a first process to wait for.
	born  chan struct{}
	ended chan error
	lost  string
}

func newFamily(folder string) *family {
	return &family{folder: folder, names: map[int]string{}, born: make(chan struct{}, 1), ended: make(chan error, 1)}
}

// start starts a component with a log file of its own.
func (f *family) start(component component) error {
	log, err := os.Create(path.Join(f.folder, "logs", component.name+".log")) //nolint:gosec // names are those of the table of components
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
		program = path.Join(f.folder, "bin", component.program)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	process, err := os.StartProcess(program, append([]string{component.name}, component.args...), &os.ProcAttr{ //nolint:gosec // as above
		Dir:   f.folder,
		Env:   environment(),
		Files: []*os.File{nothing, log, log},
	})
	if err != nil {
		return err
	}
	f.names[process.Pid] = component.name
	select {
	case f.born <- struct{}{}:
	default:
	}
	return process.Release()
}

// reap waits for every process that ends and reports the first component.
func (f *family) reap() {
	<-f.born
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // no process is left to wait for
		}
		f.mu.Lock()
		name, isComponent := f.names[pid]
		if isComponent && f.lost == "" {
			f.lost = name
			f.ended <- fmt.Errorf("%s ended (%s)", name, describe(status))
		}
		f.mu.Unlock()
	}
}

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("by signal %s", status.Signal())
	}
	return fmt.Sprintf("with status %d", status.ExitStatus())
}

// wait returns when a component ends or the context does.
func (f *family) wait(ctx context.Context) error {
	select {
	case err := <-f.ended:
		return err
	case <-ctx.Done():
		return errors.New("the node was told to end")
	}
}

// failed names the component that ended, if one did.
func (f *family) failed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// startTimeout is generous: the machine may be busy with builds.
const startTimeout = 3 * time.Minute

func (f *family) waitReady(ctx context.Context, component component) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := component.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case ended := <-f.ended:
			return ended
		case <-ctx.Done():
			f.mu.Lock()
			f.lost = component.name
			f.mu.Unlock()
			return fmt.Errorf("%s does not answer: %w", component.name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
