// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPrefixesOnPorts(t *testing.T) {
	t.Parallel()
	endpoints := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		Ports:      []discoveryv1.EndpointPort{{Port: ptr.To[int32](6443)}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.7"}}, {Addresses: []string{"2001:db8::7", "192.0.2.7"}}},
	}
	prefixes := cmpopts.EquateComparable(netip.Prefix{})
	both := []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("2001:db8::7/128")}
	for name, test := range map[string]struct {
		listErr error
		want    []netip.Prefix
		wantErr bool
	}{
		"may look":     {nil, both, false},
		"may not look": {apierrors.NewForbidden(schema.GroupResource{Resource: "endpointslices"}, "", nil), both[:1], false},
		"no answer":    {errors.New("no answer"), nil, true},
	} {
		lists := 0
		reader := fake.NewClientBuilder().WithObjects(endpoints).WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if lists++; test.listErr != nil {
					return test.listErr
				}
				return inner.List(ctx, list, options...)
			},
		}).Build()
		api := &KubernetesAPI{APIReader: reader, ServiceAddress: netip.MustParseAddrPort("10.96.0.1:443")}
		now := time.Now()
		got, err := api.PrefixesOnPorts(t.Context(), now, []int32{443, 6443})
		if diff := cmp.Diff(test.want, got, prefixes); diff != "" || (err != nil) != test.wantErr {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if test.wantErr {
			continue
		}
		if got, err := api.PrefixesOnPorts(t.Context(), now, []int32{5432}); err != nil || len(got) > 0 {
			t.Errorf("%s: PostgreSQL port: got %v, %v, want no prefix", name, got, err)
		}
		if _, err := api.PrefixesOnPorts(t.Context(), now.Add(addressCacheTTL-1), nil); err != nil || lists != 1 {
			t.Errorf("%s: got %d lists before the cache expired, want 1: %v", name, lists, err)
		}
		if _, err := api.PrefixesOnPorts(t.Context(), now.Add(addressCacheTTL), nil); err != nil || lists != 2 {
			t.Errorf("%s: got %d lists after the cache expired, want 2: %v", name, lists, err)
		}
	}
}
