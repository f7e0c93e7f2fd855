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

// dnsPorts are where the cluster's resolver is asked: 53, or what stands behind
// it, since a policy sees the address of the pod and not of the Service.
var dnsPorts = []int32{53, 5353}

// nodeLocalResolver is where NodeLocal DNSCache listens on every node.
var nodeLocalResolver = netip.MustParsePrefix("169.254.20.10/32")

// metadataNetworks are where clouds hand out credentials of nodes: link-local
// addresses, and others of Azure, Alibaba, Amazon and Google.
var metadataNetworks = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::254/128"),
	netip.MustParsePrefix("fd20:ce::254/128"),
}

// BuildNetworkPolicy lets anyone reach the tenant port, and only what carries
// AdminAccessLabel the admin port. The pods themselves reach the cluster's
// resolver, the external database, the senders of messages and the receivers of
// webhooks; nothing else.
//
// The resolver is CoreDNS or kube-dns as nearly every cluster has it, in
// kube-system with the label k8s-app=kube-dns; that of OpenShift; NodeLocal
// DNSCache; and what Input.Resolvers adds. Where NodeLocal DNSCache answers at the
// address of the resolver's Service (kube-proxy with iptables), that address must
// be among these.
//
// The database is reached in the networks of the spec, else anywhere but at the
// Kubernetes API and at the metadata of clouds. A policy can say no more of a host
// that is a name.
func BuildNetworkPolicy(in Input) *networkapply.NetworkPolicyApplyConfiguration {
	spec := networkapply.NetworkPolicySpec().
		WithPodSelector(metaapply.LabelSelector().WithMatchLabels(ownSelector(in.Instance))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
		WithIngress(tenantIngress(), adminIngress()).
		WithEgress(resolverEgress(in))
	if database := databaseEgress(in); database != nil {
		spec.WithEgress(database)
	}
	if !in.has(closesEgress) {
		spec.WithEgress(webhookEgress())
	}
	if notifications := notificationEgress(in); notifications != nil {
		spec.WithEgress(notifications)
	}
	if in.has(sendsWebhooks) {
		spec.WithEgress(receiverEgress(in))
	}
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

// resolverEgress reaches the cluster's resolver and no other: pods that ask
// anyone could tell anyone what they know, in names.
func resolverEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkapply.NetworkPolicyEgressRule()
	for _, port := range dnsPorts {
		rule.WithPorts(policyPort(corev1.ProtocolUDP, port), policyPort(corev1.ProtocolTCP, port))
	}
	if in.has(closesEgress) {
		rule.WithTo(resolverPeers(in.Resolvers)...)
	}
	return rule
}

func resolverPeers(further []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	peers := make([]*networkapply.NetworkPolicyPeerApplyConfiguration, 0, 3+len(further))
	peers = append(peers,
		podsOf("kube-system", "k8s-app", "kube-dns"),
		podsOf("openshift-dns", "dns.operator.openshift.io/daemonset-dns", "default"),
		blockPeer(nodeLocalResolver, nil))
	for _, resolver := range further {
		peers = append(peers, blockPeer(resolver.Masked(), nil))
	}
	return peers
}

// podsOf are the pods with a label in a namespace, by the label with its name
// that Kubernetes itself puts on every namespace.
func podsOf(namespace, label, value string) *networkapply.NetworkPolicyPeerApplyConfiguration {
	return networkapply.NetworkPolicyPeer().
		WithNamespaceSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: namespace})).
		WithPodSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{label: value}))
}

// databaseEgress reaches the ports of a database: nil without one, and
// when nothing of its networks may be reached, since a rule without peers would
// allow all.
func databaseEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	database := StorageOf(in.Instance).database
	if database == nil {
		return nil
	}
	rule := networkapply.NetworkPolicyEgressRule().WithPorts(databasePorts(in)...)
	switch {
	case len(database.networks) > 0:
		rule.WithTo(networkPeers(database.networks, closedNetworks(in))...)
	case in.has(closesEgress):
		rule.WithTo(anywherePeers(closedNetworks(in))...)
	default:
		return rule
	}
	if len(rule.To) == 0 {
		return nil
	}
	return rule
}

// databasePorts are those of the database's URL and of the template that was put
// back, whose pods may know another URL.
func databasePorts(in Input) []*networkapply.NetworkPolicyPortApplyConfiguration {
	wanted := in.DatabasePorts
	if len(wanted) == 0 {
		wanted = []int32{defaultDatabasePort}
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(wanted, in.PutBackPorts))))
	ports := make([]*networkapply.NetworkPolicyPortApplyConfiguration, 0, len(all))
	for _, port := range all {
		ports = append(ports, policyPort(corev1.ProtocolTCP, port))
	}
	return ports
}

// databaseRule is the place of the rule for a database: after that of the resolver
// and before that of senders of messages.
const databaseRule = 1

// OpenPorts are the TCP ports that a policy lets the pods of an Instance reach its
// database by, as it was when that was written; none for one without. They are those
// that are neither of the resolver, nor of senders or receivers.
func OpenPorts(instance *v1alpha1.Instance, policy *networkingv1.NetworkPolicy) []int32 {
	if StorageOf(instance).database == nil {
		return nil
	}
	var open []int32
	for place, rule := range policy.Spec.Egress {
		if place > databaseRule {
			break
		}
		for _, port := range rule.Ports {
			if port.Port == nil || ptr.Deref(port.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
				continue
			}
			if number := port.Port.IntVal; number != webhookPort && !slices.Contains(dnsPorts, number) {
				open = append(open, number)
			}
		}
	}
	return open
}

// networkPeers are the networks of a spec, less what is closed.
func networkPeers(networks []v1alpha1.CIDR, closed []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	var peers []*networkapply.NetworkPolicyPeerApplyConfiguration
	for _, network := range networks {
		prefix, err := netip.ParsePrefix(string(network))
		if err != nil {
			continue // the API takes none such, and what is no network opens nothing
		}
		if peer := blockPeer(prefix.Masked(), closed); peer != nil {
			peers = append(peers, peer)
		}
	}
	return peers
}

// anywherePeers are for a database whose host is a name, of which nobody knows
// what it will resolve to: every address that is not closed, and every pod, since
// some networks, such as Cilium's, take blocks of addresses for what is outside of
// the cluster alone. Left out are the namespaces where the Kubernetes API may be a
// pod.
func anywherePeers(closed []netip.Prefix) []*networkapply.NetworkPolicyPeerApplyConfiguration {
	return []*networkapply.NetworkPolicyPeerApplyConfiguration{
		blockPeer(netip.MustParsePrefix("0.0.0.0/0"), closed),
		blockPeer(netip.MustParsePrefix("::/0"), closed),
		networkapply.NetworkPolicyPeer().WithNamespaceSelector(metaapply.LabelSelector().
			WithMatchExpressions(metaapply.LabelSelectorRequirement().
				WithKey(corev1.LabelMetadataName).
				WithOperator(metav1.LabelSelectorOpNotIn).
				WithValues("kube-system", "openshift-kube-apiserver"))),
	}
}

// closedNetworks are where no database is and much to be had: whoever may choose
// the URL chooses ports, and those of the Kubernetes API may be among them.
func closedNetworks(in Input) []netip.Prefix {
	return slices.Concat(in.KubernetesAPI, metadataNetworks)
}

// blockPeer is a network less what is closed of it, nil when all of it is.
func blockPeer(network netip.Prefix, closed []netip.Prefix) *networkapply.NetworkPolicyPeerApplyConfiguration {
	var except []netip.Prefix
	for _, prefix := range closed {
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
