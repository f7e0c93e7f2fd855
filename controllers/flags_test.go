// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/rest"

	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/version"
)

func parseFlags(t *testing.T, arguments ...string) (flags, error) {
	t.Helper()
	var config flags
	parser, err := kong.New(&config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(arguments)
	return config, err
}

func TestFlags(t *testing.T) {
	t.Parallel()
	config, err := parseFlags(t, "--server-image=server:1", "--namespaces=a,b", "--role-binding=ours", "--watch-label-selector=team=blue",
		"--leader-elect", "--max-concurrent-reconciles=3", "--wave-soak=1h", "--cluster-domain=corp.example", "--dns-resolvers=10.0.0.2/32,fd00::/64")
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.options()
	if err != nil {
		t.Fatal(err)
	}
	if !config.LeaderElect || config.RoleBinding != "ours" || got.Selector.String() != "team=blue" {
		t.Errorf("got flags %+v and selector %s", config, got.Selector)
	}
	got.Selector = nil
	want := instance.Options{
		Namespace: "anamnesis-system", Namespaces: []string{"a", "b"}, ServerImage: "server:1",
		MaxConcurrentImageUpdates: 5, MaxConcurrentReconciles: 3, ResyncPeriod: 10 * time.Minute, CanarySoakDuration: time.Hour,
		ClusterDomain: "corp.example", DNSResolvers: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/32"), netip.MustParsePrefix("fd00::/64")},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestFlagDefaults(t *testing.T) {
	t.Parallel()
	config, err := parseFlags(t, "--server-image=server:1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.options()
	if err != nil {
		t.Fatal(err)
	}
	if got.ClusterDomain != "cluster.local" || got.CanarySoakDuration != 10*time.Minute || got.DNSResolvers != nil || got.Namespaces != nil || config.RoleBinding != "" {
		t.Errorf("got options %+v", got)
	}
}

func TestInvalidFlagsAreRejected(t *testing.T) {
	t.Parallel()
	if _, err := parseFlags(t); err == nil || !strings.Contains(err.Error(), "--server-image") {
		t.Errorf("without a server image: got error %v", err)
	}
	for name, test := range map[string]struct{ argument, want string }{
		"a selector that is none":               {"--watch-label-selector=a in", "--watch-label-selector"},
		"a namespace that is none":              {"--namespaces=Clinic_1", `--namespaces "Clinic_1"`},
		"no name of a namespace, which is all":  {"--namespaces=,a", `--namespaces ""`},
		"a binding without namespaces":          {"--role-binding=ours", "requires --namespaces"},
		"a domain that is none":                 {"--cluster-domain=cluster_local", "expected a domain such as cluster.local"},
		"a domain that is the root":             {"--cluster-domain=cluster.local.", "--cluster-domain"},
		"a resolver without a length":           {"--dns-resolvers=10.0.0.2", "expected a CIDR such as 10.0.0.2/32"},
		"a resolver with bits beyond its range": {"--dns-resolvers=10.0.0.2/8", "use 10.0.0.0/8"},
		"a name of a resolver":                  {"--dns-resolvers=dns.example/32", "expected a CIDR"},
		"a soak that has been":                  {"--wave-soak=-1s", "expected a duration such as 10m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := parseFlags(t, "--server-image=x", test.argument)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := config.options(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got error %v, want %q", test.argument, err, test.want)
			}
		})
	}
}

// TestVersion checks that --version needs no other flag.
func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	status := -1
	parser, err := kong.New(&flags{}, append(kongOptions(), kong.Writers(&out, &out), kong.Exit(func(code int) { status = code }))...)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = parser.Parse([]string{"--version"}) // only an Exit that returns lets the parser go on
	if want := "operator " + version.Get().String() + "\n"; status != 0 || out.String() != want {
		t.Errorf("got status %d and output %q, want status 0 and %q", status, out.String(), want)
	}
}

// TestOperatorReportsItsBuild needs no cluster: the metric is registered first.
func TestOperatorReportsItsBuild(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := newOperator(t.Context(), &rest.Config{Host: "://"}, flags{ServerImage: "server:1", ClusterDomain: "cluster.local"}, registry); err == nil {
		t.Error("newOperator succeeded without a cluster")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(families, func(family *dto.MetricFamily) bool { return family.GetName() == "anamnesis_build_info" }) {
		t.Errorf("metric anamnesis_build_info is missing: %v", families)
	}
}
