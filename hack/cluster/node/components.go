// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// components are the processes of the node in the order of their start. Their
// settings are in config/ where they have a file for them, and here otherwise.
// etcd does not wait for the disk: its data is gone with the node anyway.
func components(cgroup string) []component {
	return []component{
		{name: "containerd", program: "containerd", args: []string{"--config=" + place.Inside + "/config/containerd.toml"}},
		{name: "etcd", program: "etcd", ready: answers("127.0.0.1:2379"), args: []string{
			"--data-dir=" + place.Inside + "/etcd",
			"--listen-client-urls=http://127.0.0.1:2379",
			"--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
			"--unsafe-no-fsync",
			"--log-level=warn",
		}},
		{name: "kube-apiserver", program: "kube-apiserver", ready: apiServerReady, args: []string{
			"--etcd-servers=http://127.0.0.1:2379",
			"--advertise-address=" + Address,
			"--service-cluster-ip-range=10.96.0.0/16",
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--client-ca-file=" + pkiFile("ca.crt"),
			"--tls-cert-file=" + pkiFile("kube-apiserver.crt"),
			"--tls-private-key-file=" + pkiFile("kube-apiserver.key"),
			"--kubelet-certificate-authority=" + pkiFile("ca.crt"),
			"--kubelet-client-certificate=" + pkiFile("kubelet-client.crt"),
			"--kubelet-client-key=" + pkiFile("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + pkiFile("service-accounts.key"),
			"--service-account-signing-key-file=" + pkiFile("service-accounts.key"),
		}},
		{name: "kube-controller-manager", program: "kube-controller-manager", args: []string{
			"--kubeconfig=" + user("kube-controller-manager"),
			"--use-service-account-credentials",
			"--service-account-private-key-file=" + pkiFile("service-accounts.key"),
			"--root-ca-file=" + pkiFile("ca.crt"),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
		}},
		{name: "kube-scheduler", program: "kube-scheduler", args: []string{
			"--kubeconfig=" + user("kube-scheduler"),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
		}},
		{name: "kubelet", program: "kubelet", args: []string{
			"--config=" + place.Inside + "/config/kubelet.yaml",
			"--kubeconfig=" + user("kubelet"),
			"--root-dir=" + place.Inside + "/kubelet",
			"--hostname-override=" + Name,
			"--node-ip=" + Address,
			"--cgroup-root=/" + cgroup,
		}},
		{name: "kube-proxy", program: "kube-proxy", args: []string{
			"--config=" + place.Inside + "/config/kube-proxy.yaml",
			"--hostname-override=" + Name,
		}},
		{name: "agent", args: []string{AgentCommand}},
	}
}

func pkiFile(name string) string { return place.Inside + "/pki/" + name }

func user(name string) string { return place.Inside + "/users/" + name }

// Volumes is where the agent provisions volumes.
const Volumes = place.Inside + "/volumes"

// answers asks whether something listens at the address.
func answers(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// apiServerReady asks the API server itself.
func apiServerReady(ctx context.Context) error {
	ca, err := os.ReadFile(pkiFile("ca.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+APIServer+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return nil
}
