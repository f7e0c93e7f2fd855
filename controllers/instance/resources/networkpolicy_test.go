// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const policyUpToDatabase = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: acme
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: anamnesis
      app.kubernetes.io/instance: acme
  policyTypes: [Ingress, Egress]
  ingress:
    - ports:
        - {protocol: TCP, port: 8443}
    - from:
        - namespaceSelector: {matchLabels: {anamnesis.dev/admin-access: "true"}}
        - podSelector: {matchLabels: {anamnesis.dev/admin-access: "true"}}
      ports:
        - {protocol: TCP, port: 8081}
  egress:
    - ports:
        - {protocol: UDP, port: 53}
        - {protocol: TCP, port: 53}
        - {protocol: UDP, port: 5353}
        - {protocol: TCP, port: 5353}
`

const policyToWebhooks = `
    - to:
        - ipBlock:
            cidr: 0.0.0.0/0
            except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
        - ipBlock:
            cidr: ::/0
            except: ["fc00::/7", "fe80::/10"]
      ports:
        - {protocol: TCP, port: 443}
`

func TestBuildNetworkPolicy(t *testing.T) {
	t.Parallel()
	unread := external()
	unread.DatabasePorts = nil
	several := external()
	several.DatabasePorts = []int32{5432, 6432}
	for name, test := range map[string]struct {
		in       Input
		database string
	}{
		"embedded storage reaches no database":   {embedded(), ""},
		"the port that the URL names":            {external(), "    - ports: [{protocol: TCP, port: 5432}]"},
		"every port that the URL names":          {several, "    - ports: [{protocol: TCP, port: 5432}, {protocol: TCP, port: 6432}]"},
		"PostgreSQL's own where none is known":   {unread, "    - ports: [{protocol: TCP, port: 5432}]"},
		"hibernation changes nothing":            {external(hibernated), "    - ports: [{protocol: TCP, port: 5432}]"},
		"the number of replicas changes nothing": {external(replicated(5)), "    - ports: [{protocol: TCP, port: 5432}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantYAML(t, BuildNetworkPolicy(test.in), policyUpToDatabase+test.database+policyToWebhooks)
		})
	}
}

// TestPrivateNetworksAreCovered asks for addresses that a webhook must not be
// able to reach, the cloud's metadata first of all.
func TestPrivateNetworksAreCovered(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	want := map[string]bool{
		"169.254.169.254": true, "10.96.0.1": true, "172.31.0.10": true, "192.168.1.1": true, "127.0.0.1": true, "100.100.100.200": true,
		"fd00:ec2::254": true, "fe80::1": true,
		"93.184.215.14": false, "172.32.0.1": false, "2606:4700::1111": false,
	}
	for address := range want {
		for _, network := range append(append([]string{}, privateIPv4...), privateIPv6...) {
			got[address] = got[address] || netip.MustParsePrefix(network).Contains(netip.MustParseAddr(address))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("private addresses (-want +got):\n%s", diff)
	}
}
