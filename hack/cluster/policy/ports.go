// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// opening is ports of one protocol. Those that are named are open only at the
// pods that give the name to that number; only is nil for all pods.
type opening struct {
	protocol corev1.Protocol
	ports    []PortRange
	only     []pod
}

var everyPort = PortRange{First: 0, Last: 65535}

// openings resolves the ports of a rule at the pods that are connected to. No
// ports at all are one opening of every protocol.
func openings(ports []networkingv1.NetworkPolicyPort, at []pod) []opening {
	if len(ports) == 0 {
		return []opening{{}}
	}
	var found []opening
	byNumber := map[corev1.Protocol][]PortRange{}
	for _, port := range ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		if port.Port != nil && port.Port.Type == intstr.String {
			found = append(found, named(protocol, port.Port.StrVal, at)...)
			continue
		}
		byNumber[protocol] = append(byNumber[protocol], rangeOf(port))
	}
	for protocol, ranges := range byNumber {
		found = append(found, opening{protocol: protocol, ports: merge(ranges)})
	}
	slices.SortFunc(found, func(a, b opening) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), compareRanges(a.ports[0], b.ports[0]))
	})
	return found
}

func rangeOf(port networkingv1.NetworkPolicyPort) PortRange {
	switch {
	case port.Port == nil:
		return everyPort
	case port.EndPort == nil:
		return PortRange{port.Port.IntVal, port.Port.IntVal}
	default:
		return PortRange{port.Port.IntVal, *port.EndPort}
	}
}

// merge joins ranges that overlap, which nftables would refuse in one set.
func merge(ranges []PortRange) []PortRange {
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

// named groups the pods by the number that they give to the name.
func named(protocol corev1.Protocol, name string, at []pod) []opening {
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
	found := make([]opening, 0, len(byNumber))
	for number, pods := range byNumber {
		found = append(found, opening{protocol, []PortRange{{number, number}}, pods})
	}
	return found
}
