// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// externalSpec returns the spec of an Instance with two replicas and its own PostgreSQL
// server, which runs in the node's namespaces.
func externalSpec(t *testing.T, namespace string) v1alpha1.InstanceSpec {
	t.Helper()
	return startPostgres(t).instanceSpec(namespace)
}

// A postgresServer is a PostgreSQL server in the node's namespaces. Pods reach it at the
// node's address. Tests can stop and restart it.
type postgresServer struct {
	t        *testing.T
	dir      string
	listen   string
	url      string
	shutDown func()
}

// buildSetup builds the command that runs PostgreSQL. All tests share the binary.
var buildSetup = sync.OnceValues(func() (string, error) {
	return cluster.BuildBinary(context.Background(), "setup", "./hack/setup")
})

// startPostgres starts a server on a free port and stops it when the test ends.
func startPostgres(t *testing.T) *postgresServer {
	t.Helper()
	// The server runs as another user, which cannot access t.TempDir.
	dir, err := os.MkdirTemp("", "anamnesis-e2e-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the data of PostgreSQL: %v", err)
		}
	})
	p := &postgresServer{t: t, dir: dir, listen: net.JoinHostPort(nodeAddress(t), "0")}
	p.start()
	t.Cleanup(func() { p.stop() })
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatalf("invalid address of PostgreSQL in the node: %v", err)
	}
	p.listen = address.Host
	return p
}

// start starts the server and waits until it accepts connections. A restarted server
// keeps its address and data.
func (p *postgresServer) start() {
	p.t.Helper()
	setup, err := buildSetup()
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	cmd := cluster.ExecCommand(ctx, setup, "postgres", "--listen", p.listen, "--dir", p.dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.shutDown = sync.OnceFunc(func() {
		cancel()
		_ = cmd.Wait() // it exits with an error when terminated
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.shutDown()
		p.t.Fatalf("starting PostgreSQL in the node: %v", err)
	}
	p.url = strings.TrimSpace(line)
}

// stop stops the server and keeps its data.
func (p *postgresServer) stop() { p.shutDown() }

// instanceSpec returns the spec of an Instance with two replicas that uses the server.
// It creates the Secret with the server's URL in namespace.
func (p *postgresServer) instanceSpec(namespace string) v1alpha1.InstanceSpec {
	p.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "database"},
		StringData: map[string]string{"url": p.url},
	}
	if err := kubeClient.Create(p.t.Context(), secret); err != nil {
		p.t.Fatal(fmt.Errorf("creating the Secret of a database: %w", err))
	}
	return v1alpha1.InstanceSpec{
		Models:   []v1alpha1.Model{{ID: "service-en"}},
		Storage:  v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: "database"}, AllowInsecure: true}},
		Replicas: 2,
	}
}

// nodeAddress returns the node's internal IP address.
func nodeAddress(t *testing.T) string {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := kubeClient.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return address.Address
			}
		}
	}
	t.Fatal("internal address not found on any node")
	return ""
}
