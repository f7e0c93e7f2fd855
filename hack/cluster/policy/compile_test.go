// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// cmpOptions compares addresses and prefixes by value, and treats nil and empty slices
// as equal.
var cmpOptions = []cmp.Option{cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}

// newTestCluster returns a cluster with two namespaces. Namespace a has a web server
// with a port named http and two of its clients. Namespace b has a pod with the same
// labels as the clients.
func newTestCluster() Cluster {
	return Cluster{
		Namespaces: []*corev1.Namespace{
			newNamespace("a", map[string]string{"team": "red"}),
			newNamespace("b", map[string]string{"team": "blue"}),
		},
		Pods: []*corev1.Pod{
			newPod("a", "web", "10.0.0.1", namedPort("http", 8080)),
			newPod("a", "client", "10.0.0.2"),
			newPod("a", "client", "10.0.0.3"),
			newPod("b", "client", "10.0.0.4", namedPort("http", 80)),
		},
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	web, clients := parseAddrs("10.0.0.1"), parseAddrs("10.0.0.2", "10.0.0.3")
	rule := func(pods []netip.Addr, peers []netip.Prefix) Rule {
		return Rule{Policy: "a/p", Pods: pods, Peers: Peers{Prefixes: peers}}
	}
	http := []PortRange{{8080, 8080}}
	for _, test := range []struct {
		name   string
		policy *networkingv1.NetworkPolicy
		want   Ruleset
	}{
		{
			"who is selected and has no rule is alone",
			newPolicy(appSelector("web"), []networkingv1.NetworkPolicyIngressRule{}, []networkingv1.NetworkPolicyEgressRule{}),
			Ruleset{IsolatedIngress: web, IsolatedEgress: web},
		},
		{
			"a policy that selects no pods has no effect",
			newPolicy(appSelector("unmatched"), ingressFrom(nil), egressTo(nil)),
			Ruleset{},
		},
		{
			"a policy selects in its own namespace only",
			newPolicy(appSelector("client"), ingressFrom(nil), nil),
			Ruleset{IsolatedIngress: clients, Ingress: []Rule{rule(clients, nil)}},
		},
		{
			"the empty selector selects the whole namespace",
			newPolicy(selectAll(), nil, egressTo(nil)),
			Ruleset{
				IsolatedEgress: parseAddrs("10.0.0.1", "10.0.0.2", "10.0.0.3"),
				Egress:         []Rule{rule(parseAddrs("10.0.0.1", "10.0.0.2", "10.0.0.3"), nil)},
			},
		},
		{
			"a pod selector alone means pods of the same namespace",
			newPolicy(appSelector("web"), ingressFrom(nil, podPeer(appSelector("client"))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, parsePrefixes("10.0.0.2/32", "10.0.0.3/32"))}},
		},
		{
			"a namespace selector alone means all pods there",
			newPolicy(appSelector("web"), ingressFrom(nil, namespacedPodPeer(selectAll(), nil)), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, parsePrefixes("10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32", "10.0.0.4/32"))}},
		},
		{
			"both selectors mean pods that match both",
			newPolicy(appSelector("web"), ingressFrom(nil, namespacedPodPeer(selectAll(), appSelector("client"))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, parsePrefixes("10.0.0.2/32", "10.0.0.3/32", "10.0.0.4/32"))}},
		},
		{
			"a peer that matches no pods allows no traffic",
			newPolicy(appSelector("web"), ingressFrom(nil, podPeer(appSelector("unmatched"))), nil),
			Ruleset{IsolatedIngress: web},
		},
		{
			"peers are joined, blocks stand alone",
			newPolicy(appSelector("web"), nil, egressTo(nil, podPeer(appSelector("client")), ipBlockPeer("192.0.2.77/24", "192.0.2.8/29", "192.0.2.9/32"), namespacedPodPeer(selectAll(), appSelector("web")))),
			Ruleset{IsolatedEgress: web, Egress: []Rule{
				{Policy: "a/p", Pods: web, Peers: Peers{Prefixes: parsePrefixes("192.0.2.0/24"), Except: parsePrefixes("192.0.2.8/29")}},
				rule(web, parsePrefixes("10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32")),
			}},
		},
		{
			"an IPv6 block allows no traffic",
			newPolicy(appSelector("web"), ingressFrom(nil, ipBlockPeer("2001:db8::/32")), nil),
			Ruleset{IsolatedIngress: web},
		},
		{
			"ports by number, by protocol, joined where they overlap",
			newPolicy(appSelector("web"), ingressFrom(ports(tcp(443), tcpRange(8000, 8100), tcpRange(8050, 8200), port(corev1.ProtocolUDP, intstr.FromInt(53)))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{443, 443}, {8000, 8200}}},
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolUDP, Ports: []PortRange{{53, 53}}},
			}},
		},
		{
			"a protocol without a port means all its ports",
			newPolicy(appSelector("web"), ingressFrom(ports(networkingv1.NetworkPolicyPort{})), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: []PortRange{allPorts}},
			}},
		},
		{
			"a named ingress port is resolved on the selected pods",
			newPolicy(selectAll(), ingressFrom(ports(port(corev1.ProtocolTCP, intstr.FromString("http")))), nil),
			Ruleset{IsolatedIngress: parseAddrs("10.0.0.1", "10.0.0.2", "10.0.0.3"), Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a named egress port is resolved on the peers",
			newPolicy(appSelector("client"), nil, egressTo(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))), namespacedPodPeer(selectAll(), nil))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: parsePrefixes("10.0.0.4/32")}, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{80, 80}}},
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: parsePrefixes("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a named egress port to all destinations is resolved on all pods",
			newPolicy(appSelector("client"), nil, egressTo(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: parsePrefixes("10.0.0.4/32")}, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{80, 80}}},
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: parsePrefixes("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a named egress port to a block is resolved on the pods within",
			newPolicy(appSelector("client"), nil, egressTo(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))), ipBlockPeer("10.0.0.0/8", "10.0.0.4/32"))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: parsePrefixes("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a port name of another protocol, or of no pod, matches no port",
			newPolicy(appSelector("web"), ingressFrom(ports(port(corev1.ProtocolUDP, intstr.FromString("http")), port(corev1.ProtocolTCP, intstr.FromString("none")))), nil),
			Ruleset{IsolatedIngress: web},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cluster := newTestCluster()
			cluster.Policies = []*networkingv1.NetworkPolicy{test.policy}
			if diff := cmp.Diff(test.want, Compile(cluster), cmpOptions...); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileIgnoresPodsOffThePodNetwork(t *testing.T) {
	t.Parallel()
	cluster := Cluster{
		Namespaces: []*corev1.Namespace{newNamespace("a", nil)},
		Pods: []*corev1.Pod{
			newPod("a", "web", "10.0.0.1"),
			withChange(newPod("a", "web", "10.0.0.2"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }),
			withChange(newPod("a", "web", "10.0.0.3"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }),
			withChange(newPod("a", "web", "10.0.0.4"), func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }),
			newPod("a", "web", ""),
		},
		Policies: []*networkingv1.NetworkPolicy{newPolicy(selectAll(), ingressFrom(nil, podPeer(selectAll())), nil)},
	}
	want := Ruleset{
		IsolatedIngress: parseAddrs("10.0.0.1"),
		Ingress:         []Rule{{Policy: "a/p", Pods: parseAddrs("10.0.0.1"), Peers: Peers{Prefixes: parsePrefixes("10.0.0.1/32")}}},
	}
	if diff := cmp.Diff(want, Compile(cluster), cmpOptions...); diff != "" {
		t.Error(diff)
	}
}

// TestCompileIsOrderIndependent checks that the script does not depend on the order in
// which informers list objects.
func TestCompileIsOrderIndependent(t *testing.T) {
	t.Parallel()
	cluster := newTestCluster()
	second := newPolicy(appSelector("client"), ingressFrom(ports(tcp(1), tcp(2), port(corev1.ProtocolUDP, intstr.FromInt(3)))), egressTo(nil, podPeer(appSelector("web"))))
	second.Name = "q"
	cluster.Policies = []*networkingv1.NetworkPolicy{newPolicy(selectAll(), ingressFrom(nil, namespacedPodPeer(selectAll(), nil)), nil), second}
	want := Compile(cluster).Script()
	for range 20 {
		rand.Shuffle(len(cluster.Pods), func(i, j int) { cluster.Pods[i], cluster.Pods[j] = cluster.Pods[j], cluster.Pods[i] })
		rand.Shuffle(len(cluster.Policies), func(i, j int) {
			cluster.Policies[i], cluster.Policies[j] = cluster.Policies[j], cluster.Policies[i]
		})
		if diff := cmp.Diff(want, Compile(cluster).Script()); diff != "" {
			t.Fatal(diff)
		}
	}
}
