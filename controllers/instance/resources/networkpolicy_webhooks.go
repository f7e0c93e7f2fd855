// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// defaultWebhookPort is the port of webhooks unless the spec sets ports.
const defaultWebhookPort = 443

// blockedReceiverNetworks are networks that webhooks never reach, whatever the Instance
// allows: loopback, link-local and multicast addresses, and cloud metadata services.
var blockedReceiverNetworks = slices.Concat(mustParsePrefixes(
	"0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "ff00::/8"), metadataNetworks)

// privateReceiverNetworks are networks that webhooks reach only if the Instance allows it:
// the networks in IANA's special-purpose address registries that are not reachable from
// the internet.
var privateReceiverNetworks = mustParsePrefixes(
	"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"64:ff9b:1::/48", "100::/64", "2001:db8::/32", "2002::/16", "fc00::/7", "fec0::/10")

func mustParsePrefixes(values ...string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(values))
	for i, value := range values {
		prefixes[i] = netip.MustParsePrefix(value)
	}
	return prefixes
}

// WebhookPorts returns the ports that webhooks may be sent to, in ascending order.
func WebhookPorts(instance *v1alpha1.Instance) []int32 {
	if webhooks := instance.Spec.Webhooks; webhooks != nil && len(webhooks.AllowedPorts) > 0 {
		return slices.Sorted(slices.Values(webhooks.AllowedPorts))
	}
	return []int32{defaultWebhookPort}
}

// WebhookCAReference returns the reference to the receivers' CA bundle, or nil if only
// public CAs are trusted.
func WebhookCAReference(instance *v1alpha1.Instance) *v1alpha1.CABundleReference {
	if instance.Spec.Webhooks == nil {
		return nil
	}
	return instance.Spec.Webhooks.CARef
}

// receiverEgress allows webhook receivers at public addresses and, if the Instance allows
// it, at private addresses, which may belong to pods. The server applies the same rules to
// each address that it connects to.
func receiverEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	for _, port := range WebhookPorts(in.Instance) {
		rule.WithPorts(policyPort(corev1.ProtocolTCP, port))
	}
	blocked := slices.Concat(blockedReceiverNetworks, in.WebhookBlockedNetworks)
	if webhooks := in.Instance.Spec.Webhooks; webhooks != nil && webhooks.AllowPrivateAddresses {
		return rule.WithTo(anywherePeers(dropContained(withNAT64(blocked)))...)
	}
	blocked = dropContained(withNAT64(append(blocked, privateReceiverNetworks...)))
	return rule.WithTo(
		ipBlockPeer(netip.MustParsePrefix("0.0.0.0/0"), blocked),
		ipBlockPeer(netip.MustParsePrefix("::/0"), blocked))
}

// nat64Prefix is the NAT64 prefix, which maps IPv4 addresses to IPv6 addresses.
var nat64Prefix = netip.MustParsePrefix("64:ff9b::/96")

// withNAT64 returns the networks and the NAT64 addresses of the IPv4 networks.
func withNAT64(networks []netip.Prefix) []netip.Prefix {
	withMapped := slices.Clone(networks)
	for _, network := range networks {
		if !network.Addr().Is4() {
			continue
		}
		mapped, ipv4 := nat64Prefix.Addr().As16(), network.Addr().As4()
		copy(mapped[12:], ipv4[:])
		withMapped = append(withMapped, netip.PrefixFrom(netip.AddrFrom16(mapped), nat64Prefix.Bits()+network.Bits()))
	}
	return withMapped
}

// dropContained returns the networks that no other network contains.
func dropContained(networks []netip.Prefix) []netip.Prefix {
	var kept []netip.Prefix
	for _, network := range networks {
		isContaining := func(other netip.Prefix) bool {
			return other.Bits() < network.Bits() && other.Contains(network.Addr())
		}
		if !slices.ContainsFunc(networks, isContaining) {
			kept = append(kept, network)
		}
	}
	return kept
}
