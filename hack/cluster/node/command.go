// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// Command is a command for Run in the present working folder, with the
// machine's environment but the node's tools and kubeconfig. It is told to end
// when the context does, and killed when this process is.
func (n Node) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := itself(ctx, append([]string{ExecCommand, name}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.Env = append(os.Environ(), environment()...)
	cmd.Dir, _ = os.Getwd()
	return cmd
}

// Exec becomes the command, looked up as the node sees it. It is bound to the
// life of the thread that Run waits on, which only a process can do for itself
// that was born into another PID namespace: syscall.SysProcAttr.Pdeathsig takes
// a parent that it cannot see for one that has died.
func Exec(name string, args ...string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("binding %s to its caller: %w", name, err)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if err := unix.Exec(found, append([]string{name}, args...), os.Environ()); err != nil {
		return fmt.Errorf("running %s: %w", found, err)
	}
	return nil
}

// bin holds a link to each of the node's tools.
const bin = place.Inside + "/bin"

// environment is what the node's processes see of the machine's environment:
// nothing but this. It has no proxy in particular.
func environment() []string {
	return []string{
		"PATH=" + bin + ":" + machine.Path,
		"HOME=" + place.Inside,
		"KUBECONFIG=" + Kubeconfig,
	}
}

// Kubeconfig is the administrator's kubeconfig for processes in the node.
const Kubeconfig = place.Inside + "/users/admin"

// itself is this program with another command line. The link leads to the
// right file even when `go run` has deleted it meanwhile.
func itself(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Args[0] = "anamnesis-cluster"
	cmd.Env = environment()
	return cmd
}
