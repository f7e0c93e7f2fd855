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

// The operator may be killed at any moment, and whoever takes its place knows
// only what the API server knows. Each path of an Instance's life is gone once
// in peace, and then once for each write on it with an operator that is killed
// right before that write: the end must be the same, and no key that was handed
// out may have changed.

// soak is for how many seconds what may break is tried, and zero in CI, which
// runs a share of it: hack/soak.sh says so.
func soak(t *testing.T) time.Duration {
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
	// cutStride is which share of all cuts is made when not soaking.
	cutStride = 20
	// cutsAtATime bounds how many operators go along paths beside each other.
	// They wait more than they compute.
	cutsAtATime = 6
)

func TestKillBeforeEachWrite(t *testing.T) {
	t.Parallel()
	stride := cutStride
	if soak(t) > 0 {
		stride = 1
	}
	slots := make(chan struct{}, cutsAtATime)
	within := func(name string, test func(*testing.T)) {
		slots <- struct{}{}
		defer func() { <-slots }()
		t.Run(name, test)
	}
	var group sync.WaitGroup
	for i, path := range paths {
		group.Go(func() {
			var peace outcomeOfPath
			within(path.name, func(t *testing.T) { peace = path.goInPeace(t) })
			for cut := 1 + i%max(1, min(stride, peace.writes)); cut <= peace.writes; cut += stride {
				group.Go(func() {
					within(fmt.Sprintf("%s, killed before write %d of %d", path.name, cut, peace.writes), func(t *testing.T) { path.goKilled(t, cut, peace) })
				})
			}
		})
	}
	group.Wait()
}

// An outcomeOfPath is what a path led to without a kill: a portrait, which
// contents of Secrets changed on the way, and with how many writes.
type outcomeOfPath struct {
	portrait  string
	templates []string
	renewed   map[string]bool
	writes    int
}

func (w path) goInPeace(t *testing.T) outcomeOfPath {
	p, before := w.begin(t)
	templates := p.watchTemplates()
	counted := len(p.writes.all())
	for _, phase := range w.phases {
		phase.change(p)
		p.Eventually(func() string { return p.missing(phase) }).Should(gomega.BeEmpty())
	}
	p.restFor(time.Second)
	outcome := outcomeOfPath{portrait: p.portrait(), templates: templates(), renewed: map[string]bool{}, writes: len(p.writes.all()) - counted}
	if outcome.writes == 0 {
		t.Fatal("nothing was written: there is nothing to cut")
	}
	for name, content := range p.secrets() {
		outcome.renewed[name] = before[name] != "" && before[name] != content
	}
	return outcome
}

func (w path) begin(t *testing.T) (p *platform, secrets map[string]string) {
	t.Helper()
	p = foundPlatform(t)
	p.startOperator(serverImage)
	if w.prepare != nil {
		w.prepare(p)
	}
	p.restFor(300 * time.Millisecond)
	return p, p.secrets()
}

// goKilled goes along the path with an operator that is killed before a write,
// and another one that takes its place.
func (w path) goKilled(t *testing.T, cut int, peace outcomeOfPath) {
	p, before := w.begin(t)
	templates := p.watchTemplates()
	killed := p.killBefore(cut)
	var left map[string]string
	await := func(missing func() string) {
		p.Eventually(func() string {
			select {
			case <-killed:
				killed = nil
				left = p.succeed()
			default:
			}
			return missing()
		}).WithPolling(100 * time.Millisecond).Should(gomega.BeEmpty())
	}
	for _, phase := range w.phases {
		phase.change(p)
		await(func() string { return p.missing(phase) })
	}
	await(func() string { return cmp.Diff(peace.portrait, p.portrait()) })
	p.restFor(300 * time.Millisecond)
	if diff := cmp.Diff(peace.portrait, p.portrait()); diff != "" {
		t.Errorf("the end differs from that without a kill (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(peace.templates, templates()); diff != "" {
		t.Errorf("the pod templates on the way differ from those without a kill (-without +with):\n%s", diff)
	}
	if killed != nil && cut == 1 {
		t.Error("the operator was not killed")
	}
	judgeKeys(t, before, left, p.secrets(), peace.renewed)
}

// missing says what a phase waits for, and nothing once it has had its effect.
func (p *platform) missing(phase phase) string {
	p.t.Helper()
	if phase.reached(p) {
		return ""
	}
	return "not yet: " + p.portrait()
}

// judgeKeys says whether what was in Secrets when the operator was killed is so
// still. What the path renews may be renewed, but once.
func judgeKeys(t *testing.T, before, left, now map[string]string, renewed map[string]bool) {
	t.Helper()
	for name := range left {
		isRenewedYet := before[name] != left[name]
		if content, kept := now[name]; kept && content != left[name] && (!renewed[name] || isRenewedYet) {
			t.Errorf("the content of %s was there when the operator was killed, and is another now", name)
		}
	}
}

var errKilled = errors.New("the operator was killed")

// killBefore has the operator be killed right before its n-th write from now.
// Nothing of it reaches the API server from then on.
func (p *platform) killBefore(n int) (killed chan struct{}) {
	killed = make(chan struct{})
	writes := 0
	p.writes.refuse(func(*http.Request) error {
		writes++
		if writes < n {
			return nil
		}
		if writes == n {
			p.line.sever()
			close(killed)
		}
		return errKilled
	})
	return killed
}

// succeed starts an operator in the place of one that was killed, and tells what
// was in Secrets in between.
func (p *platform) succeed() (left map[string]string) {
	p.t.Helper()
	p.stop()
	p.writes.refuse(nil)
	left = p.secrets()
	p.startOperator(p.image)
	return left
}

// watchTemplates follows the Deployments of the platform, and gives what tells the
// pod templates that they have had since, one after the other.
func (p *platform) watchTemplates() (templates func() []string) {
	p.t.Helper()
	had := map[string][]string{}
	stop := p.follow(&appsv1.DeploymentList{}, func(object runtime.Object) {
		deployment := object.(*appsv1.Deployment)
		hash := rollout.TemplateHash(deployment)
		if last := had[deployment.Name]; len(last) == 0 || last[len(last)-1] != hash {
			had[deployment.Name] = append(last, hash)
		}
	})
	return func() []string {
		stop()
		var lines []string
		names := &aliases{}
		for _, name := range slices.Sorted(maps.Keys(had)) {
			lines = append(lines, names.replace(fmt.Sprint(name, " ", had[name])))
		}
		return lines
	}
}
