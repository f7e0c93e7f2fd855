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

// compared compares addresses and prefixes by what they are, and takes no list
// for an empty one.
var compared = []cmp.Option{cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}

// town has two namespaces. In a: a web server that calls its port http, two of
// its clients. In b: one that has the same labels as a client.
func town() Cluster {
	return Cluster{
		Namespaces: []*corev1.Namespace{
			inNamespace("a", map[string]string{"team": "red"}),
			inNamespace("b", map[string]string{"team": "blue"}),
		},
		Pods: []*corev1.Pod{
			podAt("a", "web", "10.0.0.1", called("http", 8080)),
			podAt("a", "client", "10.0.0.2"),
			podAt("a", "client", "10.0.0.3"),
			podAt("b", "client", "10.0.0.4", called("http", 80)),
		},
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	web, clients := ips("10.0.0.1"), ips("10.0.0.2", "10.0.0.3")
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
			policyFor(app("web"), []networkingv1.NetworkPolicyIngressRule{}, []networkingv1.NetworkPolicyEgressRule{}),
			Ruleset{IsolatedIngress: web, IsolatedEgress: web},
		},
		{
			"a policy that selects nobody does nothing",
			policyFor(app("nobody"), from(nil), to(nil)),
			Ruleset{},
		},
		{
			"a policy selects in its own namespace only",
			policyFor(app("client"), from(nil), nil),
			Ruleset{IsolatedIngress: clients, Ingress: []Rule{rule(clients, nil)}},
		},
		{
			"the empty selector selects the whole namespace",
			policyFor(everything(), nil, to(nil)),
			Ruleset{
				IsolatedEgress: ips("10.0.0.1", "10.0.0.2", "10.0.0.3"),
				Egress:         []Rule{rule(ips("10.0.0.1", "10.0.0.2", "10.0.0.3"), nil)},
			},
		},
		{
			"a pod selector alone means pods of the same namespace",
			policyFor(app("web"), from(nil, pods(app("client"))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, nets("10.0.0.2/32", "10.0.0.3/32"))}},
		},
		{
			"a namespace selector alone means all pods there",
			policyFor(app("web"), from(nil, podsOf(everything(), nil)), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, nets("10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32", "10.0.0.4/32"))}},
		},
		{
			"both selectors mean pods that match both",
			policyFor(app("web"), from(nil, podsOf(everything(), app("client"))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{rule(web, nets("10.0.0.2/32", "10.0.0.3/32", "10.0.0.4/32"))}},
		},
		{
			"a peer that matches nobody lets nobody in",
			policyFor(app("web"), from(nil, pods(app("nobody"))), nil),
			Ruleset{IsolatedIngress: web},
		},
		{
			"peers are joined, blocks stand alone",
			policyFor(app("web"), nil, to(nil, pods(app("client")), within("192.0.2.77/24", "192.0.2.8/29", "192.0.2.9/32"), podsOf(everything(), app("web")))),
			Ruleset{IsolatedEgress: web, Egress: []Rule{
				{Policy: "a/p", Pods: web, Peers: Peers{Prefixes: nets("192.0.2.0/24"), Except: nets("192.0.2.8/29")}},
				rule(web, nets("10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32")),
			}},
		},
		{
			"a block of IPv6 lets nobody in",
			policyFor(app("web"), from(nil, within("2001:db8::/32")), nil),
			Ruleset{IsolatedIngress: web},
		},
		{
			"ports by number, by protocol, joined where they overlap",
			policyFor(app("web"), from(ports(tcp(443), tcpRange(8000, 8100), tcpRange(8050, 8200), port(corev1.ProtocolUDP, intstr.FromInt(53)))), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{443, 443}, {8000, 8200}}},
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolUDP, Ports: []PortRange{{53, 53}}},
			}},
		},
		{
			"a protocol without a port means all its ports",
			policyFor(app("web"), from(ports(networkingv1.NetworkPolicyPort{})), nil),
			Ruleset{IsolatedIngress: web, Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: []PortRange{everyPort}},
			}},
		},
		{
			"a name in ingress is that of the selected pods",
			policyFor(everything(), from(ports(port(corev1.ProtocolTCP, intstr.FromString("http")))), nil),
			Ruleset{IsolatedIngress: ips("10.0.0.1", "10.0.0.2", "10.0.0.3"), Ingress: []Rule{
				{Policy: "a/p", Pods: web, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a name in egress is that of the peers",
			policyFor(app("client"), nil, to(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))), podsOf(everything(), nil))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: nets("10.0.0.4/32")}, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{80, 80}}},
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: nets("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a name in egress to everybody is that of all pods",
			policyFor(app("client"), nil, to(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: nets("10.0.0.4/32")}, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{80, 80}}},
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: nets("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a name in egress to a block is that of the pods within",
			policyFor(app("client"), nil, to(ports(port(corev1.ProtocolTCP, intstr.FromString("http"))), within("10.0.0.0/8", "10.0.0.4/32"))),
			Ruleset{IsolatedEgress: clients, Egress: []Rule{
				{Policy: "a/p", Pods: clients, Peers: Peers{Prefixes: nets("10.0.0.1/32")}, Protocol: corev1.ProtocolTCP, Ports: http},
			}},
		},
		{
			"a name of another protocol, or of nobody, is no port",
			policyFor(app("web"), from(ports(port(corev1.ProtocolUDP, intstr.FromString("http")), port(corev1.ProtocolTCP, intstr.FromString("none")))), nil),
			Ruleset{IsolatedIngress: web},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cluster := town()
			cluster.Policies = []*networkingv1.NetworkPolicy{test.policy}
			if diff := cmp.Diff(test.want, Compile(cluster), compared...); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileLeavesOutWhoTakesNoPart(t *testing.T) {
	t.Parallel()
	cluster := Cluster{
		Namespaces: []*corev1.Namespace{inNamespace("a", nil)},
		Pods: []*corev1.Pod{
			podAt("a", "web", "10.0.0.1"),
			changed(podAt("a", "web", "10.0.0.2"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }),
			changed(podAt("a", "web", "10.0.0.3"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }),
			changed(podAt("a", "web", "10.0.0.4"), func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }),
			podAt("a", "web", ""),
		},
		Policies: []*networkingv1.NetworkPolicy{policyFor(everything(), from(nil, pods(everything())), nil)},
	}
	want := Ruleset{
		IsolatedIngress: ips("10.0.0.1"),
		Ingress:         []Rule{{Policy: "a/p", Pods: ips("10.0.0.1"), Peers: Peers{Prefixes: nets("10.0.0.1/32")}}},
	}
	if diff := cmp.Diff(want, Compile(cluster), compared...); diff != "" {
		t.Error(diff)
	}
}

// Informers list in any order, and the script must not change with it.
func TestCompileDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	cluster := town()
	second := policyFor(app("client"), from(ports(tcp(1), tcp(2), port(corev1.ProtocolUDP, intstr.FromInt(3)))), to(nil, pods(app("web"))))
	second.Name = "q"
	cluster.Policies = []*networkingv1.NetworkPolicy{policyFor(everything(), from(nil, podsOf(everything(), nil)), nil), second}
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
