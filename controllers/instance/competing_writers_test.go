// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
)

// A competing writer that repeatedly changes the operator's fields must neither win nor
// cause a write loop.

// A competingWriter repeatedly changes one owned object of an Instance. The Instance is
// named after the object's kind in lower case.
type competingWriter struct {
	// nameSuffix is the suffix of the object's name after the Instance's name.
	nameSuffix string
	// fields are the fields to apply repeatedly.
	fields map[string]any
}

var competingWriters = map[string]competingWriter{
	"ConfigMap":              {"-config", map[string]any{"data": map[string]any{"config.yaml": "the rival's"}}},
	inventory.KindDeployment: {"", containerImage("rival.example/image")},

	inventory.KindJob:                   {"", appName("rival")},
	"NetworkPolicy":                     {"", map[string]any{"spec": map[string]any{"policyTypes": []any{"Ingress"}}}},
	inventory.KindPersistentVolumeClaim: {"-data", appName("rival")},
	"PodDisruptionBudget":               {"", map[string]any{"spec": map[string]any{"maxUnavailable": int64(7)}}},
	inventory.KindSecret: {"-credentials", map[string]any{"data": map[string]any{
		"default.json": base64.StdEncoding.EncodeToString([]byte("the rival's")),
	}}},
	"Service": {"", map[string]any{"spec": map[string]any{"ports": []any{
		map[string]any{"port": int64(443), "protocol": "TCP", "targetPort": int64(7)},
	}}}},
	"ServiceAccount": {"", map[string]any{"automountServiceAccountToken": true}},
}

func containerImage(image string) map[string]any {
	container := map[string]any{"name": "apiserver", "image": image}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}}
}

func appName(name string) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"app.kubernetes.io/name": name}}}
}

const (
	// competitionDuration is how long competing writers write, and competitionInterval the
	// interval between writes.
	competitionDuration = 3 * time.Second
	competitionInterval = 20 * time.Millisecond
)

func TestCompetingWritersNeitherWinNorCauseWriteLoop(t *testing.T) {
	h := newHarness(t)
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(competingWriters)), func(kind string) bool { return kind == inventory.KindJob })
	for _, kind := range kinds {
		h.createForCompetingWriter(kind)
	}
	for _, kind := range kinds {
		h.waitForConditions(strings.ToLower(kind), "Ready=True Ready")
	}
	h.waitUntilIdle()
	before := h.snapshot()
	h.compete(kinds...)
	for _, kind := range kinds {
		h.waitForConditions(strings.ToLower(kind), "Ready=True Ready")
	}
	h.waitUntilIdle()
	if diff := cmp.Diff(before, h.snapshot()); diff != "" {
		t.Errorf("changes left by competing writers (-before +after):\n%s", diff)
	}
}

func TestCompetingWriterOnRunningPreflightLoses(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.createForCompetingWriter(inventory.KindJob)
	h.waitForConditions("job", "Reconciling=True PreflightRunning")
	h.waitUntilIdle()
	h.compete(inventory.KindJob)
	h.Eventually(func() string { return h.listJobs()[0].Labels["app.kubernetes.io/name"] }).Should(gomega.Equal("anamnesis"))
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.waitForConditions("job", "Ready=True Ready")
}

func TestEveryKindHasCompetingWriter(t *testing.T) {
	t.Parallel()
	for _, kind := range inventory.Kinds {
		if _, ok := competingWriters[kind.Name]; !ok {
			t.Errorf("kind %s has no competing writer: add one to competingWriters", kind.Name)
		}
	}
}

// createForCompetingWriter creates the Instance for the competing writer of a kind.
func (h *harness) createForCompetingWriter(kind string) {
	h.t.Helper()
	name := strings.ToLower(kind)
	if kind == inventory.KindPersistentVolumeClaim {
		h.mustCreate(h.newInstance(name))
		return
	}
	h.mustCreate(h.newExternalInstance(name))
}

// compete runs competing writers concurrently for competitionDuration. The operator may
// only write in response to them. A response may take several writes, including a status
// update.
func (h *harness) compete(kinds ...string) {
	h.t.Helper()
	writesBefore := len(h.writes.all())
	ctx, cancel := context.WithTimeout(h.t.Context(), competitionDuration)
	defer cancel()
	changes := make([]int, len(kinds))
	var group sync.WaitGroup
	for i, kind := range kinds {
		group.Go(func() { changes[i] = h.competeOn(ctx, kind) })
	}
	group.Wait()
	h.waitUntilIdleFor(time.Second)
	writes := h.writes.all()[writesBefore:]
	for i, kind := range kinds {
		responses := 0
		for _, write := range writes {
			if strings.Contains(write, "/"+strings.ToLower(kind)) {
				responses++
			}
		}
		h.t.Logf("%s: %d changes by the competing writer in %s, %d writes by the operator", kind, changes[i], competitionDuration, responses)
		if changes[i] < 2 {
			h.t.Errorf("%s: the operator did not revert the changes of the competing writer", kind)
		}
		if responses > 4*changes[i] {
			h.t.Errorf("%s: got %d writes by the operator for %d changes by the competing writer", kind, responses, changes[i])
		}
	}
}

// competeOn runs the competing writer of a kind until the context ends, and returns the
// number of changes it made.
func (h *harness) competeOn(ctx context.Context, kind string) (changes int) {
	competitor, desired := h.competingClient(), h.competingObject(kind)
	version := ""
	for ctx.Err() == nil {
		object := desired.DeepCopy()
		err := competitor.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("rival"), client.ForceOwnership)
		if err != nil && ctx.Err() == nil {
			h.t.Errorf("competing writer of %s: %v", kind, err)
			return changes
		}
		if object.GetResourceVersion() != version {
			changes++
		}
		version = object.GetResourceVersion()
		time.Sleep(competitionInterval)
	}
	return changes
}

// competingClient returns a client without client-side throttling.
func (h *harness) competingClient() client.Client {
	cluster := controlplanetest.Get(h.t).AdminConfig()
	cluster.QPS = -1
	competitor, err := client.New(cluster, client.Options{Scheme: h.Scheme()})
	if err != nil {
		panic(err)
	}
	return competitor
}

func (h *harness) competingObject(kind string) *unstructured.Unstructured {
	gvk, err := apiutil.GVKForObject(inventory.NewObject(kind), h.Scheme())
	if err != nil {
		panic(err)
	}
	desired := (&unstructured.Unstructured{Object: competingWriters[kind].fields}).DeepCopy()
	desired.SetGroupVersionKind(gvk)
	desired.SetNamespace(h.namespace)
	desired.SetName(strings.ToLower(kind) + competingWriters[kind].nameSuffix)
	if kind == inventory.KindJob {
		desired.SetName(h.listJobs()[0].Name)
	}
	return desired
}

// TestCompetingWriterOnInstanceLoses covers a competing writer that removes the Instance's
// status and edits its annotations more often than the operator can reconcile.
func TestCompetingWriterOnInstanceLoses(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	before, writesBefore := h.snapshot(), len(h.writes.all())
	changes := 0
	for end := time.Now().Add(competitionDuration); time.Now().Before(end); time.Sleep(competitionInterval) {
		h.updateInstance("acme", func(instance *v1alpha1.Instance) {
			metav1.SetMetaDataAnnotation(&instance.ObjectMeta, "test.example/rival", time.Now().String())
		})
		h.clearStatus("acme")
		changes += 2
	}
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	if diff := cmp.Diff(before, h.snapshot()); diff != "" {
		t.Errorf("changes left by the competing writer (-before +after):\n%s", diff)
	}
	writes := h.writes.all()[writesBefore:]
	t.Logf("%d changes by the competing writer in %s, %d writes by the operator", changes, competitionDuration, len(writes))
	for _, write := range writes {
		if !strings.HasSuffix(write, "/instances/acme/status") {
			t.Errorf("unexpected write %s: only the status was changed", write)
		}
	}
}
