// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

type flags struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	ServerImage               string        `required:"" help:"Server image for Instances."`
	MaxConcurrentImageUpdates int           `default:"5" help:"Maximum number of Instances updated to a new server image at a time. A failure halts the rollout."`
	WaveSoak                  time.Duration `default:"10m" help:"How long the canary Instance must stay ready on a new server image before others follow."`
	Namespace                 string        `env:"POD_NAMESPACE" default:"anamnesis-system" help:"Namespace of the operator's CA and lease."`
	Namespaces                []string      `help:"Namespaces to watch. Namespaces that do not exist yet are watched once they are created. Defaults to all."`
	RoleBinding               string        `help:"RoleBinding in each of --namespaces that grants the operator its permissions. The operator protects it with a finalizer while Instances exist, so that they can be cleaned up when the namespace is deleted. If unset, RoleBindings are not protected."`
	WatchLabelSelector        string        `help:"Label selector for the Instances and WebhookConfigs to reconcile, so that several operators can share a cluster. Defaults to all."`
	MaxConcurrentReconciles   int           `default:"10" help:"Maximum number of concurrent reconciles."`
	ResyncPeriod              time.Duration `default:"10m" help:"Resync period for Secrets that are referenced but not watched, with 20% jitter."`
	ClusterDomain             string        `default:"cluster.local" help:"DNS domain of the cluster."`
	DNSResolvers              []string      `placeholder:"CIDR" help:"CIDRs of DNS resolvers outside the cluster that pods may query in addition to the cluster's own, such as 10.0.0.2/32."`
	LeaderElect               bool          `help:"Enable leader election, so that one replica reconciles at a time."`
	MetricsBindAddress        string        `default:":8080" help:"Address of the metrics endpoint; 0 disables it."`
	HealthProbeBindAddress    string        `default:":8081" help:"Address of the /livez and /readyz endpoints; 0 disables them."`
}

// options converts the flags to the reconciler's Options. The error names every invalid
// flag.
func (f flags) options() (instance.Options, error) {
	selector, err := labels.Parse(f.WatchLabelSelector)
	if err != nil {
		err = fmt.Errorf("--watch-label-selector %q: %w", f.WatchLabelSelector, err)
	}
	resolvers, resolverErr := parseResolverCIDRs(f.DNSResolvers)
	if err := errors.Join(err, resolverErr, f.validate()); err != nil {
		return instance.Options{}, err
	}
	return instance.Options{
		Namespace:                 f.Namespace,
		Namespaces:                f.Namespaces,
		Selector:                  selector,
		ServerImage:               f.ServerImage,
		MaxConcurrentImageUpdates: f.MaxConcurrentImageUpdates,
		CanarySoakDuration:        f.WaveSoak,
		MaxConcurrentReconciles:   f.MaxConcurrentReconciles,
		ResyncPeriod:              f.ResyncPeriod,
		ClusterDomain:             f.ClusterDomain,
		DNSResolvers:              resolvers,
	}, nil
}

// validate rejects values that parse but are not allowed.
func (f flags) validate() error {
	var errs []error
	for _, namespace := range f.Namespaces {
		if problems := validation.IsDNS1123Label(namespace); problems != nil {
			errs = append(errs, fmt.Errorf("--namespaces %q: invalid namespace name: %s", namespace, strings.Join(problems, "; ")))
		}
	}
	if f.RoleBinding != "" && len(f.Namespaces) == 0 {
		errs = append(errs, fmt.Errorf("--role-binding %s: requires --namespaces: set it, or omit --role-binding", f.RoleBinding))
	}
	if problems := validation.IsDNS1123Subdomain(f.ClusterDomain); problems != nil {
		errs = append(errs, fmt.Errorf("--cluster-domain %q: expected a domain such as cluster.local: %s", f.ClusterDomain, strings.Join(problems, "; ")))
	}
	if f.WaveSoak < 0 {
		errs = append(errs, fmt.Errorf("--wave-soak %s: expected a duration such as 10m, or 0s", f.WaveSoak))
	}
	return errors.Join(errs...)
}

// parseResolverCIDRs parses the CIDRs of DNS resolvers. It rejects addresses without a
// prefix length and prefixes with host bits set, so that network policies allow exactly
// what the administrator wrote.
func parseResolverCIDRs(texts []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	var errs []error
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("--dns-resolvers %q: expected a CIDR such as 10.0.0.2/32", text))
		case prefix != prefix.Masked():
			errs = append(errs, fmt.Errorf("--dns-resolvers %q: host bits are set: use %s, or the prefix length of a single address", text, prefix.Masked()))
		default:
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes, errors.Join(errs...)
}
