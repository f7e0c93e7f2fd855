// SPDX-License-Identifier: Apache-2.0

// Command operator gives every Instance of a cluster its own API server.
//
// Only wiring lives here: flags, the manager, and the reconciler of package
// instance.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

func main() {
	var config flags
	kong.Parse(&config, kong.Name("operator"), kong.Description("Gives every Instance of a cluster its own symptom assessment server."))
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), config); err != nil {
		logger.Error(err, "the operator ends")
		os.Exit(1)
	}
}

func run(ctx context.Context, config flags) error {
	options, err := config.options()
	if err != nil {
		return err
	}
	manager, err := newManager(config, options)
	if err != nil {
		return err
	}
	if err := instance.Setup(ctx, manager, metrics.Registry, options); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newManager(f flags, options instance.Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering kinds: %w", err)
		}
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	lease, err := leaseName(options)
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         instance.CacheOptions(options),
		Metrics:                       metricsserver.Options{BindAddress: f.MetricsBindAddress},
		HealthProbeBindAddress:        f.HealthProbeBindAddress,
		LeaderElection:                f.LeaderElect,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       f.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding a health check: %w", err)
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding a readiness check: %w", err)
	}
	return manager, nil
}
