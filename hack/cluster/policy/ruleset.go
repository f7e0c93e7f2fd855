// SPDX-License-Identifier: Apache-2.0

// Package policy enforces NetworkPolicies on the node: it watches pods,
// namespaces and policies, compiles them into a ruleset by a pure function and
// hands that to nftables as one transaction whenever it changes. It keeps a
// table of its own and touches no other. The node itself always reaches its
// pods, as the kubelet's probes must.
package policy

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Ruleset is the policies of a cluster in terms of addresses: who is isolated
// in a direction may do there only what a rule allows.
type Ruleset struct {
	IsolatedIngress, IsolatedEgress []netip.Addr
	Ingress, Egress                 []Rule
}

// Rule allows connections between pods that a policy selects and their peers:
// from the peers in Ruleset.Ingress, to the peers in Ruleset.Egress.
type Rule struct {
	// Policy is where the rule comes from, as namespace/name.
	Policy string
	Pods   []netip.Addr
	Peers  Peers
	// Protocol is empty for all protocols; then there are no Ports.
	Protocol corev1.Protocol
	Ports    []PortRange
}

// Peers are those within a prefix but not within an exception. No prefix means
// everybody.
type Peers struct {
	Prefixes, Except []netip.Prefix
}

// PortRange reaches from First to Last, both included.
type PortRange struct{ First, Last int32 }

// table is what the ruleset is kept in; nobody else writes there.
const table = "inet network_policy"

// Script is the ruleset as input of `nft -f`, which replaces the one before it
// as a whole.
//
// Pods talk to each other and to the world through the forward hook, to the
// node's addresses through the input hook. Both see addresses as they are
// behind a Service. What the node itself sends passes neither.
func (r Ruleset) Script() string {
	var script strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	line("add table %s", table)
	line("delete table %s", table)
	line("table %s {", table)
	line("\tset isolated_ingress { type ipv4_addr; %s}", elements(r.IsolatedIngress))
	line("\tset isolated_egress { type ipv4_addr; %s}", elements(r.IsolatedEgress))
	line("\tset itself { type ipv4_addr . ipv4_addr; %s}", elements(pairs(ordered(append(r.IsolatedIngress, r.IsolatedEgress...)))))
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

// writeChain ends in a drop: what no rule sends back to the caller goes there.
func writeChain(line func(string, ...any), name, pods, peers string, rules []Rule) {
	line("\tchain %s {", name)
	for _, rule := range rules {
		match := "ip " + pods + " " + braces(rule.Pods)
		if len(rule.Peers.Prefixes) > 0 {
			match += " ip " + peers + " " + braces(rule.Peers.Prefixes)
		}
		if len(rule.Peers.Except) > 0 {
			match += " ip " + peers + " != " + braces(rule.Peers.Except)
		}
		if rule.Protocol != "" {
			match += " " + strings.ToLower(string(rule.Protocol)) + " dport " + braces(rule.Ports)
		}
		line("\t\t%s return comment %q", match, comment(rule.Policy))
	}
	line("\t\tdrop")
	line("\t}")
}

// comment fits into the 128 bytes that nftables has for one.
func comment(policy string) string {
	return policy[:min(len(policy), 120)]
}

// String writes the range as nftables reads it.
func (p PortRange) String() string {
	if p.First == p.Last {
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

func pairs(addresses []netip.Addr) []string {
	list := make([]string, 0, len(addresses))
	for _, address := range addresses {
		list = append(list, fmt.Sprintf("%s . %s", address, address))
	}
	return list
}

func elements[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return "elements = " + braces(list) + " "
}

func braces[T any](list []T) string {
	words := make([]string, 0, len(list))
	for _, element := range list {
		words = append(words, fmt.Sprint(element))
	}
	return "{ " + strings.Join(words, ", ") + " }"
}
