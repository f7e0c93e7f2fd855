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

// A target is whom a pod may want to talk to.
type target struct {
	address  string
	port     int32
	protocol corev1.Protocol
	// namespace and labels of a pod; of anything else none.
	namespace string
	labels    labels.Set
}

func tcp(address string, port int32) target {
	return target{address: address, port: port, protocol: corev1.ProtocolTCP}
}

// reaches says whether the pods of an Instance may talk to a target. Where strict
// is set, blocks of addresses do not stand for pods, as on Cilium.
func reaches(t *testing.T, in Input, to target, strict bool) bool {
	t.Helper()
	var policy networkingv1.NetworkPolicy
	decode(t, BuildNetworkPolicy(in), &policy)
	return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		port := slices.ContainsFunc(rule.Ports, func(port networkingv1.NetworkPolicyPort) bool {
			return *port.Protocol == to.protocol && port.Port.IntVal == to.port
		})
		peer := len(rule.To) == 0 || slices.ContainsFunc(rule.To, func(peer networkingv1.NetworkPolicyPeer) bool {
			return isPeer(t, peer, to, strict)
		})
		return port && peer
	})
}

func isPeer(t *testing.T, peer networkingv1.NetworkPolicyPeer, to target, strict bool) bool {
	t.Helper()
	isPod := to.namespace != ""
	if peer.IPBlock != nil {
		inside := func(network string) bool {
			return netip.MustParsePrefix(network).Contains(netip.MustParseAddr(to.address))
		}
		return (!strict || !isPod) && inside(peer.IPBlock.CIDR) && !slices.ContainsFunc(peer.IPBlock.Except, inside)
	}
	return isPod && selects(t, peer.NamespaceSelector, labels.Set{"kubernetes.io/metadata.name": to.namespace}) && selects(t, peer.PodSelector, to.labels)
}

func selects(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
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

// guarded is an Instance with a database, on a cluster whose Kubernetes API has a
// Service and an endpoint.
func guarded(options ...func(*v1alpha1.Instance)) Input {
	in := external(options...)
	in.KubernetesAPI = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32"), netip.MustParsePrefix("192.168.49.2/32")}
	in.Resolvers = []netip.Prefix{netip.MustParsePrefix("10.96.0.10/32")}
	return in
}

func within(networks ...v1alpha1.CIDR) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.CIDRs = networks }
}

func TestEgressToResolvers(t *testing.T) {
	t.Parallel()
	dns := labels.Set{"k8s-app": "kube-dns"}
	udp := func(port int32, address, namespace string, set labels.Set) target {
		return target{address: address, port: port, protocol: corev1.ProtocolUDP, namespace: namespace, labels: set}
	}
	for name, test := range map[string]struct {
		to   target
		want bool
	}{
		"CoreDNS":                       {udp(53, "10.244.0.2", "kube-system", dns), true},
		"CoreDNS, long answers":         {target{"10.244.0.2", 53, corev1.ProtocolTCP, "kube-system", dns}, true},
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
		"NodeLocal DNSCache, elsewhere": {tcp("169.254.20.10", 80), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strict := range []bool{false, true} {
				if got := reaches(t, guarded(), test.to, strict); got != test.want {
					t.Errorf("reached: %t, want %t", got, test.want)
				}
			}
		})
	}
}

func TestEgressToDatabases(t *testing.T) {
	t.Parallel()
	pod := func(port int32) target {
		return target{"10.244.3.4", port, corev1.ProtocolTCP, "databases", labels.Set{"app": "postgres"}}
	}
	onPort := func(in Input, ports ...int32) Input {
		in.DatabasePorts = ports
		return in
	}
	putBack := func(in Input, ports ...int32) Input {
		in.PutBackPorts = ports
		return in
	}
	for name, test := range map[string]struct {
		in   Input
		to   target
		want bool
	}{
		"a database on the internet":           {guarded(), tcp("203.0.113.9", 5432), true},
		"a database over IPv6":                 {guarded(), tcp("2001:db8::9", 5432), true},
		"a database of the company":            {guarded(), tcp("10.20.30.40", 5432), true},
		"a database in this cluster":           {guarded(), pod(5432), true},
		"a database at another port":           {guarded(), tcp("203.0.113.9", 6432), false},
		"PostgreSQL's port where none is read": {onPort(guarded()), tcp("203.0.113.9", 5432), true},
		"every port of the URL":                {onPort(guarded(), 5432, 6432), tcp("203.0.113.9", 6432), true},
		"no database with embedded storage":    {embedded(), tcp("203.0.113.9", 5432), false},
		"the port of what is put back":         {putBack(guarded(), 6432), tcp("203.0.113.9", 6432), true},
		"the port of the URL beside that":      {putBack(guarded(), 6432), tcp("203.0.113.9", 5432), true},
		"what is put back with embedded":       {putBack(embedded(), 6432), tcp("203.0.113.9", 6432), false},
		"the web":                              {guarded(), tcp("203.0.113.9", 443), false},
		"the Kubernetes API":                   {onPort(guarded(), 6443), tcp("192.168.49.2", 6443), false},
		"the Kubernetes API as a pod": {
			onPort(guarded(), 6443), target{"192.168.49.2", 6443, corev1.ProtocolTCP, "kube-system", labels.Set{"component": "kube-apiserver"}}, false,
		},
		"the Service of the Kubernetes API": {onPort(guarded(), 443), tcp("10.96.0.1", 443), false},
		"the metadata of the cloud":         {onPort(guarded(), 80), tcp("169.254.169.254", 80), false},
		"the metadata of Alibaba":           {onPort(guarded(), 80), tcp("100.100.100.200", 80), false},
		"the metadata of Azure":             {onPort(guarded(), 80), tcp("168.63.129.16", 80), false},
		"the metadata of Amazon over IPv6":  {onPort(guarded(), 80), tcp("fd00:ec2::254", 80), false},
		"within the networks of the spec":   {guarded(within("10.20.0.0/16", "2001:db8::/32")), tcp("10.20.30.40", 5432), true},
		"within the other one":              {guarded(within("10.20.0.0/16", "2001:db8::/32")), tcp("2001:db8::9", 5432), true},
		"outside of them":                   {guarded(within("10.20.0.0/16", "2001:db8::/32")), tcp("10.21.0.1", 5432), false},
		"another port within them":          {guarded(within("10.20.0.0/16")), tcp("10.20.30.40", 443), false},
		"the Kubernetes API within them":    {onPort(guarded(within("192.168.0.0/16")), 6443), tcp("192.168.49.2", 6443), false},
		"beside the Kubernetes API":         {onPort(guarded(within("192.168.0.0/16")), 6443), tcp("192.168.49.3", 6443), true},
		"nothing but the Kubernetes API":    {onPort(guarded(within("192.168.49.2/32")), 6443), tcp("192.168.49.2", 6443), false},
		"nothing is not anywhere":           {onPort(guarded(within("192.168.49.2/32")), 6443), tcp("203.0.113.9", 6443), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strict := range []bool{false, true} {
				if got := reaches(t, test.in, test.to, strict); got != test.want {
					t.Errorf("reached: %t, want %t (blocks stand for pods: %t)", got, test.want, !strict)
				}
			}
		})
	}
}

// TestNetworksOfTheSpecCountAtOnce in revisions, too, that left databases open.
func TestNetworksOfTheSpecCountAtOnce(t *testing.T) {
	t.Parallel()
	for revision := oldestRevision; revision <= Revision; revision++ {
		in := guarded(within("10.20.0.0/16"))
		in.Server.Revision = revision
		if !reaches(t, in, tcp("10.20.30.40", 5432), false) || reaches(t, in, tcp("10.21.0.1", 5432), false) {
			t.Errorf("revision %d: the networks of the spec are not what is reached", revision)
		}
	}
}

// TestEgressFitsTheLocalCluster holds the rule against the resolver that
// hack/cluster installs, as kubeadm does.
func TestEgressFitsTheLocalCluster(t *testing.T) {
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
			t.Fatalf("looking for the Deployment: %v", err)
		}
	}
	ports := resolver.Spec.Template.Spec.Containers[0].Ports
	for _, port := range ports {
		to := target{"10.244.0.2", port.ContainerPort, port.Protocol, resolver.Namespace, resolver.Spec.Template.Labels}
		if !reaches(t, embedded(), to, true) {
			t.Errorf("pods do not reach %s of the resolver", port.Name)
		}
	}
	if len(ports) < 2 {
		t.Errorf("the resolver has %d ports", len(ports))
	}
}

// TestPortsAreNoted writes down what the pods of a template connect to, and reads
// it again for the policy, which must stay open for them.
func TestPortsAreNoted(t *testing.T) {
	t.Parallel()
	in := external()
	in.DatabasePorts = []int32{5432, 6432}
	noted := BuildDeployment(in).Spec.Template.Annotations
	if diff := cmp.Diff(in.DatabasePorts, NotedPorts(noted)); diff != "" {
		t.Errorf("ports (-written +read):\n%s", diff)
	}
	in.Server.Revision = int32(notesPorts) - 1
	if ports := NotedPorts(BuildDeployment(in).Spec.Template.Annotations); ports != nil {
		t.Errorf("revision %d notes %v", in.Server.Revision, ports)
	}
	if ports := NotedPorts(BuildDeployment(embedded()).Spec.Template.Annotations); ports != nil {
		t.Errorf("embedded storage notes %v", ports)
	}
	for _, wrong := range []string{"", "x", "0", "5432,x", "65536", "5432 "} {
		if ports := NotedPorts(map[string]string{DatabasePortsAnnotation: wrong}); ports != nil {
			t.Errorf("%q reads as %v", wrong, ports)
		}
	}
}

// TestPrivateNetworksAreCovered asks for addresses that a webhook must not be
// able to reach, the cloud's metadata first of all.
func TestPrivateNetworksAreCovered(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	want := map[string]bool{
		"169.254.169.254": true, "10.96.0.1": true, "172.31.0.10": true, "192.168.1.1": true, "127.0.0.1": true, "100.100.100.200": true,
		"fd00:ec2::254": true, "fe80::1": true,
		"93.184.215.14": false, "172.32.0.1": false, "2606:4700::1111": false,
	}
	for address := range want {
		for _, network := range append(append([]string{}, privateIPv4...), privateIPv6...) {
			got[address] = got[address] || netip.MustParsePrefix(network).Contains(netip.MustParseAddr(address))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("private addresses (-want +got):\n%s", diff)
	}
}

// TestOpenPortsAreThoseOfTheDatabase reads back what each revision opened.
func TestOpenPortsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	for revision := int32(1); revision <= Revision; revision++ {
		for name, test := range map[string]struct {
			in    Input
			ports []int32
		}{
			"embedded": {embedded(), nil},
			"embedded, with receivers at other ports": {embedded(webhooks(&v1alpha1.Webhooks{AllowedPorts: []int32{8443}})), nil},
			"external": {external(), []int32{5432, 6543}},
		} {
			in := test.in
			in.Server.Revision, in.DatabasePorts = revision, test.ports
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
			if got := OpenPorts(in.Instance, policy); !slices.Equal(got, test.ports) {
				t.Errorf("revision %d, %s: got %v, want %v", revision, name, got, test.ports)
			}
		}
	}
}

// TestSendersAreReachedAndNothingElse opens their ports, at no address of the
// Kubernetes API or of the metadata of clouds.
func TestSendersAreReachedAndNothingElse(t *testing.T) {
	t.Parallel()
	in := embedded()
	in.KubernetesAPI = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}
	if rules := BuildNetworkPolicy(in).Spec.Egress; len(rules) != 2 {
		t.Errorf("without senders there are %d rules, want those of the resolver and of receivers", len(rules))
	}
	in.NotificationPorts = []int32{587, 443, 587}
	rules := BuildNetworkPolicy(in).Spec.Egress
	if len(rules) != 3 {
		t.Fatalf("there are %d rules, want three", len(rules))
	}
	var ports []int32
	for _, port := range rules[1].Ports {
		ports = append(ports, port.Port.IntVal)
	}
	if diff := cmp.Diff([]int32{443, 587}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if except := rules[1].To[0].IPBlock.Except; !slices.Contains(except, "10.96.0.1/32") || !slices.Contains(except, "169.254.0.0/16") {
		t.Errorf("left out are %v", except)
	}
	if rules := BuildNetworkPolicy(ofRevision(3, in)).Spec.Egress; len(rules) != 1 {
		t.Errorf("servers that send nothing reach senders: %d rules", len(rules))
	}
}
