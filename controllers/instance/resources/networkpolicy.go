// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"
)

// dnsPorts are where the cluster's resolver is asked: 53, or what stands behind
// it, since a policy sees the address of the pod and not of the Service.
var dnsPorts = []int32{53, 5353}

// privateIPv4 and privateIPv6 are what a webhook must not reach: networks of
// the cluster, of the nodes and of the cloud's metadata.
var (
	privateIPv4 = []string{"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
	privateIPv6 = []string{"fc00::/7", "fe80::/10"}
)

// BuildNetworkPolicy lets anyone reach the tenant port, and only what carries
// AdminAccessLabel the admin port. The pods themselves reach the resolver, the
// external database, and webhooks at public addresses; nothing else.
func BuildNetworkPolicy(in Input) *networkapply.NetworkPolicyApplyConfiguration {
	spec := networkapply.NetworkPolicySpec().
		WithPodSelector(metaapply.LabelSelector().WithMatchLabels(ownSelector(in.Instance))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
		WithIngress(tenantIngress(), adminIngress()).
		WithEgress(dnsEgress())
	if in.Instance.Spec.Storage.External != nil {
		spec.WithEgress(databaseEgress(in.DatabasePorts))
	}
	spec.WithEgress(webhookEgress())
	return networkapply.NetworkPolicy(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithSpec(spec)
}

func tenantIngress() *networkapply.NetworkPolicyIngressRuleApplyConfiguration {
	return networkapply.NetworkPolicyIngressRule().WithPorts(policyPort(corev1.ProtocolTCP, tenantPort))
}

func adminIngress() *networkapply.NetworkPolicyIngressRuleApplyConfiguration {
	allowed := metaapply.LabelSelector().WithMatchLabels(map[string]string{AdminAccessLabel: "true"})
	return networkapply.NetworkPolicyIngressRule().
		WithFrom(
			networkapply.NetworkPolicyPeer().WithNamespaceSelector(allowed),
			networkapply.NetworkPolicyPeer().WithPodSelector(allowed)).
		WithPorts(policyPort(corev1.ProtocolTCP, adminPort))
}

func dnsEgress() *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	for _, port := range dnsPorts {
		rule.WithPorts(policyPort(corev1.ProtocolUDP, port), policyPort(corev1.ProtocolTCP, port))
	}
	return rule
}

// databaseEgress cannot name the database's addresses: its host is a name, and
// what it resolves to changes.
func databaseEgress(ports []int32) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	if len(ports) == 0 {
		ports = []int32{defaultDatabasePort}
	}
	for _, port := range ports {
		rule.WithPorts(policyPort(corev1.ProtocolTCP, port))
	}
	return rule
}

func webhookEgress() *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	return networkapply.NetworkPolicyEgressRule().
		WithTo(
			networkapply.NetworkPolicyPeer().WithIPBlock(networkapply.IPBlock().
				WithCIDR("0.0.0.0/0").WithExcept(privateIPv4...)),
			networkapply.NetworkPolicyPeer().WithIPBlock(networkapply.IPBlock().
				WithCIDR("::/0").WithExcept(privateIPv6...))).
		WithPorts(policyPort(corev1.ProtocolTCP, 443))
}

func policyPort(protocol corev1.Protocol, port int32) *networkapply.NetworkPolicyPortApplyConfiguration {
	return networkapply.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(port))
}
