// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster holds the objects that determine the allowed connections.
type Cluster struct {
	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
	Policies   []*networkingv1.NetworkPolicy
}

// Compile interprets the policies as the API documents them. Pods that have
// terminated, have no address yet or use the host network are neither selected nor
// peers. The order of the input does not matter.
func Compile(cluster Cluster) Ruleset {
	known := newPodIndex(cluster.Pods, cluster.Namespaces)
	policies := slices.Clone(cluster.Policies)
	slices.SortFunc(policies, func(a, b *networkingv1.NetworkPolicy) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var rules Ruleset
	for _, policy := range policies {
		selected := known.selectedBy(policy)
		if len(selected) == 0 {
			continue
		}
		if slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
			rules.IsolatedIngress = append(rules.IsolatedIngress, addresses(selected)...)
			rules.Ingress = append(rules.Ingress, ingressRules(known, policy, selected)...)
		}
		if slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
			rules.IsolatedEgress = append(rules.IsolatedEgress, addresses(selected)...)
			rules.Egress = append(rules.Egress, egressRules(known, policy, selected)...)
		}
	}
	rules.IsolatedIngress = sortedUnique(rules.IsolatedIngress)
	rules.IsolatedEgress = sortedUnique(rules.IsolatedEgress)
	return rules
}

// ingressRules resolves named ports on the selected pods, which are the destinations.
func ingressRules(known podIndex, policy *networkingv1.NetworkPolicy, selected []pod) []Rule {
	var rules []Rule
	for _, allowed := range policy.Spec.Ingress {
		for _, from := range known.peers(policy.Namespace, allowed.From) {
			for _, opening := range resolvePorts(allowed.Ports, selected) {
				pods := selected
				if opening.onlyPods != nil {
					pods = opening.onlyPods
				}
				rules = append(rules, Rule{policyKey(policy), addresses(pods), from.Peers, opening.protocol, opening.ports})
			}
		}
	}
	return rules
}

// egressRules resolves named ports on the peers, which are the destinations.
func egressRules(known podIndex, policy *networkingv1.NetworkPolicy, selected []pod) []Rule {
	var rules []Rule
	for _, allowed := range policy.Spec.Egress {
		for _, to := range known.peers(policy.Namespace, allowed.To) {
			for _, opening := range resolvePorts(allowed.Ports, to.pods) {
				peers := to.Peers
				if opening.onlyPods != nil {
					peers = Peers{Prefixes: hostPrefixes(opening.onlyPods)}
				}
				rules = append(rules, Rule{policyKey(policy), addresses(selected), peers, opening.protocol, opening.ports})
			}
		}
	}
	return rules
}

func policyKey(policy *networkingv1.NetworkPolicy) string {
	return policy.Namespace + "/" + policy.Name
}

// podIndex holds the pods on the pod network, by address, and the labels of the
// namespaces.
type podIndex struct {
	pods       []pod
	namespaces map[string]labels.Set
}

type pod struct {
	*corev1.Pod
	address netip.Addr
}

func newPodIndex(pods []*corev1.Pod, namespaces []*corev1.Namespace) podIndex {
	known := podIndex{namespaces: make(map[string]labels.Set, len(namespaces))}
	for _, namespace := range namespaces {
		known.namespaces[namespace.Name] = namespace.Labels
	}
	for _, candidate := range pods {
		if address, err := netip.ParseAddr(candidate.Status.PodIP); err == nil && isOnPodNetwork(candidate) {
			known.pods = append(known.pods, pod{candidate, address})
		}
	}
	slices.SortFunc(known.pods, func(a, b pod) int { return a.address.Compare(b.address) })
	return known
}

func isOnPodNetwork(pod *corev1.Pod) bool {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return !ended && !pod.Spec.HostNetwork
}

func (p podIndex) filter(wanted func(pod) bool) []pod {
	var chosen []pod
	for _, candidate := range p.pods {
		if wanted(candidate) {
			chosen = append(chosen, candidate)
		}
	}
	return chosen
}

func addresses(pods []pod) []netip.Addr {
	list := make([]netip.Addr, 0, len(pods))
	for _, pod := range pods {
		list = append(list, pod.address)
	}
	return sortedUnique(list)
}

func sortedUnique(addresses []netip.Addr) []netip.Addr {
	addresses = slices.Clone(addresses)
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

func hostPrefixes(pods []pod) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(pods))
	for _, address := range addresses(pods) {
		list = append(list, netip.PrefixFrom(address, address.BitLen()))
	}
	return list
}
