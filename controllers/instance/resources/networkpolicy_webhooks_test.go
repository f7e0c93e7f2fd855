// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// webhookReceivers maps addresses of receivers to whether webhooks reach them: always,
// only if private addresses are allowed, or never.
var webhookReceivers = map[string]string{
	"93.184.215.14": "always", "172.32.0.1": "always", "2606:4700::1111": "always",
	"64:ff9b::5db8:d70e": "always", // 93.184.215.14 through NAT64

	"10.1.2.3": "private", "172.31.0.10": "private", "192.168.1.1": "private", "100.64.0.1": "private", "198.18.0.1": "private",
	"fd12::1": "private", "2002:a01:203::1": "private", "64:ff9b::a01:203": "private",

	"127.0.0.1": "never", "127.8.8.8": "never", "0.0.0.0": "never", "::1": "never", "::": "never",
	"169.254.169.254": "never", "169.254.20.10": "never", "fe80::1": "never",
	"100.100.100.200": "never", "168.63.129.16": "never", "fd00:ec2::254": "never", "fd20:ce::254": "never",
	"224.0.0.1": "never", "255.255.255.255": "never", "ff02::1": "never",
	"64:ff9b::a9fe:a9fe": "never", "64:ff9b::7f00:1": "never", // 169.254.169.254 and 127.0.0.1 through NAT64
	"10.96.0.1": "never", // the Kubernetes API
}

func TestWebhookEgress(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for address := range webhookReceivers {
		publicOnly, withPrivate := inputWithWebhooks(nil), inputWithWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true})
		switch {
		case allowsEgress(t, publicOnly, tcpTarget(address, 443), false) && allowsEgress(t, withPrivate, tcpTarget(address, 443), false):
			got[address] = "always"
		case allowsEgress(t, publicOnly, tcpTarget(address, 443), false):
			got[address] = "only if private addresses are blocked"
		case allowsEgress(t, withPrivate, tcpTarget(address, 443), false):
			got[address] = "private"
		default:
			got[address] = "never"
		}
	}
	if diff := cmp.Diff(webhookReceivers, got); diff != "" {
		t.Errorf("reachable (-want +got):\n%s", diff)
	}
}

func inputWithWebhooks(webhooks *v1alpha1.Webhooks) Input {
	in := embeddedInput(withWebhooks(webhooks))
	in.WebhookBlockedNetworks = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}
	return in
}

// TestWebhookEgressToPods covers allowed private addresses, including with network
// plugins whose IP blocks do not match pods.
func TestWebhookEgressToPods(t *testing.T) {
	t.Parallel()
	pod := tcpTarget("10.244.1.7", 443)
	pod.namespace = "portal"
	if in := inputWithWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true}); !allowsEgress(t, in, pod, true) {
		t.Error("pods are not reachable although private addresses are allowed")
	}
	if allowsEgress(t, inputWithWebhooks(nil), pod, false) {
		t.Error("pods are reachable although only public addresses are allowed")
	}
	pod.namespace = "kube-system"
	if allowsEgress(t, inputWithWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true}), pod, true) {
		t.Error("pods in the namespace of the Kubernetes API are reachable")
	}
}

func TestWebhookPorts(t *testing.T) {
	t.Parallel()
	in := inputWithWebhooks(&v1alpha1.Webhooks{AllowedPorts: []int32{8443, 444}})
	got := map[int32]bool{}
	want := map[int32]bool{443: false, 444: true, 8443: true, 80: false, 6443: false}
	for port := range want {
		got[port] = allowsEgress(t, in, tcpTarget("93.184.215.14", port), false)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{444, 8443}, WebhookPorts(in.Instance)); diff != "" {
		t.Errorf("WebhookPorts (-want +got):\n%s", diff)
	}
}
