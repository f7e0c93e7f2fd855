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

// components returns the processes of the node in start order. Components with a
// configuration file have it in config/; the others are configured here. etcd does not
// sync to disk, because its data does not outlive the node.
func components(cgroup string) []component {
	return []component{
		{name: "containerd", program: "containerd", args: []string{"--config=" + place.NodeStateDir + "/config/containerd.toml"}},
		{name: "etcd", program: "etcd", readinessCheck: checkTCP("127.0.0.1:2379"), args: []string{
			"--data-dir=" + place.NodeStateDir + "/etcd",
			"--listen-client-urls=http://127.0.0.1:2379",
			"--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
			"--unsafe-no-fsync",
			"--log-level=warn",
		}},
		{name: "kube-apiserver", program: "kube-apiserver", readinessCheck: checkAPIServer, args: []string{
			"--etcd-servers=http://127.0.0.1:2379",
			"--advertise-address=" + Address,
			"--service-cluster-ip-range=10.96.0.0/16",
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--client-ca-file=" + pkiPath("ca.crt"),
			"--tls-cert-file=" + pkiPath("kube-apiserver.crt"),
			"--tls-private-key-file=" + pkiPath("kube-apiserver.key"),
			"--kubelet-certificate-authority=" + pkiPath("ca.crt"),
			"--kubelet-client-certificate=" + pkiPath("kubelet-client.crt"),
			"--kubelet-client-key=" + pkiPath("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + pkiPath("service-accounts.key"),
			"--service-account-signing-key-file=" + pkiPath("service-accounts.key"),
		}},
		{name: "kube-controller-manager", program: "kube-controller-manager", args: []string{
			"--kubeconfig=" + kubeconfigPath("kube-controller-manager"),
			"--use-service-account-credentials",
			"--service-account-private-key-file=" + pkiPath("service-accounts.key"),
			"--root-ca-file=" + pkiPath("ca.crt"),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			"--flex-volume-plugin-dir=" + place.NodeStateDir + "/kubelet/volume-plugins", // its default is created on the machine
		}},
		{name: "kube-scheduler", program: "kube-scheduler", args: []string{
			"--kubeconfig=" + kubeconfigPath("kube-scheduler"),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
		}},
		{name: "kubelet", program: "kubelet", args: []string{
			"--config=" + place.NodeStateDir + "/config/kubelet.yaml",
			"--kubeconfig=" + kubeconfigPath("kubelet"),
			"--root-dir=" + place.NodeStateDir + "/kubelet",
			"--hostname-override=" + Name,
			"--node-ip=" + Address,
			"--cgroup-root=/" + cgroup,
		}},
		{name: "kube-proxy", program: "kube-proxy", args: []string{
			"--config=" + place.NodeStateDir + "/config/kube-proxy.yaml",
			"--hostname-override=" + Name,
		}},
		{name: "agent", args: []string{AgentCommand}},
	}
}

func pkiPath(name string) string { return place.NodeStateDir + "/pki/" + name }

func kubeconfigPath(name string) string { return place.NodeStateDir + "/users/" + name }

// VolumesDir is where the agent provisions volumes.
const VolumesDir = place.NodeStateDir + "/volumes"

// checkTCP returns a check that succeeds if something listens at the address.
func checkTCP(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// checkAPIServer checks the readiness of the API server.
func checkAPIServer(ctx context.Context) error {
	ca, err := os.ReadFile(pkiPath("ca.crt"))
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
		return fmt.Errorf("%s responded with status %s", request.URL, response.Status)
	}
	return nil
}
