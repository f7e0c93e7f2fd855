// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

type flags struct {
	ServerImage               string        `required:"" help:"Image of the API server that Instances run."`
	MaxConcurrentImageUpdates int           `default:"5" help:"How many Instances may be on their way to another server image at a time. They stop when one fails."`
	WaveSoak                  time.Duration `default:"10m" help:"How long the first Instance with another server image is watched before others follow."`
	Namespace                 string        `env:"POD_NAMESPACE" default:"anamnesis-system" help:"The operator's own namespace, where its authority and its lease are."`
	Namespaces                []string      `help:"Namespaces whose Instances are reconciled; none: all. Those that are missing are taken up when they appear."`
	RoleBinding               string        `help:"Name of the RoleBinding, in each of --namespaces, from which the operator has its rights there. It is held by a finalizer while there are Instances, so that they can leave a namespace that is deleted. None: nothing is held."`
	WatchLabelSelector        string        `help:"Label selector of the Instances and WebhookConfigs that are reconciled, so that several operators can share a cluster."`
	Concurrency               int           `default:"10" help:"How many Instances are reconciled at a time."`
	Resync                    time.Duration `default:"10m" help:"How often to look at Secrets that Instances refer to and that are not watched, give or take a fifth."`
	ClusterDomain             string        `default:"cluster.local" help:"What the names of Services of this cluster end in."`
	Resolvers                 []string      `placeholder:"CIDR" help:"DNS resolvers outside of the cluster that pods of Instances may ask besides the cluster's own, such as 10.0.0.2/32."`
	LeaderElect               bool          `help:"Of several replicas, let one work at a time."`
	MetricsBindAddress        string        `default:":8080" help:"Where metrics are served; 0 for nowhere."`
	HealthProbeBindAddress    string        `default:":8081" help:"Where /livez and /readyz are served; 0 for nowhere."`
}

// options are the flags as the reconciler takes them. The error names every flag
// that cannot be right.
func (f flags) options() (instance.Options, error) {
	selector, err := labels.Parse(f.WatchLabelSelector)
	if err != nil {
		err = fmt.Errorf("--watch-label-selector %q: %w", f.WatchLabelSelector, err)
	}
	resolvers, wrongResolvers := parseResolvers(f.Resolvers)
	if err := errors.Join(err, wrongResolvers, f.check()); err != nil {
		return instance.Options{}, err
	}
	return instance.Options{
		Namespace:                 f.Namespace,
		Namespaces:                f.Namespaces,
		Selector:                  selector,
		ServerImage:               f.ServerImage,
		MaxConcurrentImageUpdates: f.MaxConcurrentImageUpdates,
		WaveSoak:                  f.WaveSoak,
		Concurrency:               f.Concurrency,
		Resync:                    f.Resync,
		ClusterDomain:             f.ClusterDomain,
		Resolvers:                 resolvers,
	}, nil
}

// check refuses what the flags' types let through.
func (f flags) check() error {
	var wrong []error
	for _, namespace := range f.Namespaces {
		if problems := validation.IsDNS1123Label(namespace); problems != nil {
			wrong = append(wrong, fmt.Errorf("--namespaces %q: no name of a namespace: %s", namespace, strings.Join(problems, "; ")))
		}
	}
	if f.RoleBinding != "" && len(f.Namespaces) == 0 {
		wrong = append(wrong, fmt.Errorf("--role-binding %s: give --namespaces too, or leave it out", f.RoleBinding))
	}
	if problems := validation.IsDNS1123Subdomain(f.ClusterDomain); problems != nil {
		wrong = append(wrong, fmt.Errorf("--cluster-domain %q: expected a domain such as cluster.local: %s", f.ClusterDomain, strings.Join(problems, "; ")))
	}
	if f.WaveSoak < 0 {
		wrong = append(wrong, fmt.Errorf("--wave-soak %s: expected a time such as 10m, or 0s", f.WaveSoak))
	}
	return errors.Join(wrong...)
}

// parseResolvers refuses an address without a length, and one with bits beyond
// it: network policies must say exactly what is meant.
func parseResolvers(texts []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	var wrong []error
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("--resolvers %q: expected a range such as 10.0.0.2/32", text))
		case prefix != prefix.Masked():
			wrong = append(wrong, fmt.Errorf("--resolvers %q: there are bits beyond the length; write %s, or the length of one address", text, prefix.Masked()))
		default:
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes, errors.Join(wrong...)
}
