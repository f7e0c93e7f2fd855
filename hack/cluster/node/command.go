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

// Command returns a command for Run in the current working directory, with the
// machine's environment plus the node's tools and kubeconfig. It is signaled when the
// context is done, and killed when this process dies.
func (n Node) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := selfCommand(ctx, append([]string{ExecCommand, name}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.Env = append(os.Environ(), nodeEnv()...)
	cmd.Dir, _ = os.Getwd()
	return cmd
}

// Exec replaces the process with the command, looked up as the node sees it, and ties
// it to the life of the thread on which Run waits. Only a process born into another
// PID namespace can do so for itself: syscall.SysProcAttr.Pdeathsig mistakes a parent
// that it cannot see for a dead one.
func Exec(name string, args ...string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("setting the parent-death signal of %s: %w", name, err)
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

// binDir contains a link to each of the node's tools.
const binDir = place.NodeStateDir + "/bin"

// nodeEnv returns the complete environment of the node's processes. In particular, it
// has no proxy settings.
func nodeEnv() []string {
	return []string{
		"PATH=" + binDir + ":" + machine.SearchPath,
		"HOME=" + place.NodeStateDir,
		"KUBECONFIG=" + KubeconfigPath,
	}
}

// KubeconfigPath is the administrator's kubeconfig for processes in the node.
const KubeconfigPath = place.NodeStateDir + "/users/admin"

// selfCommand returns a command that runs this program with other arguments. The link
// works even if `go run` has deleted the executable.
func selfCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Args[0] = "anamnesis-cluster"
	cmd.Env = nodeEnv()
	return cmd
}
