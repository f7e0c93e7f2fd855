// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

// The operator may be killed at any moment, and its replacement knows only the state on
// the API server. Each scenario runs once without a kill, and then once for each of its
// writes with an operator that is killed right before that write: the final state must
// be the same, and no published key may have changed.

// soakDuration returns how long to try kills. It is zero in CI, which runs a fraction of
// them; see hack/soak.sh.
func soakDuration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("ANAMNESIS_SOAK")
	if text == "" {
		return 0
	}
	seconds, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ANAMNESIS_SOAK=%q: %v: give whole seconds", text, err)
	}
	return time.Duration(seconds) * time.Second
}

const (
	// killStride is the stride between tested kills when not soaking.
	killStride = 40
	// maxConcurrentKills limits how many operators run scenarios concurrently. They mostly
	// wait rather than compute.
	maxConcurrentKills = 6
)

func TestKillBeforeEachWrite(t *testing.T) {
	t.Parallel()
	stride := killStride
	if soakDuration(t) > 0 {
		stride = 1
	}
	slots := make(chan struct{}, maxConcurrentKills)
	within := func(name string, test func(*testing.T)) {
		slots <- struct{}{}
		defer func() { <-slots }()
		t.Run(name, test)
	}
	var group sync.WaitGroup
	for i, path := range scenarios {
		group.Go(func() {
			var peace scenarioResult
			within(path.name, func(t *testing.T) { peace = path.runUninterrupted(t) })
			for cut := 1 + i%max(1, min(stride, peace.writes)); cut <= peace.writes; cut += stride {
				group.Go(func() {
					within(fmt.Sprintf("%s, killed before write %d of %d", path.name, cut, peace.writes), func(t *testing.T) { path.runKilled(t, cut, peace) })
				})
			}
		})
	}
	group.Wait()
}

// A scenarioResult is the result of a scenario without a kill: a snapshot, the Secret
// contents that changed, and the number of writes.
type scenarioResult struct {
	snapshot       string
	templates      []string
	changedSecrets map[string]bool
	writes         int
}

func (w scenario) runUninterrupted(t *testing.T) scenarioResult {
	p, before := w.setUp(t)
	templates := p.watchTemplates()
	counted := len(p.writes.all())
	for _, phase := range w.steps {
		phase.act(p)
		p.Eventually(func() string { return p.pendingStep(phase) }).Should(gomega.BeEmpty())
	}
	p.waitUntilIdleFor(time.Second)
	outcome := scenarioResult{snapshot: p.snapshot(), templates: templates(), changedSecrets: map[string]bool{}, writes: len(p.writes.all()) - counted}
	if outcome.writes == 0 {
		t.Fatal("nothing was written: there is nothing to cut")
	}
	for name, content := range p.secretContents() {
		outcome.changedSecrets[name] = before[name] != "" && before[name] != content
	}
	return outcome
}

func (w scenario) setUp(t *testing.T) (p *harness, secrets map[string]string) {
	t.Helper()
	p = newHarnessWithoutOperator(t)
	p.startOperator(serverImage)
	if w.prepare != nil {
		w.prepare(p)
	}
	p.waitUntilIdleFor(300 * time.Millisecond)
	return p, p.secretContents()
}

// runKilled runs the scenario with an operator that is killed before a write, and a
// replacement.
func (w scenario) runKilled(t *testing.T, cut int, peace scenarioResult) {
	p, before := w.setUp(t)
	templates := p.watchTemplates()
	killed := p.killBeforeWrite(cut)
	var left map[string]string
	await := func(missing func() string) {
		p.Eventually(func() string {
			select {
			case <-killed:
				killed = nil
				left = p.replaceOperator()
			default:
			}
			return missing()
		}).WithPolling(100 * time.Millisecond).Should(gomega.BeEmpty())
	}
	for _, phase := range w.steps {
		phase.act(p)
		await(func() string { return p.pendingStep(phase) })
	}
	await(func() string { return cmp.Diff(peace.snapshot, p.snapshot()) })
	p.waitUntilIdleFor(300 * time.Millisecond)
	if diff := cmp.Diff(peace.snapshot, p.snapshot()); diff != "" {
		t.Errorf("the end differs from that without a kill (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(peace.templates, templates()); diff != "" {
		t.Errorf("the pod templates on the way differ from those without a kill (-without +with):\n%s", diff)
	}
	if killed != nil && cut == 1 {
		t.Error("the operator was not killed")
	}
	checkKeys(t, before, left, p.secretContents(), peace.changedSecrets)
}

// pendingStep describes what a step waits for, and returns an empty string once the step
// has taken effect.
func (p *harness) pendingStep(phase scenarioStep) string {
	p.t.Helper()
	if phase.done(p) {
		return ""
	}
	return "not yet: " + p.snapshot()
}

// checkKeys checks that the Secret contents from before the kill are unchanged. Contents
// that the scenario renews may change, but only once.
func checkKeys(t *testing.T, before, left, now map[string]string, renewed map[string]bool) {
	t.Helper()
	for name := range left {
		isRenewedYet := before[name] != left[name]
		if content, kept := now[name]; kept && content != left[name] && (!renewed[name] || isRenewedYet) {
			t.Errorf("the content of %s was there when the operator was killed, and is another now", name)
		}
	}
}

var errKilled = errors.New("the operator was killed")

// killBeforeWrite kills the operator right before its n-th write from now. No later
// request of the operator reaches the API server.
func (p *harness) killBeforeWrite(n int) (killed chan struct{}) {
	killed = make(chan struct{})
	writes := 0
	p.writes.rejectWrites(func(*http.Request) error {
		writes++
		if writes < n {
			return nil
		}
		if writes == n {
			p.connection.disconnect()
			close(killed)
		}
		return errKilled
	})
	return killed
}

// replaceOperator starts a replacement for a killed operator and returns the Secret
// contents in between.
func (p *harness) replaceOperator() (left map[string]string) {
	p.t.Helper()
	p.stop()
	p.writes.rejectWrites(nil)
	left = p.secretContents()
	p.startOperator(p.image)
	return left
}

// watchTemplates watches the Deployments of the platform and returns a function that
// lists their pod templates since, in order.
func (p *harness) watchTemplates() (templates func() []string) {
	p.t.Helper()
	had := map[string][]string{}
	stop := p.watchObjects(&appsv1.DeploymentList{}, func(object runtime.Object) {
		deployment := object.(*appsv1.Deployment)
		hash := rollout.TemplateHash(deployment)
		if last := had[deployment.Name]; len(last) == 0 || last[len(last)-1] != hash {
			had[deployment.Name] = append(last, hash)
		}
	})
	return func() []string {
		stop()
		var lines []string
		names := &placeholders{}
		for _, name := range slices.Sorted(maps.Keys(had)) {
			lines = append(lines, names.normalize(fmt.Sprint(name, " ", had[name])))
		}
		return lines
	}
}
