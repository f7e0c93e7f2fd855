// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/image"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/node"
)

//go:embed addons/*.yaml
var addons embed.FS

// systemImages are built from tools, for pods that are part of the cluster itself.
var systemImages = map[string]string{
	"pause":   node.PauseImage,
	"coredns": "anamnesis.dev/coredns:1",
}

// stepTimeout is the timeout of one step, generous enough for a busy machine.
const stepTimeout = 3 * time.Minute

// start creates the node and waits until the cluster is ready.
func (c Cluster) start(ctx context.Context, steps *progress, binaries []build.Binary) error {
	archives, err := c.buildSystemImages(binaries)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"prepare the state", func() error { return c.prepare(binaries) }},
		{"start the node in its namespaces", c.Node.Boot},
		{"forward the API server", func() error { return c.relayAPIServer(ctx) }},
		{"API server ready", func() error { return c.waitUntil(ctx, checkAPIServer) }},
		{"load the cluster's own images", func() error { return c.Load(ctx, archives) }},
		{"install DNS and storage class", func() error { return c.installAddons(ctx) }},
		{"node ready", func() error { return c.waitUntil(ctx, checkNode) }},
		{"DNS ready", func() error { return c.waitUntil(ctx, checkDNS) }},
	} {
		if err := steps.runStep(step.name, step.do); err != nil {
			return err
		}
	}
	return nil
}

func (c Cluster) prepare(binaries []build.Binary) error {
	if err := c.cleanUp(); err != nil {
		return fmt.Errorf("cleaning up a previous cluster: %w", err)
	}
	return c.Node.Prepare(binaries)
}

// buildSystemImages builds the archives of the cluster's own images and returns their
// paths.
func (c Cluster) buildSystemImages(binaries []build.Binary) ([]string, error) {
	var archives []string
	for _, binary := range binaries {
		reference, wanted := systemImages[binary.Name]
		if !wanted {
			continue
		}
		archive := c.Cache.ImageArchive(binary.Name, binary.Version)
		archives = append(archives, archive)
		if machine.Exists(archive) {
			continue
		}
		entry := image.File{Source: binary.Path, Target: "/" + binary.Name, Executable: true}
		if err := image.Write(reference, []image.File{entry}, archive); err != nil {
			return nil, err
		}
	}
	return archives, nil
}

// relayAPIServer relays a port of the machine to the API server and writes the
// kubeconfig for it.
func (c Cluster) relayAPIServer(ctx context.Context) error {
	relay, err := c.Node.StartRelay(ctx, "127.0.0.1:0", node.APIServer)
	if err != nil {
		return err
	}
	return c.Node.WriteKubeconfig(relay.ListenAddress)
}

func (c Cluster) installAddons(ctx context.Context) error {
	entries, err := addons.ReadDir("addons")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		manifest, err := addons.Open(path.Join("addons", entry.Name()))
		if err != nil {
			return err
		}
		defer func() { _ = manifest.Close() }()
		cmd := exec.CommandContext(ctx, c.Node.State.Path("bin", "kubectl"), "apply", "--server-side", "--filename=-")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Node.State.Kubeconfig())
		cmd.Stdin = manifest
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("applying %s: %w\n%s", entry.Name(), err, output)
		}
	}
	return nil
}

func (c Cluster) newClient() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Node.State.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	return kubernetes.NewForConfig(config)
}

// waitUntil calls check until it succeeds, the node has exited, or the timeout expires.
func (c Cluster) waitUntil(ctx context.Context, check func(context.Context, kubernetes.Interface) error) error {
	client, err := c.newClient()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var lastErr error
	for {
		latest := check(ctx, client)
		if latest == nil {
			return nil
		}
		if ctx.Err() == nil {
			lastErr = latest
		}
		if err := c.Node.CheckRunning(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w; see the logs in %s", ctx.Err(), lastErr, c.Node.State.Path("logs"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func checkAPIServer(ctx context.Context, client kubernetes.Interface) error {
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func checkNode(ctx context.Context, client kubernetes.Interface) error {
	found, err := client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range found.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("node is not ready: %s", condition.Message)
		}
	}
	if len(found.Status.Conditions) == 0 {
		return fmt.Errorf("node has not reported readiness")
	}
	tainted := func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady }
	if slices.ContainsFunc(found.Spec.Taints, tainted) {
		return fmt.Errorf("node does not accept pods yet")
	}
	return nil
}

func checkDNS(ctx context.Context, client kubernetes.Interface) error {
	deployment, err := client.AppsV1().Deployments("kube-system").Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if deployment.Status.AvailableReplicas == 0 {
		return fmt.Errorf("CoreDNS has no ready pods: see `kubectl -n kube-system describe pods`")
	}
	return nil
}
