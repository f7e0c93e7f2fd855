// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"
)

// privateIPv4 and privateIPv6 are what a webhook must not reach: networks of
// the cluster, of the nodes and of the cloud's metadata.
var (
	privateIPv4 = []string{"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
	privateIPv6 = []string{"fc00::/7", "fe80::/10"}
)

// webhookPort is where webhooks would have been sent.
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
