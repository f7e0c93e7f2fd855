// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
)

// connection is a network connection that policies allow or deny.
type connection struct {
	source, destination netip.Addr
	protocol            corev1.Protocol
	port                int32
}

// allows reports whether the kernel would allow the connection under the ruleset.
func (r Ruleset) allows(c connection) bool {
	if c.source == c.destination {
		return true
	}
	allowed := func(isolated []netip.Addr, rules []Rule, pod, peer netip.Addr) bool {
		return !slices.Contains(isolated, pod) || slices.ContainsFunc(rules, func(rule Rule) bool {
			return slices.Contains(rule.Pods, pod) && rule.hasPeer(peer) && rule.allowsPort(c)
		})
	}
	return allowed(r.IsolatedEgress, r.Egress, c.source, c.destination) &&
		allowed(r.IsolatedIngress, r.Ingress, c.destination, c.source)
}

func (r Rule) hasPeer(address netip.Addr) bool {
	contains := func(prefix netip.Prefix) bool { return prefix.Contains(address) }
	return (len(r.Peers.Prefixes) == 0 || slices.ContainsFunc(r.Peers.Prefixes, contains)) && !slices.ContainsFunc(r.Peers.Except, contains)
}

func (r Rule) allowsPort(c connection) bool {
	return r.Protocol == "" || r.Protocol == c.protocol && slices.ContainsFunc(r.Ports, func(open PortRange) bool {
		return open.First <= c.port && c.port <= open.Last
	})
}

// isAllowed reports whether the policies allow the connection according to the API
// documentation. It shares no code with the compiler under test.
func isAllowed(cluster Cluster, c connection) bool {
	if c.source == c.destination {
		return true
	}
	source, destination := podByAddress(cluster, c.source), podByAddress(cluster, c.destination)
	return isEgressAllowed(cluster, c, source, destination) && isIngressAllowed(cluster, c, source, destination)
}

func podByAddress(cluster Cluster, address netip.Addr) *corev1.Pod {
	for _, pod := range cluster.Pods {
		if pod.Status.PodIP == address.String() {
			return pod
		}
	}
	return nil
}

func isEgressAllowed(cluster Cluster, c connection, source, destination *corev1.Pod) bool {
	isolated := false
	for _, policy := range cluster.Policies {
		if !appliesTo(policy, source, networkingv1.PolicyTypeEgress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Egress {
			if isPeer(cluster, policy, rule.To, c.destination, destination) && isPortAllowed(rule.Ports, c, destination) {
				return true
			}
		}
	}
	return !isolated
}

func isIngressAllowed(cluster Cluster, c connection, source, destination *corev1.Pod) bool {
	isolated := false
	for _, policy := range cluster.Policies {
		if !appliesTo(policy, destination, networkingv1.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Ingress {
			if isPeer(cluster, policy, rule.From, c.source, source) && isPortAllowed(rule.Ports, c, destination) {
				return true
			}
		}
	}
	return !isolated
}

func appliesTo(policy *networkingv1.NetworkPolicy, pod *corev1.Pod, direction networkingv1.PolicyType) bool {
	return pod != nil && pod.Namespace == policy.Namespace && hasLabels(pod.Labels, &policy.Spec.PodSelector) &&
		slices.Contains(policy.Spec.PolicyTypes, direction)
}

func hasLabels(labels map[string]string, selector *metav1.LabelSelector) bool {
	for key, value := range selector.MatchLabels {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func isPeer(cluster Cluster, policy *networkingv1.NetworkPolicy, peers []networkingv1.NetworkPolicyPeer, address netip.Addr, pod *corev1.Pod) bool {
	for _, peer := range peers {
		switch {
		case peer.IPBlock != nil:
			if netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(address) && !slices.ContainsFunc(peer.IPBlock.Except, func(except string) bool {
				return netip.MustParsePrefix(except).Contains(address)
			}) {
				return true
			}
		case pod == nil:
		case peer.NamespaceSelector == nil && pod.Namespace != policy.Namespace:
		case peer.NamespaceSelector != nil && !hasLabels(namespaceLabels(cluster, pod.Namespace), peer.NamespaceSelector):
		case peer.PodSelector == nil || hasLabels(pod.Labels, peer.PodSelector):
			return true
		}
	}
	return len(peers) == 0
}

func namespaceLabels(cluster Cluster, namespace string) map[string]string {
	for _, candidate := range cluster.Namespaces {
		if candidate.Name == namespace {
			return candidate.Labels
		}
	}
	return nil
}

func isPortAllowed(ports []networkingv1.NetworkPolicyPort, c connection, destination *corev1.Pod) bool {
	for _, open := range ports {
		switch {
		case *open.Protocol != c.protocol:
		case open.Port == nil, open.Port.Type == intstr.Int && open.EndPort == nil && open.Port.IntVal == c.port,
			open.EndPort != nil && open.Port.IntVal <= c.port && c.port <= *open.EndPort:
			return true
		case open.Port.Type == intstr.String && destination != nil:
			for _, named := range destination.Spec.Containers[0].Ports {
				if named.Name == open.Port.StrVal && named.Protocol == c.protocol && named.ContainerPort == c.port {
					return true
				}
			}
		}
	}
	return len(ports) == 0
}

var (
	protocols         = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}
	namespaces        = []string{"a", "b", "c"}
	externalAddresses = []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.0.0.200")}
	blocks            = []string{"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/30", "10.0.0.4/31", "192.0.2.0/24", "192.0.2.1/32", "10.0.0.200/32"}
)

const firstPort, lastPort = 80, 84

func drawCluster(t *rapid.T) Cluster {
	var cluster Cluster
	for _, name := range namespaces {
		cluster.Namespaces = append(cluster.Namespaces, newNamespace(name, drawLabels(t)))
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		var named []corev1.ContainerPort
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"http", "admin"}), 0, 2, rapid.ID).Draw(t, "names") {
			named = append(named, corev1.ContainerPort{
				Name: name, Protocol: rapid.SampledFrom(protocols).Draw(t, "protocol"),
				ContainerPort: rapid.Int32Range(firstPort, lastPort).Draw(t, "port"),
			})
		}
		pod := newPod(rapid.SampledFrom(namespaces).Draw(t, "namespace"), "", fmt.Sprintf("10.0.0.%d", i+1), named...)
		pod.Labels = drawLabels(t)
		cluster.Pods = append(cluster.Pods, pod)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
		policy := drawPolicy(t)
		policy.Name = fmt.Sprint(i)
		cluster.Policies = append(cluster.Policies, policy)
	}
	return cluster
}

func drawLabels(t *rapid.T) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom([]string{"app", "team"}), rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "labels")
}

func drawSelector(t *rapid.T) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: drawLabels(t)}
}

func drawPolicy(t *rapid.T) *networkingv1.NetworkPolicy {
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: rapid.SampledFrom(namespaces).Draw(t, "namespace")}}
	policy.Spec.PodSelector = *drawSelector(t)
	both := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	policy.Spec.PolicyTypes = rapid.SliceOfNDistinct(rapid.SampledFrom(both), 1, 2, rapid.ID).Draw(t, "types")
	for range rapid.IntRange(0, 2).Draw(t, "ingress") {
		policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{Ports: drawPorts(t), From: drawPeers(t)})
	}
	for range rapid.IntRange(0, 2).Draw(t, "egress") {
		policy.Spec.Egress = append(policy.Spec.Egress, networkingv1.NetworkPolicyEgressRule{Ports: drawPorts(t), To: drawPeers(t)})
	}
	return policy
}

func drawPeers(t *rapid.T) []networkingv1.NetworkPolicyPeer {
	var peers []networkingv1.NetworkPolicyPeer
	for range rapid.IntRange(0, 3).Draw(t, "peers") {
		switch rapid.IntRange(0, 3).Draw(t, "peer") {
		case 0:
			peers = append(peers, podPeer(drawSelector(t)))
		case 1:
			peers = append(peers, namespacedPodPeer(drawSelector(t), nil))
		case 2:
			peers = append(peers, namespacedPodPeer(drawSelector(t), drawSelector(t)))
		default:
			except := rapid.SliceOfN(rapid.SampledFrom(blocks[1:]), 0, 3).Draw(t, "except")
			peers = append(peers, ipBlockPeer(rapid.SampledFrom(blocks).Draw(t, "block"), except...))
		}
	}
	return peers
}

func drawPorts(t *rapid.T) []networkingv1.NetworkPolicyPort {
	var open []networkingv1.NetworkPolicyPort
	for range rapid.IntRange(0, 3).Draw(t, "ports") {
		protocol := rapid.SampledFrom(protocols).Draw(t, "protocol")
		number := rapid.Int32Range(firstPort, lastPort).Draw(t, "number")
		switch rapid.IntRange(0, 3).Draw(t, "port") {
		case 0:
			open = append(open, networkingv1.NetworkPolicyPort{Protocol: &protocol})
		case 1:
			open = append(open, port(protocol, intstr.FromInt32(number)))
		case 2:
			last := rapid.Int32Range(number, lastPort).Draw(t, "last")
			ranged := port(protocol, intstr.FromInt32(number))
			ranged.EndPort = &last
			open = append(open, ranged)
		default:
			open = append(open, port(protocol, intstr.FromString(rapid.SampledFrom([]string{"http", "admin", "none"}).Draw(t, "name"))))
		}
	}
	return open
}

// TestCompileMatchesPolicySemantics checks that the ruleset allows a connection if and
// only if the policies, evaluated one by one, allow it.
func TestCompileMatchesPolicySemantics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cluster := drawCluster(t)
		rules := Compile(cluster)
		everybody := slices.Clone(externalAddresses)
		for _, pod := range cluster.Pods {
			everybody = append(everybody, netip.MustParseAddr(pod.Status.PodIP))
		}
		for _, source := range everybody {
			for _, destination := range everybody {
				for _, protocol := range protocols {
					for number := int32(firstPort); number <= lastPort; number++ {
						c := connection{source, destination, protocol, number}
						if got, want := rules.allows(c), isAllowed(cluster, c); got != want {
							t.Fatalf("connection %v: got allowed %v, want %v, by\n%s", c, got, want, rules.Script())
						}
					}
				}
			}
		}
	})
}

// TestSetsAreDisjoint checks that the elements of a set do not overlap, because nftables
// rejects overlapping elements.
func TestSetsAreDisjoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := Compile(drawCluster(t))
		for _, rule := range append(rules.Ingress, rules.Egress...) {
			for i, open := range rule.Ports {
				if i > 0 && open.First <= rule.Ports[i-1].Last {
					t.Fatalf("ports overlap: %v", rule.Ports)
				}
			}
			for _, list := range [][]netip.Prefix{rule.Peers.Prefixes, rule.Peers.Except} {
				for i, prefix := range list {
					if slices.ContainsFunc(list[:i], prefix.Overlaps) {
						t.Fatalf("prefixes overlap: %v", list)
					}
				}
			}
		}
	})
}
