// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// privateIPv4 and privateIPv6 are what a webhook must not reach: networks of
// the cluster, of the nodes and of the cloud's metadata.
var (
	privateIPv4 = []string{"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
	privateIPv6 = []string{"fc00::/7", "fe80::/10"}
)

// webhookPort is where webhooks would have been sent, and are, where the spec says
// nothing else.
const webhookPort = 443

// webhookEgress was there before there were webhooks, and up to revision 2.
func webhookEgress() *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	return networkapply.NetworkPolicyEgressRule().
		WithTo(
			networkapply.NetworkPolicyPeer().WithIPBlock(networkapply.IPBlock().
				WithCIDR("0.0.0.0/0").WithExcept(privateIPv4...)),
			networkapply.NetworkPolicyPeer().WithIPBlock(networkapply.IPBlock().
				WithCIDR("::/0").WithExcept(privateIPv6...))).
		WithPorts(policyPort(corev1.ProtocolTCP, webhookPort))
}

// neverReceivers are where no webhook goes, whatever the Instance allows: this
// host, its link, many at once, and what hands out credentials of nodes.
var neverReceivers = slices.Concat(prefixes(
	"0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "ff00::/8"), metadataNetworks)

// privateReceivers are where webhooks go only when the Instance allows it: what
// is not reached from the internet, by the registries of special addresses of IANA.
var privateReceivers = prefixes(
	"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"64:ff9b:1::/48", "100::/64", "2001:db8::/32", "2002::/16", "fc00::/7", "fec0::/10")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// WebhookPorts are those that webhooks may be sent to, in order.
func WebhookPorts(instance *v1alpha1.Instance) []int32 {
	if wanted := instance.Spec.Webhooks; wanted != nil && len(wanted.AllowedPorts) > 0 {
		return slices.Sorted(slices.Values(wanted.AllowedPorts))
	}
	return []int32{webhookPort}
}

// WebhookAuthorities refers to the authorities of receivers; nil for none but the
// public ones.
func WebhookAuthorities(instance *v1alpha1.Instance) *v1alpha1.CertificateReference {
	if instance.Spec.Webhooks == nil {
		return nil
	}
	return instance.Spec.Webhooks.CARef
}

// receiverEgress reaches the receivers of webhooks: public addresses, and where
// the Instance allows it others too, which pods may have. The server judges each
// address in the same way when it connects, so that both open together.
func receiverEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	for _, port := range WebhookPorts(in.Instance) {
		rule.WithPorts(policyPort(corev1.ProtocolTCP, port))
	}
	closed := slices.Concat(neverReceivers, in.ClosedToWebhooks)
	if wanted := in.Instance.Spec.Webhooks; wanted != nil && wanted.AllowPrivateAddresses {
		return rule.WithTo(anywherePeers(outermost(withTranslated(closed)))...)
	}
	closed = outermost(withTranslated(append(closed, privateReceivers...)))
	return rule.WithTo(
		blockPeer(netip.MustParsePrefix("0.0.0.0/0"), closed),
		blockPeer(netip.MustParsePrefix("::/0"), closed))
}

// translation is where NAT64 shows addresses of IPv4 to those that have IPv6 alone.
var translation = netip.MustParsePrefix("64:ff9b::/96")

// withTranslated are networks, and those of IPv4 among them as NAT64 shows them.
func withTranslated(networks []netip.Prefix) []netip.Prefix {
	all := slices.Clone(networks)
	for _, network := range networks {
		if !network.Addr().Is4() {
			continue
		}
		shown, embedded := translation.Addr().As16(), network.Addr().As4()
		copy(shown[12:], embedded[:])
		all = append(all, netip.PrefixFrom(netip.AddrFrom16(shown), translation.Bits()+network.Bits()))
	}
	return all
}

// outermost are the networks that are not within another of them.
func outermost(networks []netip.Prefix) []netip.Prefix {
	var kept []netip.Prefix
	for _, network := range networks {
		within := func(other netip.Prefix) bool {
			return other.Bits() < network.Bits() && other.Contains(network.Addr())
		}
		if !slices.ContainsFunc(networks, within) {
			kept = append(kept, network)
		}
	}
	return kept
}
