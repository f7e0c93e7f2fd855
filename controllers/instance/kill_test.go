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

// The operator may be killed at any time, and its replacement knows only the state on the
// API server. Each scenario runs once without a kill, and then once for each write with an
// operator that is killed right before that write. The final state must be the same, and
// no published key may change.

// soakDuration returns how long to run the kill tests. It is zero in CI, which runs only a
// fraction of the kills; see hack/soak.sh.
func soakDuration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("ANAMNESIS_SOAK")
	if text == "" {
		return 0
	}
	seconds, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("invalid ANAMNESIS_SOAK %q: %v: expected whole seconds", text, err)
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
	runLimited := func(name string, test func(*testing.T)) {
		slots <- struct{}{}
		defer func() { <-slots }()
		t.Run(name, test)
	}
	var group sync.WaitGroup
	for i, scenario := range scenarios {
		group.Go(func() {
			var uninterrupted scenarioResult
			runLimited(scenario.name, func(t *testing.T) { uninterrupted = scenario.runUninterrupted(t) })
			for write := 1 + i%max(1, min(stride, uninterrupted.writes)); write <= uninterrupted.writes; write += stride {
				group.Go(func() {
					runLimited(fmt.Sprintf("%s, killed before write %d of %d", scenario.name, write, uninterrupted.writes), func(t *testing.T) { scenario.runKilled(t, write, uninterrupted) })
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

func (s scenario) runUninterrupted(t *testing.T) scenarioResult {
	h, before := s.setUp(t)
	templates := h.watchTemplates()
	writesBefore := len(h.writes.all())
	for _, step := range s.steps {
		step.apply(h)
		h.Eventually(func() string { return h.pendingStep(step) }).Should(gomega.BeEmpty())
	}
	h.waitUntilIdleFor(time.Second)
	result := scenarioResult{snapshot: h.snapshot(), templates: templates(), changedSecrets: map[string]bool{}, writes: len(h.writes.all()) - writesBefore}
	if result.writes == 0 {
		t.Fatal("the scenario wrote nothing")
	}
	for name, content := range h.secretContents() {
		result.changedSecrets[name] = before[name] != "" && before[name] != content
	}
	return result
}

func (s scenario) setUp(t *testing.T) (h *harness, secrets map[string]string) {
	t.Helper()
	h = newHarnessWithoutOperator(t)
	h.startOperator(serverImage)
	if s.prepare != nil {
		s.prepare(h)
	}
	h.waitUntilIdleFor(300 * time.Millisecond)
	return h, h.secretContents()
}

// runKilled runs the scenario with an operator that is killed before a write, and a
// replacement.
func (s scenario) runKilled(t *testing.T, write int, uninterrupted scenarioResult) {
	h, before := s.setUp(t)
	templates := h.watchTemplates()
	killed := h.killBeforeWrite(write)
	var secretsAtKill map[string]string
	await := func(pending func() string) {
		h.Eventually(func() string {
			select {
			case <-killed:
				killed = nil
				secretsAtKill = h.replaceOperator()
			default:
			}
			return pending()
		}).WithPolling(100 * time.Millisecond).Should(gomega.BeEmpty())
	}
	for _, step := range s.steps {
		step.apply(h)
		await(func() string { return h.pendingStep(step) })
	}
	await(func() string { return cmp.Diff(uninterrupted.snapshot, h.snapshot()) })
	h.waitUntilIdleFor(300 * time.Millisecond)
	if diff := cmp.Diff(uninterrupted.snapshot, h.snapshot()); diff != "" {
		t.Errorf("final state (-without kill +with kill):\n%s", diff)
	}
	if diff := cmp.Diff(uninterrupted.templates, templates()); diff != "" {
		t.Errorf("pod templates (-without kill +with kill):\n%s", diff)
	}
	if killed != nil && write == 1 {
		t.Error("the operator was not killed")
	}
	checkKeys(t, before, secretsAtKill, h.secretContents(), uninterrupted.changedSecrets)
}

// pendingStep returns a description of a step that has not taken effect yet, or an empty
// string once it has.
func (h *harness) pendingStep(step scenarioStep) string {
	h.t.Helper()
	if step.done(h) {
		return ""
	}
	return "pending: " + h.snapshot()
}

// checkKeys checks that the Secret contents from before the kill are unchanged. Contents
// that the scenario renews may change, but only once.
func checkKeys(t *testing.T, before, atKill, now map[string]string, renewed map[string]bool) {
	t.Helper()
	for name := range atKill {
		wasRenewed := before[name] != atKill[name]
		if content, ok := now[name]; ok && content != atKill[name] && (!renewed[name] || wasRenewed) {
			t.Errorf("%s changed although it existed when the operator was killed", name)
		}
	}
}

var errKilled = errors.New("the operator was killed")

// killBeforeWrite kills the operator right before its n-th write from now on: that write
// and all later requests do not reach the API server.
func (h *harness) killBeforeWrite(n int) (killed chan struct{}) {
	killed = make(chan struct{})
	writes := 0
	h.writes.rejectWrites(func(*http.Request) error {
		writes++
		if writes < n {
			return nil
		}
		if writes == n {
			h.connection.disconnect()
			close(killed)
		}
		return errKilled
	})
	return killed
}

// replaceOperator replaces a killed operator and returns the Secret contents before the
// replacement starts.
func (h *harness) replaceOperator() (secrets map[string]string) {
	h.t.Helper()
	h.stop()
	h.writes.rejectWrites(nil)
	secrets = h.secretContents()
	h.startOperator(h.image)
	return secrets
}

// watchTemplates watches the Deployments in the test's namespace. It returns a function
// that stops the watch and returns the observed pod templates, in order.
func (h *harness) watchTemplates() (templates func() []string) {
	h.t.Helper()
	history := map[string][]string{}
	stop := h.watchObjects(&appsv1.DeploymentList{}, func(object runtime.Object) {
		deployment := object.(*appsv1.Deployment)
		hash := rollout.TemplateHash(deployment)
		if last := history[deployment.Name]; len(last) == 0 || last[len(last)-1] != hash {
			history[deployment.Name] = append(last, hash)
		}
	})
	return func() []string {
		stop()
		var lines []string
		names := &placeholders{}
		for _, name := range slices.Sorted(maps.Keys(history)) {
			lines = append(lines, names.normalize(fmt.Sprint(name, " ", history[name])))
		}
		return lines
	}
}
