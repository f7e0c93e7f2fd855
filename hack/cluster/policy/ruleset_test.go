// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestScript(t *testing.T) {
	t.Parallel()
	rules := Ruleset{
		IsolatedIngress: parseAddrs("10.0.0.1"),
		IsolatedEgress:  parseAddrs("10.0.0.1", "10.0.0.2"),
		Ingress: []Rule{
			{Policy: "a/web", Pods: parseAddrs("10.0.0.1"), Peers: Peers{Prefixes: parsePrefixes("10.0.0.2/32", "10.0.0.3/32")}, Protocol: corev1.ProtocolTCP, Ports: []PortRange{{443, 443}, {8000, 8100}}},
			{Policy: "a/all", Pods: parseAddrs("10.0.0.1")},
		},
		Egress: []Rule{
			{Policy: "a/out", Pods: parseAddrs("10.0.0.2"), Peers: Peers{Prefixes: parsePrefixes("0.0.0.0/0"), Except: parsePrefixes("10.0.0.0/8")}, Protocol: corev1.ProtocolUDP, Ports: []PortRange{{53, 53}}},
		},
	}
	want := `add table inet network_policy
delete table inet network_policy
table inet network_policy {
	set isolated_ingress { type ipv4_addr; elements = { 10.0.0.1 } }
	set isolated_egress { type ipv4_addr; elements = { 10.0.0.1, 10.0.0.2 } }
	set itself { type ipv4_addr . ipv4_addr; elements = { 10.0.0.1 . 10.0.0.1, 10.0.0.2 . 10.0.0.2 } }
	chain forward {
		type filter hook forward priority filter; policy accept;
		ct state established,related accept
		ip saddr . ip daddr @itself accept
		ip saddr @isolated_egress jump egress
		ip daddr @isolated_ingress jump ingress
	}
	chain input {
		type filter hook input priority filter; policy accept;
		ct state established,related accept
		ip saddr @isolated_egress jump egress
	}
	chain ingress {
		ip daddr { 10.0.0.1 } ip saddr { 10.0.0.2/32, 10.0.0.3/32 } tcp dport { 443, 8000-8100 } return comment "a/web"
		ip daddr { 10.0.0.1 } return comment "a/all"
		drop
	}
	chain egress {
		ip saddr { 10.0.0.2 } ip daddr { 0.0.0.0/0 } ip daddr != { 10.0.0.0/8 } udp dport { 53 } return comment "a/out"
		drop
	}
}
`
	if diff := cmp.Diff(want, rules.Script()); diff != "" {
		t.Error(diff)
	}
}

func TestScriptWithoutPods(t *testing.T) {
	t.Parallel()
	script := Ruleset{}.Script()
	if !strings.Contains(script, "set isolated_ingress { type ipv4_addr; }") || strings.Contains(script, "return") {
		t.Errorf("got script without policies:\n%s", script)
	}
}

func TestScriptTruncatesComments(t *testing.T) {
	t.Parallel()
	script := Ruleset{Ingress: []Rule{{Policy: strings.Repeat("n", 63) + "/" + strings.Repeat("p", 253), Pods: parseAddrs("10.0.0.1")}}}.Script()
	if !strings.Contains(script, `comment "`+strings.Repeat("n", 63)+"/"+strings.Repeat("p", 56)+`"`) {
		t.Errorf("comment was not truncated:\n%s", script)
	}
}
