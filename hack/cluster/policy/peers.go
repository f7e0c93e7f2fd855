// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// group is peers that one rule can name, with the pods among them as far as
// they are known: named ports are looked up there.
type group struct {
	Peers
	pods []pod
}

func (d directory) selectedBy(policy *networkingv1.NetworkPolicy) []pod {
	return d.choose(func(candidate pod) bool {
		return candidate.Namespace == policy.Namespace && matches(&policy.Spec.PodSelector, candidate.Labels)
	})
}

// peers turns the peers of a rule into groups: everybody when there is none,
// else one group of all pods that are selected and one for each block. It is
// empty when nobody matches, and then the rule allows nobody.
func (d directory) peers(namespace string, peers []networkingv1.NetworkPolicyPeer) []group {
	if len(peers) == 0 {
		return []group{{pods: d.pods}}
	}
	var groups []group
	var pods []pod
	for _, peer := range peers {
		if peer.IPBlock != nil {
			groups = append(groups, d.block(peer.IPBlock)...)
			continue
		}
		pods = append(pods, d.choose(func(candidate pod) bool { return d.isPeer(namespace, peer, candidate) })...)
	}
	if len(pods) > 0 {
		groups = append(groups, group{Peers: Peers{Prefixes: single(pods)}, pods: pods})
	}
	return groups
}

func (d directory) isPeer(namespace string, peer networkingv1.NetworkPolicyPeer, candidate pod) bool {
	inNamespace := candidate.Namespace == namespace
	if peer.NamespaceSelector != nil {
		inNamespace = matches(peer.NamespaceSelector, d.namespaces[candidate.Namespace])
	}
	return inNamespace && (peer.PodSelector == nil || matches(peer.PodSelector, candidate.Labels))
}

// block is no group for a block of IPv6, in which no address here is.
func (d directory) block(block *networkingv1.IPBlock) []group {
	prefix, err := netip.ParsePrefix(block.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return nil
	}
	peers := Peers{Prefixes: []netip.Prefix{prefix.Masked()}}
	for _, text := range block.Except {
		if except, err := netip.ParsePrefix(text); err == nil {
			peers.Except = append(peers.Except, except.Masked())
		}
	}
	peers.Except = disjoint(peers.Except)
	return []group{{Peers: peers, pods: d.choose(func(candidate pod) bool { return peers.include(candidate.address) })}}
}

func (p Peers) include(address netip.Addr) bool {
	contains := func(prefix netip.Prefix) bool { return prefix.Contains(address) }
	return slices.ContainsFunc(p.Prefixes, contains) && !slices.ContainsFunc(p.Except, contains)
}

// disjoint leaves out prefixes within others, which nftables would refuse in
// one set.
func disjoint(prefixes []netip.Prefix) []netip.Prefix {
	slices.SortFunc(prefixes, netip.Prefix.Compare)
	var kept []netip.Prefix
	for _, prefix := range prefixes {
		if len(kept) == 0 || !kept[len(kept)-1].Overlaps(prefix) {
			kept = append(kept, prefix)
		}
	}
	return kept
}

// matches is false for a selector that the API server would not have let in.
func matches(selector *metav1.LabelSelector, set labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(set)
}
