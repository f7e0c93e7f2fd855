// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// portMatch matches ports of one protocol. A named port applies only to the pods that
// map the name to that number; only is nil if the match applies to all pods.
type portMatch struct {
	protocol corev1.Protocol
	ports    []PortRange
	onlyPods []pod
}

var allPorts = PortRange{First: 0, Last: 65535}

// resolvePorts resolves the ports of a rule for the destination pods. An empty list
// yields one match for all protocols.
func resolvePorts(ports []networkingv1.NetworkPolicyPort, at []pod) []portMatch {
	if len(ports) == 0 {
		return []portMatch{{}}
	}
	var found []portMatch
	byNumber := map[corev1.Protocol][]PortRange{}
	for _, port := range ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		if port.Port != nil && port.Port.Type == intstr.String {
			found = append(found, resolveNamedPort(protocol, port.Port.StrVal, at)...)
			continue
		}
		byNumber[protocol] = append(byNumber[protocol], toPortRange(port))
	}
	for protocol, ranges := range byNumber {
		found = append(found, portMatch{protocol: protocol, ports: mergeRanges(ranges)})
	}
	slices.SortFunc(found, func(a, b portMatch) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), compareRanges(a.ports[0], b.ports[0]))
	})
	return found
}

func toPortRange(port networkingv1.NetworkPolicyPort) PortRange {
	switch {
	case port.Port == nil:
		return allPorts
	case port.EndPort == nil:
		return PortRange{port.Port.IntVal, port.Port.IntVal}
	default:
		return PortRange{port.Port.IntVal, *port.EndPort}
	}
}

// mergeRanges merges overlapping ranges, which nftables rejects within one set.
func mergeRanges(ranges []PortRange) []PortRange {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, compareRanges)
	merged := ranges[:1]
	for _, next := range ranges[1:] {
		last := &merged[len(merged)-1]
		if next.First <= last.Last {
			last.Last = max(last.Last, next.Last)
		} else {
			merged = append(merged, next)
		}
	}
	return merged
}

func compareRanges(a, b PortRange) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
}

// resolveNamedPort groups the pods by the number that they map the name to.
func resolveNamedPort(protocol corev1.Protocol, name string, at []pod) []portMatch {
	byNumber := map[int32][]pod{}
	for _, candidate := range at {
		for _, container := range candidate.Spec.Containers {
			for _, port := range container.Ports {
				if port.Name == name && cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol {
					byNumber[port.ContainerPort] = append(byNumber[port.ContainerPort], candidate)
				}
			}
		}
	}
	found := make([]portMatch, 0, len(byNumber))
	for number, pods := range byNumber {
		found = append(found, portMatch{protocol, []PortRange{{number, number}}, pods})
	}
	return found
}
