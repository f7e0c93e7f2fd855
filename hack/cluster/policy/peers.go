// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// peerGroup is a group of peers that one rule can express, with the known pods among
// them, which are needed to resolve named ports.
type peerGroup struct {
	Peers
	pods []pod
}

func (p podIndex) selectedBy(policy *networkingv1.NetworkPolicy) []pod {
	return p.filter(func(candidate pod) bool {
		return candidate.Namespace == policy.Namespace && matches(&policy.Spec.PodSelector, candidate.Labels)
	})
}

// peers converts the peers of a rule to groups: all addresses if the list is empty,
// else one group of all selected pods and one group per IP block. If no peer matches,
// the result is empty and the rule allows nothing.
func (p podIndex) peers(namespace string, peers []networkingv1.NetworkPolicyPeer) []peerGroup {
	if len(peers) == 0 {
		return []peerGroup{{pods: p.pods}}
	}
	var groups []peerGroup
	var pods []pod
	for _, peer := range peers {
		if peer.IPBlock != nil {
			groups = append(groups, p.ipBlockPeers(peer.IPBlock)...)
			continue
		}
		pods = append(pods, p.filter(func(candidate pod) bool { return p.isPeer(namespace, peer, candidate) })...)
	}
	if len(pods) > 0 {
		groups = append(groups, peerGroup{Peers: Peers{Prefixes: hostPrefixes(pods)}, pods: pods})
	}
	return groups
}

func (p podIndex) isPeer(namespace string, peer networkingv1.NetworkPolicyPeer, candidate pod) bool {
	inNamespace := candidate.Namespace == namespace
	if peer.NamespaceSelector != nil {
		inNamespace = matches(peer.NamespaceSelector, p.namespaces[candidate.Namespace])
	}
	return inNamespace && (peer.PodSelector == nil || matches(peer.PodSelector, candidate.Labels))
}

// ipBlockPeers returns no group for an IPv6 block, because the cluster has no IPv6
// addresses.
func (p podIndex) ipBlockPeers(ipBlockPeers *networkingv1.IPBlock) []peerGroup {
	prefix, err := netip.ParsePrefix(ipBlockPeers.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return nil
	}
	peers := Peers{Prefixes: []netip.Prefix{prefix.Masked()}}
	for _, text := range ipBlockPeers.Except {
		if except, err := netip.ParsePrefix(text); err == nil {
			peers.Except = append(peers.Except, except.Masked())
		}
	}
	peers.Except = removeNested(peers.Except)
	return []peerGroup{{Peers: peers, pods: p.filter(func(candidate pod) bool { return peers.contains(candidate.address) })}}
}

func (p Peers) contains(address netip.Addr) bool {
	contains := func(prefix netip.Prefix) bool { return prefix.Contains(address) }
	return slices.ContainsFunc(p.Prefixes, contains) && !slices.ContainsFunc(p.Except, contains)
}

// removeNested removes prefixes contained in others, which nftables rejects within one
// set.
func removeNested(prefixes []netip.Prefix) []netip.Prefix {
	slices.SortFunc(prefixes, netip.Prefix.Compare)
	var kept []netip.Prefix
	for _, prefix := range prefixes {
		if len(kept) == 0 || !kept[len(kept)-1].Overlaps(prefix) {
			kept = append(kept, prefix)
		}
	}
	return kept
}

// matches returns false for a selector that the API server would not have accepted.
func matches(selector *metav1.LabelSelector, set labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(set)
}
