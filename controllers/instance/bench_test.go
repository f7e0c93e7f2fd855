// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// benchInstances is for how many Instances the operator is measured, and
	// benchRounds how often each is visited.
	benchInstances = 200
	benchRounds    = 5
)

// BenchmarkSettledInstances measures the operator's own binary, in a process of
// its own: for how much processor time it visits an Instance at which nothing is
// to be done, whether it then writes, and what memory it has. What it takes to
// hear of the visit is part of it.
func BenchmarkSettledInstances(b *testing.B) {
	p := foundPlatform(b)
	p.SetDefaultEventuallyTimeout(10 * time.Minute)
	p.world.change(func(w *world) { w.pause = 500 * time.Millisecond })
	operator := p.startOperatorProcess()
	began := time.Now()
	for i := range benchInstances {
		p.create(p.instance(fmt.Sprintf("tenant-%03d", i)))
	}
	p.Eventually(p.countReady).WithPolling(time.Second).Should(gomega.Equal(benchInstances))
	ready := time.Since(began)
	p.world.change(func(w *world) { w.pause = time.Hour })
	operator.rest()

	for b.Loop() {
		visits, writes, used := operator.visits(), operator.writes(), operator.processorTime()
		for range benchRounds {
			p.askForVisits()
			operator.rest()
		}
		used = operator.processorTime() - used
		visits = operator.visits() - visits
		if visits < benchRounds*benchInstances {
			b.Fatalf("%d visits of %d Instances in %d rounds", visits, benchInstances, benchRounds)
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(visits), "ms-cpu/visit")
		b.ReportMetric(float64(operator.writes()-writes), "writes")
	}
	b.ReportMetric(ready.Seconds(), "s-until-ready")
	b.ReportMetric(operator.gauge("go_memstats_heap_inuse_bytes")/1e6, "MB-heap")
	b.ReportMetric(operator.residentMegabytes(), "MB-resident")
}

func (p *platform) countReady() int {
	count := 0
	for _, object := range p.list(&v1alpha1.InstanceList{}) {
		if slices.Contains(p.state(object.GetName()), "Ready=True Ready") {
			count++
		}
	}
	return count
}

// askForVisits has the operator look at each Instance once.
func (p *platform) askForVisits() {
	p.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"test.example/visit":%q}}}`, time.Now()))
	for _, object := range p.list(&v1alpha1.InstanceList{}) {
		if err := p.Patch(p.t.Context(), object, patch); err != nil {
			p.t.Fatal(err)
		}
	}
}

// An operatorProcess is the operator's binary at work.
type operatorProcess struct {
	t       testing.TB
	pid     int
	metrics string
}

// startOperatorProcess builds the operator and runs it for the platform's
// namespace until the test ends.
func (p *platform) startOperatorProcess() operatorProcess {
	p.t.Helper()
	folder := p.t.TempDir()
	binary, access := filepath.Join(folder, "operator"), filepath.Join(folder, "kubeconfig")
	if output, err := exec.Command("go", "build", "-o", binary, "github.com/anamnesis-dev/anamnesis/controllers").CombinedOutput(); err != nil {
		p.t.Fatalf("building the operator: %v\n%s", err, output)
	}
	user, err := environment.AddUser(envtest.User{Name: "operator", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(access, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	address := freeAddress(p.t)
	command := exec.Command(binary, "--server-image="+serverImage, "--namespace="+p.namespace, "--namespaces="+p.namespace,
		"--metrics-bind-address="+address, "--health-probe-bind-address=0")
	command.Env = append(os.Environ(), "KUBECONFIG="+access)
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			p.t.Error(err)
		}
		if err := command.Wait(); err != nil {
			p.t.Errorf("the operator ended: %v\n%s", err, said.Bytes())
		}
	})
	return operatorProcess{p.t, command.Process.Pid, "http://" + address + "/metrics"}
}

// freeAddress gives one that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// rest waits until the operator has used the processor for no more than a blink
// in two seconds.
func (o operatorProcess) rest() {
	o.t.Helper()
	const blink = 20 * time.Millisecond
	for last := o.processorTime(); ; {
		time.Sleep(2 * time.Second)
		now := o.processorTime()
		if now-last <= blink {
			return
		}
		last = now
	}
}

// processorTime is what the operator has used of it so far.
func (o operatorProcess) processorTime() time.Duration {
	o.t.Helper()
	const tick = 10 * time.Millisecond // of every Linux that Go runs on
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.pid))
	if err != nil {
		o.t.Fatalf("only Linux tells this: %v", err)
	}
	// The name of the program, in parentheses, may hold anything.
	_, figures, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(figures)
	total := 0
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		if err != nil {
			o.t.Fatal(err)
		}
		total += ticks
	}
	return time.Duration(total) * tick
}

func (o operatorProcess) residentMegabytes() float64 {
	o.t.Helper()
	return o.gauge("process_resident_memory_bytes") / 1e6
}

func (o operatorProcess) visits() int {
	o.t.Helper()
	return int(o.sum("anamnesis_operator_reconciles_total", func(*dto.Metric) bool { return true }))
}

// writes are requests that are no reads.
func (o operatorProcess) writes() int {
	o.t.Helper()
	return int(o.sum("rest_client_requests_total", func(metric *dto.Metric) bool {
		return !slices.ContainsFunc(metric.GetLabel(), func(label *dto.LabelPair) bool {
			return label.GetName() == "method" && label.GetValue() == http.MethodGet
		})
	}))
}

func (o operatorProcess) gauge(name string) float64 {
	o.t.Helper()
	return o.sum(name, func(*dto.Metric) bool { return true })
}

// sum adds up those of a family of metrics that count.
func (o operatorProcess) sum(name string, counts func(*dto.Metric) bool) float64 {
	o.t.Helper()
	answer, err := http.Get(o.metrics)
	if err != nil {
		o.t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		o.t.Fatalf("reading the operator's metrics: %v", err)
	}
	family, ok := families[name]
	if !ok {
		o.t.Fatalf("the operator has no metric %s", name)
	}
	total := 0.0
	for _, metric := range family.GetMetric() {
		if counts(metric) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return total
}
