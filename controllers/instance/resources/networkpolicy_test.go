// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An egressTarget is a possible destination of a pod's connections.
type egressTarget struct {
	address  string
	port     int32
	protocol corev1.Protocol
	// namespace and labels identify a pod. They are unset for any other target.
	namespace string
	labels    labels.Set
}

func tcpTarget(address string, port int32) egressTarget {
	return egressTarget{address: address, port: port, protocol: corev1.ProtocolTCP}
}

// allowsEgress reports whether the pods of an Instance may connect to a target. If
// strict is set, IP blocks do not match pods, as with Cilium.
func allowsEgress(t *testing.T, in Input, to egressTarget, strict bool) bool {
	t.Helper()
	var policy networkingv1.NetworkPolicy
	decode(t, BuildNetworkPolicy(in), &policy)
	return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		port := slices.ContainsFunc(rule.Ports, func(port networkingv1.NetworkPolicyPort) bool {
			return *port.Protocol == to.protocol && port.Port.IntVal == to.port
		})
		peer := len(rule.To) == 0 || slices.ContainsFunc(rule.To, func(peer networkingv1.NetworkPolicyPeer) bool {
			return matchesPeer(t, peer, to, strict)
		})
		return port && peer
	})
}

func matchesPeer(t *testing.T, peer networkingv1.NetworkPolicyPeer, to egressTarget, strict bool) bool {
	t.Helper()
	isPod := to.namespace != ""
	if peer.IPBlock != nil {
		inside := func(network string) bool {
			return netip.MustParsePrefix(network).Contains(netip.MustParseAddr(to.address))
		}
		return (!strict || !isPod) && inside(peer.IPBlock.CIDR) && !slices.ContainsFunc(peer.IPBlock.Except, inside)
	}
	return isPod && matchesSelector(t, peer.NamespaceSelector, labels.Set{"kubernetes.io/metadata.name": to.namespace}) && matchesSelector(t, peer.PodSelector, to.labels)
}

func matchesSelector(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	if selector == nil {
		return true
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Matches(set)
}

// externalInputWithBlockedAPI returns the input for an Instance with external storage,
// on a cluster whose Kubernetes API has a Service and an endpoint.
func externalInputWithBlockedAPI(options ...func(*v1alpha1.Instance)) Input {
	in := externalInput(options...)
	in.KubernetesAPINetworks = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32"), netip.MustParsePrefix("192.168.49.2/32")}
	in.DNSResolvers = []netip.Prefix{netip.MustParsePrefix("10.96.0.10/32")}
	return in
}

func withCIDRs(networks ...v1alpha1.CIDR) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.CIDRs = networks }
}

func TestEgressToResolvers(t *testing.T) {
	t.Parallel()
	dns := labels.Set{"k8s-app": "kube-dns"}
	udp := func(port int32, address, namespace string, set labels.Set) egressTarget {
		return egressTarget{address: address, port: port, protocol: corev1.ProtocolUDP, namespace: namespace, labels: set}
	}
	for name, test := range map[string]struct {
		to   egressTarget
		want bool
	}{
		"CoreDNS":                       {udp(53, "10.244.0.2", "kube-system", dns), true},
		"CoreDNS, long answers":         {egressTarget{"10.244.0.2", 53, corev1.ProtocolTCP, "kube-system", dns}, true},
		"the resolver of OpenShift":     {udp(5353, "10.128.0.2", "openshift-dns", labels.Set{"dns.operator.openshift.io/daemonset-dns": "default"}), true},
		"NodeLocal DNSCache":            {udp(53, "169.254.20.10", "", nil), true},
		"a resolver of the flag":        {udp(53, "10.96.0.10", "", nil), true},
		"another port of CoreDNS":       {udp(9153, "10.244.0.2", "kube-system", dns), false},
		"another pod of kube-system":    {udp(53, "10.244.0.3", "kube-system", labels.Set{"k8s-app": "metrics-server"}), false},
		"a resolver of a tenant's own":  {udp(53, "10.244.1.2", "tenants", dns), false},
		"a resolver on the internet":    {udp(53, "8.8.8.8", "", nil), false},
		"a resolver of the same nodes":  {udp(53, "192.168.49.2", "", nil), false},
		"a neighbour of NodeLocal":      {udp(53, "169.254.20.11", "", nil), false},
		"the metadata's resolver":       {udp(53, "169.254.169.254", "", nil), false},
		"NodeLocal DNSCache, elsewhere": {tcpTarget("169.254.20.10", 80), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strict := range []bool{false, true} {
				if got := allowsEgress(t, externalInputWithBlockedAPI(), test.to, strict); got != test.want {
					t.Errorf("got reachable %t, want %t", got, test.want)
				}
			}
		})
	}
}

func TestEgressToDatabases(t *testing.T) {
	t.Parallel()
	pod := func(port int32) egressTarget {
		return egressTarget{"10.244.3.4", port, corev1.ProtocolTCP, "databases", labels.Set{"app": "postgres"}}
	}
	withPorts := func(in Input, ports ...int32) Input {
		in.DatabasePorts = ports
		return in
	}
	withRollbackPorts := func(in Input, ports ...int32) Input {
		in.RollbackPorts = ports
		return in
	}
	for name, test := range map[string]struct {
		in   Input
		to   egressTarget
		want bool
	}{
		"a database on the internet":           {externalInputWithBlockedAPI(), tcpTarget("203.0.113.9", 5432), true},
		"a database over IPv6":                 {externalInputWithBlockedAPI(), tcpTarget("2001:db8::9", 5432), true},
		"a database of the company":            {externalInputWithBlockedAPI(), tcpTarget("10.20.30.40", 5432), true},
		"a database in this cluster":           {externalInputWithBlockedAPI(), pod(5432), true},
		"a database at another port":           {externalInputWithBlockedAPI(), tcpTarget("203.0.113.9", 6432), false},
		"PostgreSQL's port where none is read": {withPorts(externalInputWithBlockedAPI()), tcpTarget("203.0.113.9", 5432), true},
		"every port of the URL":                {withPorts(externalInputWithBlockedAPI(), 5432, 6432), tcpTarget("203.0.113.9", 6432), true},
		"no database with embedded storage":    {embeddedInput(), tcpTarget("203.0.113.9", 5432), false},
		"the port of what is put back":         {withRollbackPorts(externalInputWithBlockedAPI(), 6432), tcpTarget("203.0.113.9", 6432), true},
		"a URL's port, after a rollback":       {withRollbackPorts(externalInputWithBlockedAPI(), 6432), tcpTarget("203.0.113.9", 5432), true},
		"what is put back with embedded":       {withRollbackPorts(embeddedInput(), 6432), tcpTarget("203.0.113.9", 6432), false},
		"the web":                              {externalInputWithBlockedAPI(), tcpTarget("203.0.113.9", 443), false},
		"the Kubernetes API":                   {withPorts(externalInputWithBlockedAPI(), 6443), tcpTarget("192.168.49.2", 6443), false},
		"the Kubernetes API as a pod": {
			withPorts(externalInputWithBlockedAPI(), 6443), egressTarget{"192.168.49.2", 6443, corev1.ProtocolTCP, "kube-system", labels.Set{"component": "kube-apiserver"}}, false,
		},
		"the Service of the Kubernetes API": {withPorts(externalInputWithBlockedAPI(), 443), tcpTarget("10.96.0.1", 443), false},
		"the metadata of the cloud":         {withPorts(externalInputWithBlockedAPI(), 80), tcpTarget("169.254.169.254", 80), false},
		"the metadata of Alibaba":           {withPorts(externalInputWithBlockedAPI(), 80), tcpTarget("100.100.100.200", 80), false},
		"the metadata of Azure":             {withPorts(externalInputWithBlockedAPI(), 80), tcpTarget("168.63.129.16", 80), false},
		"the metadata of Amazon over IPv6":  {withPorts(externalInputWithBlockedAPI(), 80), tcpTarget("fd00:ec2::254", 80), false},
		"within the networks of the spec":   {externalInputWithBlockedAPI(withCIDRs("10.20.0.0/16", "2001:db8::/32")), tcpTarget("10.20.30.40", 5432), true},
		"within the other one":              {externalInputWithBlockedAPI(withCIDRs("10.20.0.0/16", "2001:db8::/32")), tcpTarget("2001:db8::9", 5432), true},
		"outside of them":                   {externalInputWithBlockedAPI(withCIDRs("10.20.0.0/16", "2001:db8::/32")), tcpTarget("10.21.0.1", 5432), false},
		"another port within them":          {externalInputWithBlockedAPI(withCIDRs("10.20.0.0/16")), tcpTarget("10.20.30.40", 443), false},
		"the Kubernetes API within them":    {withPorts(externalInputWithBlockedAPI(withCIDRs("192.168.0.0/16")), 6443), tcpTarget("192.168.49.2", 6443), false},
		"next to the Kubernetes API":        {withPorts(externalInputWithBlockedAPI(withCIDRs("192.168.0.0/16")), 6443), tcpTarget("192.168.49.3", 6443), true},
		"nothing but the Kubernetes API":    {withPorts(externalInputWithBlockedAPI(withCIDRs("192.168.49.2/32")), 6443), tcpTarget("192.168.49.2", 6443), false},
		"nothing is not anywhere":           {withPorts(externalInputWithBlockedAPI(withCIDRs("192.168.49.2/32")), 6443), tcpTarget("203.0.113.9", 6443), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strict := range []bool{false, true} {
				if got := allowsEgress(t, test.in, test.to, strict); got != test.want {
					t.Errorf("got reachable %t, want %t (IP blocks match pods: %t)", got, test.want, !strict)
				}
			}
		})
	}
}

// TestDatabaseEgressIsLimitedToSpecNetworks checks an address inside and one outside the
// networks of the spec.
func TestDatabaseEgressIsLimitedToSpecNetworks(t *testing.T) {
	t.Parallel()
	in := externalInputWithBlockedAPI(withCIDRs("10.20.0.0/16"))
	if !allowsEgress(t, in, tcpTarget("10.20.30.40", 5432), false) || allowsEgress(t, in, tcpTarget("10.21.0.1", 5432), false) {
		t.Error("database egress does not match the networks of the spec")
	}
}

// TestResolverEgressMatchesLocalCluster checks the rule against the resolver that
// hack/cluster installs, as kubeadm does.
func TestResolverEgressMatchesLocalCluster(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../../hack/cluster/lifecycle/addons/coredns.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var resolver appsv1.Deployment
	for resolver.Kind != "Deployment" {
		resolver = appsv1.Deployment{}
		if err := decoder.Decode(&resolver); err != nil {
			t.Fatalf("finding the Deployment: %v", err)
		}
	}
	ports := resolver.Spec.Template.Spec.Containers[0].Ports
	for _, port := range ports {
		to := egressTarget{"10.244.0.2", port.ContainerPort, port.Protocol, resolver.Namespace, resolver.Spec.Template.Labels}
		if !allowsEgress(t, embeddedInput(), to, true) {
			t.Errorf("port %s of the resolver is not reachable", port.Name)
		}
	}
	if len(ports) < 2 {
		t.Errorf("got %d ports of the resolver, want at least 2", len(ports))
	}
}

// TestDatabasePortsAnnotationRoundTrip records the database ports of a template's pods
// and reads them back for the policy, which must keep them open.
func TestDatabasePortsAnnotationRoundTrip(t *testing.T) {
	t.Parallel()
	in := externalInput()
	in.DatabasePorts = []int32{5432, 6432}
	annotations := BuildDeployment(in).Spec.Template.Annotations
	if diff := cmp.Diff(in.DatabasePorts, ParseDatabasePorts(annotations)); diff != "" {
		t.Errorf("ports (-written +read):\n%s", diff)
	}
	if ports := ParseDatabasePorts(BuildDeployment(embeddedInput()).Spec.Template.Annotations); ports != nil {
		t.Errorf("embedded storage: got ports %v, want none", ports)
	}
	for _, invalid := range []string{"", "x", "0", "5432,x", "65536", "5432 "} {
		if ports := ParseDatabasePorts(map[string]string{DatabasePortsAnnotation: invalid}); ports != nil {
			t.Errorf("%q: got ports %v, want none", invalid, ports)
		}
	}
}

// TestDatabasePortsFromPolicy reads back the ports that a policy opens.
func TestDatabasePortsFromPolicy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in    Input
		ports []int32
	}{
		"embedded": {embeddedInput(), nil},
		"embedded, with receivers at other ports": {embeddedInput(withWebhooks(&v1alpha1.Webhooks{AllowedPorts: []int32{8443}})), nil},
		"external": {externalInput(), []int32{5432, 6543}},
	} {
		in := test.in
		in.DatabasePorts = test.ports
		if test.ports != nil {
			in.NotificationPorts = []int32{587}
		}
		encoded, err := json.Marshal(BuildNetworkPolicy(in))
		if err != nil {
			t.Fatal(err)
		}
		policy := &networkingv1.NetworkPolicy{}
		if err := json.Unmarshal(encoded, policy); err != nil {
			t.Fatal(err)
		}
		if got := DatabasePortsFromPolicy(in.Instance, policy); !slices.Equal(got, test.ports) {
			t.Errorf("%s: got %v, want %v", name, got, test.ports)
		}
	}
}

// TestNotificationEgressAllowsSendersOnly checks that the policy opens the senders'
// ports, but not to the Kubernetes API or cloud metadata services.
func TestNotificationEgressAllowsSendersOnly(t *testing.T) {
	t.Parallel()
	in := embeddedInput()
	in.KubernetesAPINetworks = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}
	if rules := BuildNetworkPolicy(in).Spec.Egress; len(rules) != 2 {
		t.Errorf("without senders: got %d rules, want the resolver and webhook rules", len(rules))
	}
	in.NotificationPorts = []int32{587, 443, 587}
	rules := BuildNetworkPolicy(in).Spec.Egress
	if len(rules) != 3 {
		t.Fatalf("got %d rules, want 3", len(rules))
	}
	var ports []int32
	for _, port := range rules[1].Ports {
		ports = append(ports, port.Port.IntVal)
	}
	if diff := cmp.Diff([]int32{443, 587}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if except := rules[1].To[0].IPBlock.Except; !slices.Contains(except, "10.96.0.1/32") || !slices.Contains(except, "169.254.0.0/16") {
		t.Errorf("got excluded blocks %v, want the Kubernetes API and metadata services", except)
	}
}
