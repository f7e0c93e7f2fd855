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
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

// The cluster that all tests share, each in namespaces of its own.
var (
	cluster platform.Platform
	images  platform.Images
	kube    client.WithWatch
)

// TestMain brings up a cluster apart from the developer's own, and removes it.
func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	root, err := filepath.Abs("../..")
	if err != nil {
		return fail(err)
	}
	state, err := os.MkdirTemp("", "anamnesis-e2e-")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(state) }()
	cluster = platform.Platform{Root: root, State: state, Progress: os.Stdout}
	defer func() {
		if err := cluster.Down(context.Background()); err != nil {
			fail(fmt.Errorf("remove the cluster: %w", err))
		}
	}()
	if err := setUp(context.Background()); err != nil {
		return fail(fmt.Errorf("set up the cluster: %w", err))
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
	kube, err = newClient(ctx)
	return err
}

func newClient(ctx context.Context) (client.WithWatch, error) {
	kubeconfig, err := cluster.Kubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NoWarnings{} // of fields that an earlier release does not know
	config.QPS = -1                           // the tests wait by asking again and again
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "end-to-end test:", err)
	return 1
}
