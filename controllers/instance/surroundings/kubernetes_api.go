// SPDX-License-Identifier: Apache-2.0

package surroundings

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

// apiMemory is for how long the addresses of the Kubernetes API are believed.
const apiMemory = 5 * time.Minute

// A KubernetesAPI knows the addresses of the Kubernetes API. It may be used by
// any number of goroutines.
type KubernetesAPI struct {
	// Live reads past the cache.
	Live client.Reader
	// Service is address and port of the Service kubernetes, where they are known.
	Service netip.AddrPort

	mutex sync.Mutex
	found []netip.AddrPort
	until time.Time
}

// Serving gives the networks of one address each where the API serves on one of
// some ports: at its Service, and at its endpoints, which a network policy sees
// behind it; at the Service alone for an operator that may not list the endpoints.
func (k *KubernetesAPI) Serving(ctx context.Context, now time.Time, ports []int32) ([]netip.Prefix, error) {
	all, err := k.addresses(ctx, now)
	var found []netip.Prefix
	for _, address := range all {
		if slices.Contains(ports, int32(address.Port())) {
			found = append(found, netip.PrefixFrom(address.Addr(), address.Addr().BitLen()))
		}
	}
	slices.SortFunc(found, netip.Prefix.Compare)
	return slices.Compact(found), err
}

func (k *KubernetesAPI) addresses(ctx context.Context, now time.Time) ([]netip.AddrPort, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if now.Before(k.until) {
		return k.found, nil
	}
	var endpoints discoveryv1.EndpointSliceList
	err := k.Live.List(ctx, &endpoints, client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("listing the endpoints of the Kubernetes API: %w", err)
	}
	k.found, k.until = nil, now.Add(apiMemory)
	if k.Service.IsValid() {
		k.found = append(k.found, k.Service)
	}
	for _, slice := range endpoints.Items {
		k.found = append(k.found, addressesOf(slice)...)
	}
	return k.found, nil
}

// addressesOf are all addresses of a slice with all of its ports.
func addressesOf(slice discoveryv1.EndpointSlice) []netip.AddrPort {
	var found []netip.AddrPort
	for _, endpoint := range slice.Endpoints {
		for _, text := range endpoint.Addresses {
			address, err := netip.ParseAddr(text)
			for _, port := range slice.Ports {
				if err == nil && port.Port != nil {
					found = append(found, netip.AddrPortFrom(address.Unmap(), uint16(*port.Port)))
				}
			}
		}
	}
	return found
}
