// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// failsWith has an Instance ask for a model whose pods do not become ready, for a
// reason that they show, and waits until that has failed and what was ready before
// is back.
func (p *platform) failsWith(instance *v1alpha1.Instance, plight corev1.PodStatus) {
	p.t.Helper()
	p.create(instance)
	p.reaches(instance.Name, "Ready=True Ready")
	p.world.change(func(w *world) { w.plight = plight })
	p.breakModel(olderVersion)
	p.editInstance(instance.Name, func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.isPutBack(instance.Name)
}

func (p *platform) isPutBack(name string) {
	p.t.Helper()
	p.reaches(name, "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
	p.Eventually(func() string { return models(p, name) }).Should(gomega.Equal(earlier))
}

// laterVisit moves the operator's clock ahead and has it visit an Instance.
func (p *platform) laterVisit(name string, later time.Duration) {
	p.t.Helper()
	p.ahead.Add(int64(later))
	p.visitAgain(name)
}

func (p *platform) remembered(name string) v1alpha1.Rollout {
	p.t.Helper()
	return read(p, name, &v1alpha1.Instance{}).Status.Rollout
}

// A history is what was asked of a Deployment: the models of each pod template
// that was sent, in their order.
type history struct {
	mutex  sync.Mutex
	models []string
}

// watch notes from now on what the operator asks of a Deployment, and does
// something whenever it has been asked.
func (p *platform) watch(name string, then func(context.Context)) *history {
	p.t.Helper()
	h := &history{models: []string{models(p, name)}}
	p.writes.refuse(func(request *http.Request) error {
		if !strings.HasSuffix(request.URL.Path, "/deployments/"+name) {
			return nil
		}
		if then != nil {
			then(request.Context())
		}
		return h.note(request)
	})
	p.t.Cleanup(func() { p.writes.refuse(nil) })
	return h
}

func (h *history) note(request *http.Request) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	body, err := request.GetBody()
	if err != nil {
		return err
	}
	sent := &appsv1.Deployment{}
	if err := json.NewDecoder(body).Decode(sent); err != nil {
		return err
	}
	h.models = append(h.models, sent.Spec.Template.Annotations[resources.ModelsAnnotation])
	return body.Close()
}

// changes are the models that pods were asked to serve, one after the other.
func (h *history) changes() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Compact(slices.Clone(h.models))
}

const earlier, wished = "service-en@" + newestVersion, "service-en@" + olderVersion

func TestDatabaseOutageHealsByItself(t *testing.T) {
	p := newPlatform(t)
	p.failsWith(p.external("acme"), lonely())
	p.Expect(p.remembered("acme").FailedCause).To(gomega.Equal(v1alpha1.FailureCauseDatabase))
	p.Expect(p.state("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	p.Expect(p.message("acme", "Stalled")).To(gomega.And(
		gomega.ContainSubstring("runs and is not ready"),
		gomega.ContainSubstring("tried again by itself after "+p.remembered("acme").FailedAt.Add(time.Minute).UTC().Format(time.RFC3339)),
		gomega.ContainSubstring("kubectl annotate instance -n "+p.namespace+" acme anamnesis.dev/retry=")))
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))

	p.settle()
	asked := p.watch("acme", nil)
	p.laterVisit("acme", 61*time.Second)
	p.Eventually(asked.changes).Should(gomega.Equal([]string{earlier, wished, earlier}), "the database is still away")
	p.isPutBack("acme")
	p.Expect(p.state("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	p.Expect(p.remembered("acme").Tries).To(gomega.BeEquivalentTo(1))
	p.settle()
	p.laterVisit("acme", 61*time.Second)
	p.settle()
	p.Expect(asked.changes()).To(gomega.HaveLen(3), "the second pause is longer")

	p.breakModel("none")
	p.laterVisit("acme", 61*time.Second)
	p.reaches("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	p.Expect(models(p, "acme")).To(gomega.Equal(wished))
	p.Expect(p.remembered("acme").Tries).To(gomega.BeZero())
}

func TestOperatorLooksByItselfWhenARetryIsDue(t *testing.T) {
	p := newPlatform(t)
	p.failsWith(p.external("acme"), lonely())
	p.settle()
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "acme"}})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("the next visit is due in %s, %v", result.RequeueAfter, err)
	}
}

// Whose database it is stands in a condition, and is no fault of the server.
func TestForeignDatabaseIsSaid(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.plight = foreign() })
	p.breakModel(newestVersion)
	p.create(p.external("acme"))
	p.reaches("acme", "StorageReady=False DatabaseForeign", "Available=False NoPodReady")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.ContainSubstring("the data of the Instance with the UID one"))
	p.Eventually(func() v1alpha1.FailureCause { return p.remembered("acme").FailedCause }).Should(gomega.Equal(v1alpha1.FailureCauseForeignDatabase))
	p.breakModel("none")
	p.reaches("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
}

func TestServerThatCrashesIsNotTriedAgainByItself(t *testing.T) {
	p := newPlatform(t)
	p.failsWith(p.external("acme"), crashing())
	p.Expect(p.remembered("acme").FailedCause).To(gomega.Equal(v1alpha1.FailureCauseServer))
	p.Expect(p.message("acme", "Stalled")).NotTo(gomega.ContainSubstring("by itself"))
	p.settle()
	asked := p.watch("acme", nil)
	p.laterVisit("acme", 10*24*time.Hour)
	p.settle()
	p.Expect(asked.changes()).To(gomega.Equal([]string{earlier}))
	p.isPutBack("acme")
}

func TestFailedRolloutIsTriedAgainWhenAsked(t *testing.T) {
	p := newPlatform(t)
	p.failsWith(p.external("acme"), crashing())
	p.settle()
	asked := p.watch("acme", nil)
	ask := func(value string) {
		p.editInstance("acme", func(instance *v1alpha1.Instance) {
			metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.RetryAnnotation, value)
		})
		p.Eventually(func() string { return p.remembered("acme").Retried }).Should(gomega.Equal(value))
	}
	ask("1")
	p.Eventually(asked.changes).Should(gomega.Equal([]string{earlier, wished, earlier}))
	p.isPutBack("acme")
	p.settle()
	p.visitAgain("acme")
	p.settle()
	p.Expect(asked.changes()).To(gomega.HaveLen(3), "it was asked for once")

	p.breakModel("none")
	ask("2")
	p.reaches("acme", "Ready=True Ready")
	p.Expect(models(p, "acme")).To(gomega.Equal(wished))
}

// TestTroubleThatIsNotTheServersHealsByItself: a node is ill, and what was ready
// before it does not start either.
func TestTroubleThatIsNotTheServersHealsByItself(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.world.change(func(w *world) {
		w.patient = true
		w.broken = func(corev1.PodTemplateSpec) bool { return true }
	})
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.reaches("acme", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	p.visitAgain("acme")
	p.Eventually(func() v1alpha1.FailureCause { return p.remembered("acme").FailedCause }).Should(gomega.Equal(v1alpha1.FailureCauseTenant))
	p.Expect(p.message("acme", "Stalled")).To(gomega.ContainSubstring("do not become ready either"))

	p.breakModel("none")
	p.reaches("acme", "Stalled=True RolloutFailed", "Available=True Serving")
	p.laterVisit("acme", 5*time.Minute)
	p.reaches("acme", "Ready=True Ready")
	p.Expect(models(p, "acme")).To(gomega.Equal(wished))
}

// TestWaitingInVainEndsEarly: with embedded storage nobody is served while new
// pods are waited for.
func TestWaitingInVainEndsEarly(t *testing.T) {
	for name, test := range map[string]struct {
		plight corev1.PodStatus
		cause  v1alpha1.FailureCause
		says   string
	}{
		"crashing":      {crashing(), v1alpha1.FailureCauseServer, "CrashLoopBackOff"},
		"unschedulable": {homeless(2 * time.Minute), v1alpha1.FailureCauseTenant, "Insufficient memory"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.world.change(func(w *world) { w.patient = true })
			p.failsWith(p.instance("acme"), test.plight)
			p.Expect(p.remembered("acme").FailedCause).To(gomega.Equal(test.cause))
			p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring(test.says))
		})
	}
	t.Run("others serve meanwhile", func(t *testing.T) {
		p := newPlatform(t)
		p.create(p.external("acme"))
		p.reaches("acme", "Ready=True Ready")
		p.world.change(func(w *world) { w.patient = true })
		p.breakModel(olderVersion)
		p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
		p.reaches("acme", "Reconciling=True RolloutProgressing", "Available=True Serving")
		p.settle()
		p.visitAgain("acme")
		p.settle()
		p.Expect(models(p, "acme")).To(gomega.Equal(wished), "the deadline decides")
	})
}

// TestFailureIsRememberedWithoutAStatus: a restore that leaves the status out
// neither repeats what failed nor moves the Instance to another build.
func TestFailureIsRememberedWithoutAStatus(t *testing.T) {
	p := newPlatform(t)
	p.failsWith(p.external("acme"), crashing())
	p.settle()
	asked := p.watch("acme", nil)
	p.stop()
	instance := read(p, "acme", &v1alpha1.Instance{})
	remembered := instance.Status.Rollout
	instance.Status = v1alpha1.InstanceStatus{}
	if err := p.Status().Update(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	p.startOperator(nextServerImage)
	p.isPutBack("acme")
	p.settle()
	p.Expect(asked.changes()).To(gomega.Equal([]string{earlier}), "the template that failed is tried again")
	p.Expect(p.remembered("acme")).To(gomega.Equal(remembered))
	p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage), "it is moved before its turn")
}

// TestFailureIsRememberedWhenTheStatusCannotBeWritten: somebody edits the Instance
// whenever the operator has just written the Deployment, so that the write of the
// status that follows is a conflict.
func TestFailureIsRememberedWhenTheStatusCannotBeWritten(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	conflicts := 0
	asked := p.watch("acme", func(ctx context.Context) {
		conflicts++
		edit := fmt.Sprintf(`{"metadata":{"annotations":{"test.example/edit":"%d"}}}`, conflicts)
		instance := &v1alpha1.Instance{ObjectMeta: objectMeta(p.namespace, "acme")}
		if err := p.Patch(ctx, instance, client.RawPatch(types.MergePatchType, []byte(edit))); err != nil {
			t.Errorf("editing the Instance: %v", err)
		}
	})
	p.breakModel(olderVersion)
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.isPutBack("acme")
	p.settle()
	p.Expect(asked.changes()).To(gomega.Equal([]string{earlier, wished, earlier}), "what failed is tried again")
	p.isPutBack("acme")
}

// TestRememberingRestartsNothing: an Instance of an operator that remembered in
// the status alone is told of on its Deployment, and stays as it is; so is one
// whose memory cannot be read.
func TestRememberingRestartsNothing(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	since := func() metav1.Time {
		ready := meta.FindStatusCondition(read(p, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)
		return ready.LastTransitionTime
	}
	before, ready := read(p, "acme", &appsv1.Deployment{}), since()
	p.Expect(before.Annotations[resources.RolloutAnnotation]).To(gomega.ContainSubstring(`"lastReady":"` + p.remembered("acme").LastReady))
	p.Expect(before.Spec.Template.Annotations).NotTo(gomega.HaveKey(resources.RolloutAnnotation))
	p.ahead.Store(int64(time.Hour))
	for _, text := range []string{"", "rubbish"} {
		edit(p, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
			delete(deployment.Annotations, resources.RolloutAnnotation)
			if text != "" {
				deployment.Annotations[resources.RolloutAnnotation] = text
			}
		})
		p.Eventually(func() string { return read(p, "acme", &appsv1.Deployment{}).Annotations[resources.RolloutAnnotation] }).
			Should(gomega.Equal(before.Annotations[resources.RolloutAnnotation]))
		p.settle()
		p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec))
		p.Expect(since()).To(gomega.Equal(ready), "it was not ready for a moment")
	}
}

// TestWhatNobodyHasAnyMoreIsNotPutBack: the replica set of what was ready is gone.
func TestWhatNobodyHasAnyMoreIsNotPutBack(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.world.change(func(w *world) { w.patient = true })
	p.breakModel(olderVersion)
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.reaches("acme", "Reconciling=True RolloutProgressing")
	set := &appsv1.ReplicaSet{ObjectMeta: objectMeta(p.namespace, "acme-"+p.remembered("acme").LastReady)}
	if err := p.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	p.world.change(func(w *world) { w.patient = false })
	p.reaches("acme", "Stalled=True RolloutFailed")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("replica set of those that did is gone"))
	p.atRest("acme")
	p.Expect(models(p, "acme")).To(gomega.Equal(wished))
}
