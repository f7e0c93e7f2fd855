// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Install installs the operator from the chart, or upgrades it, and waits
// until it runs.
func (p Platform) Install(ctx context.Context, images Images) error {
	repository, tag, _ := strings.Cut(images.Operator, ":")
	serverRepository, serverTag, _ := strings.Cut(images.Server, ":")
	return p.helm(ctx, "upgrade", "--install", "anamnesis", "charts/anamnesis",
		"--namespace", Namespace, "--create-namespace",
		"--set-string", "image.repository="+repository, "--set-string", "image.tag="+tag,
		"--set-string", "serverImage.repository="+serverRepository, "--set-string", "serverImage.tag="+serverTag,
		"--wait", "--timeout", "180s")
}

// UpgradeResources makes the resource definitions those of the chart, which Helm
// installs once and never touches again, but counts as its own.
func (p Platform) UpgradeResources(ctx context.Context) error {
	_, err := p.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--filename", filepath.Join(p.Root, "charts/anamnesis/crds"))
	return err
}

// Uninstall removes what Install installed and Helm knows of, and waits until it
// is gone.
func (p Platform) Uninstall(ctx context.Context) error {
	return p.helm(ctx, "uninstall", "anamnesis", "--namespace", Namespace, "--wait", "--timeout", "180s")
}

func (p Platform) helm(ctx context.Context, args ...string) error {
	kubeconfig, err := p.Kubeconfig(ctx)
	if err != nil {
		return err
	}
	cmd := p.command(ctx, "go", append([]string{"tool", "-modfile=hack/tools/go.mod", "helm"}, args...)...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	_, err = p.run(cmd)
	return err
}

// WaitReady waits until an Instance runs the image and is ready.
func (p Platform) WaitReady(ctx context.Context, namespace, instance, image string) error {
	for _, condition := range []string{
		"jsonpath={.status.server.image}=" + image,
		"condition=Ready",
	} {
		if _, err := p.Kubectl(ctx, "wait", "--namespace", namespace, "instance/"+instance, "--for", condition, "--timeout", "180s"); err != nil {
			return fmt.Errorf("%w\n%s", err, p.describe(ctx, namespace, instance))
		}
	}
	return nil
}

// describe says what the operator says of an Instance, for a person to read.
func (p Platform) describe(ctx context.Context, namespace, instance string) string {
	out, err := p.Kubectl(ctx, "describe", "--namespace", namespace, "instance/"+instance)
	if err != nil {
		return err.Error()
	}
	return out
}

// SecretKey is one value of a Secret.
func (p Platform) SecretKey(ctx context.Context, namespace, secret, key string) (string, error) {
	return p.Kubectl(ctx, "get", "--namespace", namespace, "secret", secret,
		"--output", fmt.Sprintf("go-template={{index .data %q | base64decode}}", key))
}
