// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addressCacheTTL is how long the addresses of the Kubernetes API are cached.
const addressCacheTTL = 5 * time.Minute

// A KubernetesAPI looks up the addresses of the Kubernetes API. It is safe for
// concurrent use.
type KubernetesAPI struct {
	// APIReader bypasses the cache.
	APIReader client.Reader
	// ServiceAddress is the address and port of the kubernetes Service, if known.
	ServiceAddress netip.AddrPort

	mutex     sync.Mutex
	cached    []netip.AddrPort
	expiresAt time.Time
}

// PrefixesOnPorts returns a single-address prefix for each address at which the Kubernetes
// API serves on one of the ports: the address of the kubernetes Service, and the addresses
// of its endpoints, which network policies match. If the operator may not list the
// endpoints, it returns the Service address alone.
func (k *KubernetesAPI) PrefixesOnPorts(ctx context.Context, now time.Time, ports []int32) ([]netip.Prefix, error) {
	addresses, err := k.addresses(ctx, now)
	var prefixes []netip.Prefix
	for _, address := range addresses {
		if slices.Contains(ports, int32(address.Port())) {
			prefixes = append(prefixes, netip.PrefixFrom(address.Addr(), address.Addr().BitLen()))
		}
	}
	slices.SortFunc(prefixes, netip.Prefix.Compare)
	return slices.Compact(prefixes), err
}

func (k *KubernetesAPI) addresses(ctx context.Context, now time.Time) ([]netip.AddrPort, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if now.Before(k.expiresAt) {
		return k.cached, nil
	}
	var endpoints discoveryv1.EndpointSliceList
	err := k.APIReader.List(ctx, &endpoints, client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("listing the endpoints of the Kubernetes API: %w", err)
	}
	k.cached, k.expiresAt = nil, now.Add(addressCacheTTL)
	if k.ServiceAddress.IsValid() {
		k.cached = append(k.cached, k.ServiceAddress)
	}
	for _, slice := range endpoints.Items {
		k.cached = append(k.cached, endpointAddresses(slice)...)
	}
	return k.cached, nil
}

// endpointAddresses returns every address of a slice combined with each of its ports.
func endpointAddresses(slice discoveryv1.EndpointSlice) []netip.AddrPort {
	var addresses []netip.AddrPort
	for _, endpoint := range slice.Endpoints {
		for _, text := range endpoint.Addresses {
			address, err := netip.ParseAddr(text)
			for _, port := range slice.Ports {
				if err == nil && port.Port != nil {
					addresses = append(addresses, netip.AddrPortFrom(address.Unmap(), uint16(*port.Port)))
				}
			}
		}
	}
	return addresses
}
