// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// dnsPorts are the ports of the cluster's DNS resolver: the Service port 53, and the
// target port of its pods, because policies match pod addresses rather than Services.
var dnsPorts = []int32{53, 5353}

// nodeLocalResolver is the address of NodeLocal DNSCache on every node.
var nodeLocalResolver = netip.MustParsePrefix("169.254.20.10/32")

// metadataNetworks are the addresses of cloud metadata services, which issue node
// credentials: link-local addresses, and others of Azure, Alibaba, Amazon and Google.
var metadataNetworks = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::254/128"),
	netip.MustParsePrefix("fd20:ce::254/128"),
}

// BuildNetworkPolicy returns the network policy of an Instance's pods. It opens the tenant
// port to all clients, and the admin port to pods and namespaces with AdminAccessLabel.
// The pods may only reach the cluster's DNS resolver, the external database, message
// gateways and webhook receivers.
//
// Allowed resolvers are CoreDNS or kube-dns in kube-system with the usual label
// k8s-app=kube-dns, OpenShift's DNS, NodeLocal DNSCache, and the addresses in
// Input.DNSResolvers. If NodeLocal DNSCache listens on the address of the resolver's
// Service (kube-proxy with iptables), Input.DNSResolvers must include that address.
//
// The database is reachable in the networks of the spec. If unset, it is reachable
// anywhere except at the Kubernetes API and cloud metadata services, because a policy
// cannot match hosts by name.
func BuildNetworkPolicy(in Input) *networkapply.NetworkPolicyApplyConfiguration {
	spec := networkapply.NetworkPolicySpec().
		WithPodSelector(metaapply.LabelSelector().WithMatchLabels(instanceSelector(in.Instance))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
		WithIngress(tenantIngress(), adminIngress()).
		WithEgress(resolverEgress(in))
	if database := databaseEgress(in); database != nil {
		spec.WithEgress(database)
	}
	if notifications := notificationEgress(in); notifications != nil {
		spec.WithEgress(notifications)
	}
	spec.WithEgress(receiverEgress(in))
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

// resolverEgress allows only the cluster's DNS resolver, because pods that may query any
// resolver could exfiltrate data in DNS names.
func resolverEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	for _, port := range dnsPorts {
		rule.WithPorts(policyPort(corev1.ProtocolUDP, port), policyPort(corev1.ProtocolTCP, port))
	}
	return rule.WithTo(resolverPeers(in.DNSResolvers)...)
}

func resolverPeers(resolvers []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	peers := make([]*networkapply.NetworkPolicyPeerApplyConfiguration, 0, 3+len(resolvers))
	peers = append(peers,
		podPeer("kube-system", "k8s-app", "kube-dns"),
		podPeer("openshift-dns", "dns.operator.openshift.io/daemonset-dns", "default"),
		ipBlockPeer(nodeLocalResolver, nil))
	for _, resolver := range resolvers {
		peers = append(peers, ipBlockPeer(resolver.Masked(), nil))
	}
	return peers
}

// podPeer selects the pods with a label in a namespace, which it selects by the name label
// that Kubernetes sets on every namespace.
func podPeer(namespace, label, value string) *networkapply.NetworkPolicyPeerApplyConfiguration {
	return networkapply.NetworkPolicyPeer().
		WithNamespaceSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: namespace})).
		WithPodSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{label: value}))
}

// databaseEgress allows the ports of the database. It returns nil if there is no database
// or all its networks are blocked, because a rule without peers would allow everything.
func databaseEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	database := StorageFor(in.Instance).database
	if database == nil {
		return nil
	}
	rule := networkapply.NetworkPolicyEgressRule().WithPorts(databasePorts(in)...)
	if len(database.networks) > 0 {
		rule.WithTo(networkPeers(database.networks, blockedNetworks(in))...)
	} else {
		rule.WithTo(anywherePeers(blockedNetworks(in))...)
	}
	if len(rule.To) == 0 {
		return nil
	}
	return rule
}

// databasePorts returns the ports of the database URL and the ports of a restored
// template, whose pods may use another URL.
func databasePorts(in Input) []*networkapply.NetworkPolicyPortApplyConfiguration {
	urlPorts := in.DatabasePorts
	if len(urlPorts) == 0 {
		urlPorts = []int32{defaultDatabasePort}
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(slices.Concat(urlPorts, in.RollbackPorts))))
	ports := make([]*networkapply.NetworkPolicyPortApplyConfiguration, 0, len(numbers))
	for _, port := range numbers {
		ports = append(ports, policyPort(corev1.ProtocolTCP, port))
	}
	return ports
}

// databaseRuleIndex is the index of the database rule: after the resolver's rule and
// before the rule for senders of messages.
const databaseRuleIndex = 1

// DatabasePortsFromPolicy returns the TCP ports that a live policy opens for an Instance's
// database, or nil if the Instance has no database. These are the ports that belong to
// neither the resolver nor message gateways nor webhook receivers.
func DatabasePortsFromPolicy(instance *v1alpha1.Instance, policy *networkingv1.NetworkPolicy) []int32 {
	if StorageFor(instance).database == nil {
		return nil
	}
	var ports []int32
	for i, rule := range policy.Spec.Egress {
		if i > databaseRuleIndex {
			break
		}
		for _, port := range rule.Ports {
			if port.Port == nil || ptr.Deref(port.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
				continue
			}
			if number := port.Port.IntVal; number != defaultWebhookPort && !slices.Contains(dnsPorts, number) {
				ports = append(ports, number)
			}
		}
	}
	return ports
}

// networkPeers returns peers for the networks of a spec, except blocked networks.
func networkPeers(networks []v1alpha1.CIDR, blocked []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	var peers []*networkapply.NetworkPolicyPeerApplyConfiguration
	for _, network := range networks {
		prefix, err := netip.ParsePrefix(string(network))
		if err != nil {
			continue // the API server rejects invalid networks, and skipping a network is safe
		}
		if peer := ipBlockPeer(prefix.Masked(), blocked); peer != nil {
			peers = append(peers, peer)
		}
	}
	return peers
}

// anywherePeers returns peers for hosts with unknown addresses: every address that is not
// blocked, and every pod, because some network plugins, such as Cilium, apply IP blocks
// only to addresses outside the cluster. It excludes the namespaces in which the
// Kubernetes API may run as a pod.
func anywherePeers(blocked []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	return []*networkapply.NetworkPolicyPeerApplyConfiguration{
		ipBlockPeer(netip.MustParsePrefix("0.0.0.0/0"), blocked),
		ipBlockPeer(netip.MustParsePrefix("::/0"), blocked),
		networkapply.NetworkPolicyPeer().WithNamespaceSelector(metaapply.LabelSelector().
			WithMatchExpressions(metaapply.LabelSelectorRequirement().
				WithKey(corev1.LabelMetadataName).
				WithOperator(metav1.LabelSelectorOpNotIn).
				WithValues("kube-system", "openshift-kube-apiserver"))),
	}
}

// blockedNetworks returns sensitive networks that contain no database. Without it, users
// could open the ports of the Kubernetes API, because they choose the database URL and
// thereby its ports.
func blockedNetworks(in Input) []netip.Prefix {
	return slices.Concat(in.KubernetesAPINetworks, metadataNetworks)
}

// ipBlockPeer returns a peer for a network except its blocked parts, or nil if the entire
// network is blocked.
func ipBlockPeer(network netip.Prefix, blocked []netip.Prefix) *networkapply.NetworkPolicyPeerApplyConfiguration {
	var except []netip.Prefix
	for _, prefix := range blocked {
		prefix = prefix.Masked()
		switch {
		case !prefix.Overlaps(network):
		case prefix.Bits() <= network.Bits():
			return nil
		default:
			except = append(except, prefix)
		}
	}
	slices.SortFunc(except, netip.Prefix.Compare)
	block := networkapply.IPBlock().WithCIDR(network.String())
	for _, prefix := range slices.Compact(except) {
		block.WithExcept(prefix.String())
	}
	return networkapply.NetworkPolicyPeer().WithIPBlock(block)
}

func policyPort(protocol corev1.Protocol, port int32) *networkapply.NetworkPolicyPortApplyConfiguration {
	return networkapply.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(port))
}
