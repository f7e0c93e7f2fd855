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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
)

// Another writer that insists on other values of what the operator sends must
// neither win nor have the operator write without end.

// A rival insists on other values in one child of the Instance named like its
// kind, in small letters.
type rival struct {
	// child is what follows the Instance's name in that of the child.
	child string
	// fields are what it sends, over and over.
	fields map[string]any
}

var rivals = map[string]rival{
	"ConfigMap":             {"-config", map[string]any{"data": map[string]any{"config.yaml": "the rival's"}}},
	children.KindDeployment: {"", containerImage("rival.example/image")},

	children.KindJob:                   {"", appName("rival")},
	"NetworkPolicy":                    {"", map[string]any{"spec": map[string]any{"policyTypes": []any{"Ingress"}}}},
	children.KindPersistentVolumeClaim: {"-data", appName("rival")},
	"PodDisruptionBudget":              {"", map[string]any{"spec": map[string]any{"maxUnavailable": int64(7)}}},
	children.KindSecret: {"-credentials", map[string]any{"data": map[string]any{
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
	// rivalry is how long rivals insist, and rivalPause how long each pauses.
	rivalry    = 3 * time.Second
	rivalPause = 20 * time.Millisecond
)

func TestRivalsOnChildrenNeitherWinNorKeepTheOperatorBusy(t *testing.T) {
	p := newPlatform(t)
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(rivals)), func(kind string) bool { return kind == children.KindJob })
	for _, kind := range kinds {
		p.createForRival(kind)
	}
	for _, kind := range kinds {
		p.reaches(strings.ToLower(kind), "Ready=True Ready")
	}
	p.settle()
	before := p.portrait()
	p.insist(kinds...)
	for _, kind := range kinds {
		p.reaches(strings.ToLower(kind), "Ready=True Ready")
	}
	p.settle()
	if diff := cmp.Diff(before, p.portrait()); diff != "" {
		t.Errorf("what the rivals left (-before +after):\n%s", diff)
	}
}

func TestRivalOnAPreflightThatRunsDoesNotWin(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.idle = true })
	p.createForRival(children.KindJob)
	p.reaches("job", "Reconciling=True PreflightRunning")
	p.settle()
	p.insist(children.KindJob)
	p.Eventually(func() string { return p.jobs()[0].Labels["app.kubernetes.io/name"] }).Should(gomega.Equal("anamnesis"))
	p.world.change(func(w *world) { w.idle = false })
	p.reaches("job", "Ready=True Ready")
}

func TestEachKindOfChildHasARival(t *testing.T) {
	t.Parallel()
	for _, kind := range children.Kinds {
		if _, ok := rivals[kind.Name]; !ok {
			t.Errorf("nobody tries what becomes of a %s that another writer insists on: add one to rivals", kind.Name)
		}
	}
}

// createForRival makes the Instance whose child of a kind a rival changes.
func (p *platform) createForRival(kind string) {
	p.t.Helper()
	name := strings.ToLower(kind)
	if kind == children.KindPersistentVolumeClaim {
		p.create(p.instance(name))
		return
	}
	p.create(p.external(name))
}

// insist has rivals write beside each other for a while. What the operator writes
// meanwhile must be no more than answers to them: an answer may take two writes
// where a list cannot hold both, and status tells what came of it.
func (p *platform) insist(kinds ...string) {
	p.t.Helper()
	counted := len(p.writes.all())
	ctx, cancel := context.WithTimeout(p.t.Context(), rivalry)
	defer cancel()
	changes := make([]int, len(kinds))
	var group sync.WaitGroup
	for i, kind := range kinds {
		group.Go(func() { changes[i] = p.insistOn(ctx, kind) })
	}
	group.Wait()
	p.restFor(time.Second)
	written := p.writes.all()[counted:]
	for i, kind := range kinds {
		answers := 0
		for _, write := range written {
			if strings.Contains(write, "/"+strings.ToLower(kind)) {
				answers++
			}
		}
		p.t.Logf("%s: %d changes by the rival in %s, %d writes by the operator", kind, changes[i], rivalry, answers)
		if changes[i] < 2 {
			p.t.Errorf("%s: the operator did not put back what the rival changed", kind)
		}
		if answers > 4*changes[i] {
			p.t.Errorf("%s: %d writes by the operator for %d changes by the rival", kind, answers, changes[i])
		}
	}
}

// insistOn has the rival of a kind write until the context ends, and tells how
// often that changed something.
func (p *platform) insistOn(ctx context.Context, kind string) (changes int) {
	rival, wish := p.rivalClient(), p.wishOfRival(kind)
	version := ""
	for ctx.Err() == nil {
		object := wish.DeepCopy()
		err := rival.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("rival"), client.ForceOwnership)
		if err != nil && ctx.Err() == nil {
			p.t.Errorf("the rival's %s: %v", kind, err)
			return changes
		}
		if object.GetResourceVersion() != version {
			changes++
		}
		version = object.GetResourceVersion()
		time.Sleep(rivalPause)
	}
	return changes
}

// rivalClient is one that is as fast as the API server lets it be.
func (p *platform) rivalClient() client.Client {
	shared, err := controlPlane()
	if err != nil {
		panic(err)
	}
	cluster := rest.CopyConfig(shared)
	cluster.QPS = -1
	rival, err := client.New(cluster, client.Options{Scheme: p.Scheme()})
	if err != nil {
		panic(err)
	}
	return rival
}

func (p *platform) wishOfRival(kind string) *unstructured.Unstructured {
	gvk, err := apiutil.GVKForObject(children.NewOfKind(kind), p.Scheme())
	if err != nil {
		panic(err)
	}
	wish := (&unstructured.Unstructured{Object: rivals[kind].fields}).DeepCopy()
	wish.SetGroupVersionKind(gvk)
	wish.SetNamespace(p.namespace)
	wish.SetName(strings.ToLower(kind) + rivals[kind].child)
	if kind == children.KindJob {
		wish.SetName(p.jobs()[0].Name)
	}
	return wish
}

// A rival for the Instance itself takes its status away and edits what does not
// concern the operator, faster than a visit lasts.
func TestRivalOnTheInstanceItselfDoesNotWin(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	before, counted := p.portrait(), len(p.writes.all())
	changes := 0
	for end := time.Now().Add(rivalry); time.Now().Before(end); time.Sleep(rivalPause) {
		p.editInstance("acme", func(instance *v1alpha1.Instance) {
			metav1.SetMetaDataAnnotation(&instance.ObjectMeta, "test.example/rival", time.Now().String())
		})
		p.wipeStatus("acme")
		changes += 2
	}
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	if diff := cmp.Diff(before, p.portrait()); diff != "" {
		t.Errorf("what the rival left (-before +after):\n%s", diff)
	}
	writes := p.writes.all()[counted:]
	t.Logf("%d changes by the rival in %s, %d writes by the operator", changes, rivalry, len(writes))
	for _, write := range writes {
		if !strings.HasSuffix(write, "/instances/acme/status") {
			t.Errorf("%s: nothing but the status was another's", write)
		}
	}
}
