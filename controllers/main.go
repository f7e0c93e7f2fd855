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
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

type flags struct {
	ServerImage               string        `required:"" help:"Image of the API server that Instances run."`
	MaxConcurrentImageUpdates int           `default:"5" help:"How many Instances may be on their way to another server image at a time. They stop when one fails."`
	Namespace                 string        `env:"POD_NAMESPACE" default:"anamnesis-system" help:"The operator's own namespace, where its authority and its lease are."`
	Namespaces                []string      `help:"Namespaces whose Instances are reconciled; none: all."`
	WatchLabelSelector        string        `help:"Label selector of the Instances that are reconciled, so that several operators can share a cluster."`
	Concurrency               int           `default:"10" help:"How many Instances are reconciled at a time."`
	Resync                    time.Duration `default:"10m" help:"How often to look at Secrets that Instances refer to and that are not watched, give or take a fifth."`
	LeaderElect               bool          `help:"Of several replicas, let one work at a time."`
	MetricsBindAddress        string        `default:":8080" help:"Where metrics are served; 0 for nowhere."`
	HealthProbeBindAddress    string        `default:":8081" help:"Where /healthz and /readyz are served."`
}

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

// options are the flags as the reconciler takes them.
func (f flags) options() (instance.Options, error) {
	selector, err := labels.Parse(f.WatchLabelSelector)
	if err != nil {
		return instance.Options{}, fmt.Errorf("--watch-label-selector %q: %w", f.WatchLabelSelector, err)
	}
	return instance.Options{
		Namespace:                 f.Namespace,
		Namespaces:                f.Namespaces,
		Selector:                  selector,
		ServerImage:               f.ServerImage,
		MaxConcurrentImageUpdates: f.MaxConcurrentImageUpdates,
		Concurrency:               f.Concurrency,
		Resync:                    f.Resync,
	}, nil
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

// leaseName keeps operators that care for different Instances from taking turns.
func leaseName(options instance.Options) (string, error) {
	const name = "anamnesis-operator"
	if options.Selector.Empty() {
		return name, nil
	}
	hash, err := apply.Hash(options.Selector.String())
	return name + "-" + hash, err
}
