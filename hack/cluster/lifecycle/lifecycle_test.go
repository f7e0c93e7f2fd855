// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/node"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/volumes"
)

func TestProgressReportsEachStep(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	steps := newProgress(&output)
	var during string
	if err := steps.runStep("first", func() error { during = output.String(); return nil }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(during, "first ") || strings.Contains(during, "\n") {
		t.Errorf("got output %q during the step", during)
	}
	failure := errors.New("no disk")
	if err := steps.runStep("second", func() error { return failure }); !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), "second: ") {
		t.Errorf("got error %v", err)
	}
	lines := strings.Split(output.String(), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], " s") || !strings.HasSuffix(lines[1], "failed") {
		t.Errorf("got output %q", lines)
	}
}

// TestLiveProgress checks that a line on a terminal is updated and ends as usual.
func TestLiveProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var output bytes.Buffer
		steps := &progress{output: &output, live: true}
		if err := steps.runStep("build", func() error { time.Sleep(1500 * time.Millisecond); return nil }); err != nil {
			t.Fatal(err)
		}
		shown := strings.Split(output.String(), "\r")
		if len(shown) != 3 || !strings.HasSuffix(shown[1], "     1 s") || !strings.HasSuffix(shown[2], "   1.5 s\n") {
			t.Errorf("got output %q", shown)
		}
	})
}

func TestCheckNode(t *testing.T) {
	t.Parallel()
	ready := func(status corev1.ConditionStatus) []corev1.NodeCondition {
		return []corev1.NodeCondition{
			{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: status, Message: "network is not ready"},
		}
	}
	for _, test := range []struct {
		name string
		node *corev1.Node
		says string
	}{
		{"not there", nil, "not found"},
		{"silent", &corev1.Node{}, "has not reported readiness"},
		{"not ready", &corev1.Node{Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionFalse)}}, "network is not ready"},
		{"ready but tainted", &corev1.Node{
			Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady}}},
			Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)},
		}, "does not accept pods"},
		{"ready", &corev1.Node{Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var objects []runtime.Object
			if test.node != nil {
				test.node.Name = node.Name
				objects = append(objects, test.node)
			}
			wantError(t, checkNode(t.Context(), fake.NewClientset(objects...)), test.says)
		})
	}
}

func TestCheckDNS(t *testing.T) {
	t.Parallel()
	coredns := func(available int32) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "coredns"},
			Status:     appsv1.DeploymentStatus{AvailableReplicas: available},
		}
	}
	wantError(t, checkDNS(t.Context(), fake.NewClientset()), "not found")
	wantError(t, checkDNS(t.Context(), fake.NewClientset(coredns(0))), "CoreDNS has no ready pods")
	wantError(t, checkDNS(t.Context(), fake.NewClientset(coredns(1))), "")
}

// wantError checks that err contains words, or that err is nil if words is empty.
func wantError(t *testing.T, err error, words string) {
	t.Helper()
	if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("got error %v, want %q", err, words)
	}
}

// newStoppedCluster returns a cluster that was never started.
func newStoppedCluster(t *testing.T) Cluster {
	t.Helper()
	folder := t.TempDir()
	return Cluster{
		Cache:  place.Cache(filepath.Join(folder, "cache")),
		Node:   node.Node{State: place.State(filepath.Join(folder, "state"))},
		Output: io.Discard,
	}
}

func TestStoppedCluster(t *testing.T) {
	t.Parallel()
	cluster := newStoppedCluster(t)
	wantError(t, cluster.CheckReady(t.Context()), "the cluster is not running")
	archive := filepath.Join(t.TempDir(), "image.tar")
	wantError(t, cluster.Load(t.Context(), []string{archive}), archive)
	if err := os.WriteFile(archive, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, cluster.Load(t.Context(), []string{archive}), "the cluster is not running")
}

func TestSystemImagesAreBuiltOnce(t *testing.T) {
	t.Parallel()
	cluster := newStoppedCluster(t)
	binary := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(binary, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	tools := []build.Binary{
		{Tool: build.Tool{Name: "etcd"}, Version: "v1", Path: binary},
		{Tool: build.Tool{Name: "coredns"}, Version: "v2", Path: binary},
		{Tool: build.Tool{Name: "pause"}, Version: "v3", Path: binary},
	}
	var before []string
	for range 2 {
		archives, err := cluster.buildSystemImages(tools)
		if err != nil {
			t.Fatal(err)
		}
		if len(archives) != 2 || !machine.Exists(archives[0]) || !machine.Exists(archives[1]) {
			t.Fatalf("got archives %v", archives)
		}
		var written []string
		for _, archive := range archives {
			info, err := os.Stat(archive)
			if err != nil {
				t.Fatal(err)
			}
			written = append(written, fmt.Sprint(archive, info.ModTime()))
		}
		if before != nil && strings.Join(before, "") != strings.Join(written, "") {
			t.Errorf("archives were rewritten: %v, before %v", written, before)
		}
		before = written
	}
}

// TestAddonsMatchConstants checks that the manifests use the same values as the Go
// constants.
func TestAddonsMatchConstants(t *testing.T) {
	t.Parallel()
	var everything strings.Builder
	entries, err := addons.ReadDir("addons")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := addons.ReadFile("addons/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		everything.Write(content)
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var object metav1.PartialObjectMetadata
			if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Kind == "" || object.Name == "" {
				t.Errorf("%s contains an invalid object: %v\n%s", entry.Name(), err, document)
			}
		}
	}
	for _, words := range []string{
		"image: " + systemImages["coredns"] + "\n",
		"clusterIP: " + node.ClusterDNS + "\n",
		"provisioner: " + volumes.ProvisionerName + "\n",
	} {
		if !strings.Contains(everything.String(), words) {
			t.Errorf("manifests do not contain %q", words)
		}
	}
}

func TestWaitUntilStopsWithContext(t *testing.T) {
	t.Parallel()
	cluster := newStoppedCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := cluster.waitUntil(ctx, checkNode); err == nil {
		t.Error("waitUntil succeeded without a kubeconfig")
	}
}
