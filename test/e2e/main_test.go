// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

// The cluster that all tests share. Each test creates its own namespaces.
var (
	cluster    platform.Platform
	images     platform.Images
	kubeClient client.WithWatch
)

// TestMain runs the tests on a temporary cluster, separate from the developer's own.
func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	root, err := filepath.Abs("../..")
	if err != nil {
		return exitWithError(err)
	}
	state, err := os.MkdirTemp("", "anamnesis-e2e-")
	if err != nil {
		return exitWithError(err)
	}
	defer func() { _ = os.RemoveAll(state) }()
	cluster = platform.Platform{Root: root, StateDir: state, Progress: os.Stdout}
	defer func() {
		if err := cluster.Down(context.Background()); err != nil {
			exitWithError(fmt.Errorf("removing the cluster: %w", err))
		}
	}()
	if err := setUp(context.Background()); err != nil {
		return exitWithError(fmt.Errorf("setting up the cluster: %w", err))
	}
	return browser.Run(m)
}

func setUp(ctx context.Context) (err error) {
	if err := cluster.Up(ctx); err != nil {
		return err
	}
	if images, err = cluster.BuildImages(ctx); err != nil {
		return err
	}
	if err := cluster.Install(ctx, images); err != nil {
		return err
	}
	kubeClient, err = newClient(ctx)
	return err
}

func newClient(ctx context.Context) (client.WithWatch, error) {
	kubeconfig, err := cluster.KubeconfigPath(ctx)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NoWarnings{}
	config.QPS = -1 // no client-side limit, because tests poll
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

func exitWithError(err error) int {
	fmt.Fprintln(os.Stderr, "end-to-end test:", err)
	return 1
}
