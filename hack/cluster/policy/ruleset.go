// SPDX-License-Identifier: Apache-2.0

// Package policy enforces NetworkPolicies on the node. It watches pods, namespaces and
// policies, compiles them into a ruleset with a pure function, and applies the ruleset
// to nftables in one transaction whenever it changes. It uses its own table and does
// not touch any other. The node can always reach its pods, as the kubelet's probes
// require.
package policy

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Ruleset expresses the policies of a cluster in terms of addresses. For an
// address that is isolated in a direction, only connections that a rule for that direction
// allows are accepted.
type Ruleset struct {
	IsolatedIngress, IsolatedEgress []netip.Addr
	Ingress, Egress                 []Rule
}

// Rule allows connections between the pods that a policy selects and their peers: from
// the peers in Ruleset.Ingress, to the peers in Ruleset.Egress.
type Rule struct {
	// Policy is the source of the rule, as namespace/name.
	Policy string
	Pods   []netip.Addr
	Peers  Peers
	// Protocol is empty for all protocols. In that case there are no Ports.
	Protocol corev1.Protocol
	Ports    []PortRange
}

// Peers are the addresses in a prefix and not in an exception. No prefix means all
// addresses.
type Peers struct {
	Prefixes, Except []netip.Prefix
}

// PortRange is an inclusive range of ports.
type PortRange struct{ First, Last int32 }

// tableName is the table of the ruleset, used by nothing else.
const tableName = "inet network_policy"

// Script returns the ruleset as input of `nft -f`. It replaces the previous ruleset as
// a whole.
//
// Traffic of pods to each other and to the outside passes the forward hook, traffic to
// the node's addresses the input hook. Both see addresses after Service translation.
// Traffic from the node itself passes neither.
func (r Ruleset) Script() string {
	var script strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	line("add table %s", tableName)
	line("delete table %s", tableName)
	line("table %s {", tableName)
	line("\tset isolated_ingress { type ipv4_addr; %s}", formatElements(r.IsolatedIngress))
	line("\tset isolated_egress { type ipv4_addr; %s}", formatElements(r.IsolatedEgress))
	line("\tset itself { type ipv4_addr . ipv4_addr; %s}", formatElements(selfPairs(sortedUnique(append(r.IsolatedIngress, r.IsolatedEgress...)))))
	line("\tchain forward {")
	line("\t\ttype filter hook forward priority filter; policy accept;")
	line("\t\tct state established,related accept")
	line("\t\tip saddr . ip daddr @itself accept")
	line("\t\tip saddr @isolated_egress jump egress")
	line("\t\tip daddr @isolated_ingress jump ingress")
	line("\t}")
	line("\tchain input {")
	line("\t\ttype filter hook input priority filter; policy accept;")
	line("\t\tct state established,related accept")
	line("\t\tip saddr @isolated_egress jump egress")
	line("\t}")
	writeChain(line, "ingress", "daddr", "saddr", r.Ingress)
	writeChain(line, "egress", "saddr", "daddr", r.Egress)
	line("}")
	return script.String()
}

// writeChain writes a chain that drops packets unless a rule returns them to the calling
// chain.
func writeChain(line func(string, ...any), name, pods, peers string, rules []Rule) {
	line("\tchain %s {", name)
	for _, rule := range rules {
		match := "ip " + pods + " " + formatSet(rule.Pods)
		if len(rule.Peers.Prefixes) > 0 {
			match += " ip " + peers + " " + formatSet(rule.Peers.Prefixes)
		}
		if len(rule.Peers.Except) > 0 {
			match += " ip " + peers + " != " + formatSet(rule.Peers.Except)
		}
		if rule.Protocol != "" {
			match += " " + strings.ToLower(string(rule.Protocol)) + " dport " + formatSet(rule.Ports)
		}
		line("\t\t%s return comment %q", match, truncateComment(rule.Policy))
	}
	line("\t\tdrop")
	line("\t}")
}

// truncateComment truncates a comment to nftables' limit of 128 bytes.
func truncateComment(policy string) string {
	return policy[:min(len(policy), 120)]
}

// String formats the range in nftables syntax.
func (p PortRange) String() string {
	if p.First == p.Last {
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

func selfPairs(addresses []netip.Addr) []string {
	list := make([]string, 0, len(addresses))
	for _, address := range addresses {
		list = append(list, fmt.Sprintf("%s . %s", address, address))
	}
	return list
}

func formatElements[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return "elements = " + formatSet(list) + " "
}

func formatSet[T any](list []T) string {
	words := make([]string, 0, len(list))
	for _, element := range list {
		words = append(words, fmt.Sprint(element))
	}
	return "{ " + strings.Join(words, ", ") + " }"
}
