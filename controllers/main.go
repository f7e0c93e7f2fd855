// SPDX-License-Identifier: Apache-2.0

// Command operator runs an API server for every Instance in a cluster and manages its
// webhook subscriptions.
//
// This package contains only wiring: flags, the manager with its lease and probes, and
// the reconcilers of packages instance and webhookconfig.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/namespaces"
	"github.com/anamnesis-dev/anamnesis/controllers/webhookconfig"
	"github.com/anamnesis-dev/anamnesis/version"
)

func main() {
	var config flags
	kong.Parse(&config, kongOptions()...)
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), config); err != nil {
		logger.Error(err, "failed to run operator")
		os.Exit(1)
	}
}

// kongOptions returns the options of the command line parser.
func kongOptions() []kong.Option {
	return []kong.Option{
		kong.Name("operator"),
		kong.Description("Runs a symptom assessment server for each Instance in the cluster."),
		kong.Vars{"version": "operator " + version.Get().String()},
	}
}

func run(ctx context.Context, config flags) error {
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("loading the kubeconfig: %w", err)
	}
	manager, err := newOperator(ctx, cluster, config, metrics.Registry)
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// newOperator returns a manager that is configured by the flags and ready to be started.
func newOperator(ctx context.Context, cluster *rest.Config, config flags, registry prometheus.Registerer) (ctrl.Manager, error) {
	options, err := config.options()
	if err != nil {
		return nil, err
	}
	if err := registry.Register(version.NewCollector()); err != nil {
		return nil, fmt.Errorf("registering the build metric: %w", err)
	}
	health, err := namespaces.NewHealth(ctrl.Log, registry, options.Namespaces)
	if err != nil {
		return nil, err
	}
	options.NewCache = namespaces.NewCache(health)
	manager, err := newManager(cluster, config, options)
	if err != nil {
		return nil, err
	}
	if err := addProbes(manager, config.HealthProbeBindAddress, health); err != nil {
		return nil, err
	}
	if config.RoleBinding != "" {
		guard := namespaces.NewRoleBindingGuard(manager, config.RoleBinding, options.Namespaces, health)
		options.WrapReconciler = guard.Wrap
		if err := manager.Add(guard); err != nil {
			return nil, fmt.Errorf("adding the RoleBinding guard: %w", err)
		}
	}
	if options.ReferencedCache, err = instance.NewReferencedCache(ctx, manager, options); err != nil {
		return nil, err
	}
	if err := instance.SetupWithManager(ctx, manager, registry, options); err != nil {
		return nil, err
	}
	return manager, webhookconfig.SetupWithManager(ctx, manager, registry, options)
}

func newManager(cluster *rest.Config, f flags, options instance.Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering API types: %w", err)
		}
	}
	lease, err := leaseName(options)
	if err != nil {
		return nil, err
	}
	caches := instance.CacheOptions(options)
	webhookconfig.AddToCache(&caches, options)
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches,
		NewCache:                      options.NewCache,
		Metrics:                       metricsserver.Options{BindAddress: f.MetricsBindAddress},
		HealthProbeBindAddress:        "0", // see addProbes
		LeaderElection:                f.LeaderElect,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       f.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	return manager, nil
}
