// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// startPostgres runs a PostgreSQL server inside the node's namespaces, where
// pods reach it at the node's address, and returns its URL.
func startPostgres(t *testing.T) string {
	t.Helper()
	setup, err := cluster.BuildCommand(t.Context(), "setup", "./hack/setup")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := cluster.ExecCommand(ctx, setup, "postgres", "--listen", nodeAddress(t)+":5432")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("start PostgreSQL in the node: %v", err)
	}
	return strings.TrimSpace(url)
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
