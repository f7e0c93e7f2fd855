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

// external is the spec of an Instance of two replicas over a PostgreSQL server of
// its own, which runs in the node's namespaces.
func external(t *testing.T, namespace string) v1alpha1.InstanceSpec {
	t.Helper()
	return startPostgres(t).storage(namespace)
}

// A postgres is a PostgreSQL server inside the node's namespaces, where pods
// reach it at the node's address. It can be stopped for a while.
type postgres struct {
	t      *testing.T
	dir    string
	listen string
	url    string
	end    func()
}

// buildSetup builds the command that runs PostgreSQL, once for all tests.
var buildSetup = sync.OnceValues(func() (string, error) {
	return cluster.BuildCommand(context.Background(), "setup", "./hack/setup")
})

// startPostgres starts a server on a free port, to be stopped with the test.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	// The server runs as another user, who does not get into t.TempDir.
	dir, err := os.MkdirTemp("", "anamnesis-e2e-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove what PostgreSQL kept: %v", err)
		}
	})
	p := &postgres{t: t, dir: dir, listen: net.JoinHostPort(nodeAddress(t), "0")}
	p.start()
	t.Cleanup(func() { p.stop() })
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatalf("PostgreSQL in the node is at an address that is none: %v", err)
	}
	p.listen = address.Host
	return p
}

// start runs the server and waits until it answers. One that was stopped comes
// back where it was, with what it held.
func (p *postgres) start() {
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
	p.end = sync.OnceFunc(func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.end()
		p.t.Fatalf("start PostgreSQL in the node: %v", err)
	}
	p.url = strings.TrimSpace(line)
}

// stop ends the server, and keeps what it holds.
func (p *postgres) stop() { p.end() }

// storage is the spec of an Instance of two replicas that keeps its data there,
// by a Secret in its namespace.
func (p *postgres) storage(namespace string) v1alpha1.InstanceSpec {
	p.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "database"},
		StringData: map[string]string{"url": p.url},
	}
	if err := kube.Create(p.t.Context(), secret); err != nil {
		p.t.Fatal(fmt.Errorf("make the Secret of a database: %w", err))
	}
	return v1alpha1.InstanceSpec{
		Models:   []v1alpha1.Model{{ID: "service-en"}},
		Storage:  v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: "database"}, AllowInsecure: true}},
		Replicas: 2,
	}
}

// nodeAddress is the node's own address.
func nodeAddress(t *testing.T) string {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := kube.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return address.Address
			}
		}
	}
	t.Fatal("no node has an internal address")
	return ""
}
