// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"strings"
)

// Install installs or upgrades the operator from the chart, and waits until it runs.
func (p Platform) Install(ctx context.Context, images Images) error {
	repository, tag, _ := strings.Cut(images.Operator, ":")
	serverRepository, serverTag, _ := strings.Cut(images.Server, ":")
	return p.helm(ctx, "upgrade", "--install", "anamnesis", "charts/anamnesis",
		"--namespace", Namespace, "--create-namespace",
		"--set-string", "image.repository="+repository, "--set-string", "image.tag="+tag,
		"--set-string", "serverImage.repository="+serverRepository, "--set-string", "serverImage.tag="+serverTag,
		"--wait", "--timeout", "180s")
}

func (p Platform) helm(ctx context.Context, args ...string) error {
	kubeconfig, err := p.KubeconfigPath(ctx)
	if err != nil {
		return err
	}
	// Not go tool, which compiles all packages again instead of using the build cache.
	cmd := p.command(ctx, "go", append([]string{"run", "-modfile=hack/tools/go.mod", "helm.sh/helm/v3/cmd/helm"}, args...)...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	_, err = p.output(cmd)
	return err
}

// WaitReady waits until an Instance is ready with the server image.
func (p Platform) WaitReady(ctx context.Context, namespace, instance, image string) error {
	for _, condition := range []string{
		"jsonpath={.status.server.image}=" + image,
		"condition=Ready",
	} {
		if _, err := p.Kubectl(ctx, "wait", "--namespace", namespace, "instance/"+instance, "--for", condition, "--timeout", "180s"); err != nil {
			return fmt.Errorf("%w\n%s", err, p.describeInstance(ctx, namespace, instance))
		}
	}
	return nil
}

// describeInstance returns the output of kubectl describe for an Instance, or the error.
func (p Platform) describeInstance(ctx context.Context, namespace, instance string) string {
	out, err := p.Kubectl(ctx, "describe", "--namespace", namespace, "instance/"+instance)
	if err != nil {
		return err.Error()
	}
	return out
}

// SecretValue returns one value of a Secret.
func (p Platform) SecretValue(ctx context.Context, namespace, secret, key string) (string, error) {
	return p.Kubectl(ctx, "get", "--namespace", namespace, "secret", secret,
		"--output", fmt.Sprintf("go-template={{index .data %q | base64decode}}", key))
}
