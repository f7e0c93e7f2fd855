// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// receivers are addresses of some, with whether webhooks reach them: always, where
// private ones are allowed, or never.
var receivers = map[string]string{
	"93.184.215.14": "always", "172.32.0.1": "always", "2606:4700::1111": "always",
	"64:ff9b::5db8:d70e": "always", // 93.184.215.14 by NAT64

	"10.1.2.3": "private", "172.31.0.10": "private", "192.168.1.1": "private", "100.64.0.1": "private", "198.18.0.1": "private",
	"fd12::1": "private", "2002:a01:203::1": "private", "64:ff9b::a01:203": "private",

	"127.0.0.1": "never", "127.8.8.8": "never", "0.0.0.0": "never", "::1": "never", "::": "never",
	"169.254.169.254": "never", "169.254.20.10": "never", "fe80::1": "never",
	"100.100.100.200": "never", "168.63.129.16": "never", "fd00:ec2::254": "never", "fd20:ce::254": "never",
	"224.0.0.1": "never", "255.255.255.255": "never", "ff02::1": "never",
	"64:ff9b::a9fe:a9fe": "never", "64:ff9b::7f00:1": "never", // 169.254.169.254 and 127.0.0.1 by NAT64
	"10.96.0.1": "never", // the Kubernetes API
}

func TestReceiversAreReached(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for address := range receivers {
		closed, open := sendingWebhooks(nil), sendingWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true})
		switch {
		case reaches(t, closed, tcp(address, 443), false) && reaches(t, open, tcp(address, 443), false):
			got[address] = "always"
		case reaches(t, closed, tcp(address, 443), false):
			got[address] = "only without private ones"
		case reaches(t, open, tcp(address, 443), false):
			got[address] = "private"
		default:
			got[address] = "never"
		}
	}
	if diff := cmp.Diff(receivers, got); diff != "" {
		t.Errorf("reached (-want +got):\n%s", diff)
	}
}

func sendingWebhooks(wanted *v1alpha1.Webhooks) Input {
	in := embedded(webhooks(wanted))
	in.ClosedToWebhooks = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}
	return in
}

// TestPodsReceiveWebhooks where private addresses are allowed, also on networks
// whose blocks of addresses stand for no pods.
func TestPodsReceiveWebhooks(t *testing.T) {
	t.Parallel()
	pod := tcp("10.244.1.7", 443)
	pod.namespace = "portal"
	if in := sendingWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true}); !reaches(t, in, pod, true) {
		t.Error("a pod is not reached where private addresses are allowed")
	}
	if reaches(t, sendingWebhooks(nil), pod, false) {
		t.Error("a pod is reached where only public addresses are")
	}
	pod.namespace = "kube-system"
	if reaches(t, sendingWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true}), pod, true) {
		t.Error("pods are reached where the Kubernetes API may be one")
	}
}

func TestPortsOfReceivers(t *testing.T) {
	t.Parallel()
	in := sendingWebhooks(&v1alpha1.Webhooks{AllowedPorts: []int32{8443, 444}})
	got := map[int32]bool{}
	want := map[int32]bool{443: false, 444: true, 8443: true, 80: false, 6443: false}
	for port := range want {
		got[port] = reaches(t, in, tcp("93.184.215.14", port), false)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{444, 8443}, WebhookPorts(in.Instance)); diff != "" {
		t.Errorf("in order (-want +got):\n%s", diff)
	}
}

// TestEarlierServersSendNoWebhooks: what revisions 3 and 4 closed stays closed,
// whatever the spec says.
func TestEarlierServersSendNoWebhooks(t *testing.T) {
	t.Parallel()
	for revision := int32(closesEgress); revision < int32(sendsWebhooks); revision++ {
		in := ofRevision(revision, sendingWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true}))
		for address := range maps.Keys(receivers) {
			if reaches(t, in, tcp(address, 443), false) {
				t.Errorf("revision %d: %s is reached", revision, address)
			}
		}
	}
}
