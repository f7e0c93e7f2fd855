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

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

const (
	// benchInstances is the number of Instances in the benchmark, and benchRounds the number
	// of reconciles of each.
	benchInstances = 200
	benchRounds    = 5
)

// BenchmarkSettledInstances measures the operator's binary in a separate process: the
// CPU time to reconcile a settled Instance, the writes it sends, and its memory. The CPU
// time includes handling the watch event.
func BenchmarkSettledInstances(b *testing.B) {
	h := newHarnessWithoutOperator(b)
	h.SetDefaultEventuallyTimeout(10 * time.Minute)
	h.cluster.update(func(c *fakeCluster) { c.interval = 500 * time.Millisecond })
	operator := h.startOperatorProcess()
	start := time.Now()
	for i := range benchInstances {
		h.mustCreate(h.newInstance(fmt.Sprintf("tenant-%03d", i)))
	}
	h.Eventually(h.countReady).WithPolling(time.Second).Should(gomega.Equal(benchInstances))
	ready := time.Since(start)
	h.cluster.update(func(c *fakeCluster) { c.interval = time.Hour })
	operator.waitUntilIdle()

	for b.Loop() {
		reconciles, writes, cpu := operator.reconcileCount(), operator.writeCount(), operator.cpuTime()
		for range benchRounds {
			h.triggerAllReconciles()
			operator.waitUntilIdle()
		}
		cpu = operator.cpuTime() - cpu
		reconciles = operator.reconcileCount() - reconciles
		if reconciles < benchRounds*benchInstances {
			b.Fatalf("got %d reconciles of %d Instances in %d rounds, want at least one per Instance and round", reconciles, benchInstances, benchRounds)
		}
		b.ReportMetric(float64(cpu.Microseconds())/1000/float64(reconciles), "ms-cpu/reconcile")
		b.ReportMetric(float64(operator.writeCount()-writes), "writes")
	}
	b.ReportMetric(ready.Seconds(), "s-until-ready")
	b.ReportMetric(operator.gauge("go_memstats_heap_inuse_bytes")/1e6, "MB-heap")
	b.ReportMetric(operator.residentMegabytes(), "MB-resident")
}

func (h *harness) countReady() int {
	count := 0
	for _, object := range h.listObjects(&v1alpha1.InstanceList{}) {
		if slices.Contains(h.conditionLines(object.GetName()), "Ready=True Ready") {
			count++
		}
	}
	return count
}

// triggerAllReconciles makes the operator reconcile each Instance once.
func (h *harness) triggerAllReconciles() {
	h.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"test.example/visit":%q}}}`, time.Now()))
	for _, object := range h.listObjects(&v1alpha1.InstanceList{}) {
		if err := h.Patch(h.t.Context(), object, patch); err != nil {
			h.t.Fatal(err)
		}
	}
}

// An operatorProcess is a running operator binary.
type operatorProcess struct {
	t       testing.TB
	pid     int
	metrics string
}

// startOperatorProcess builds the operator and runs it for the test's namespace until
// the test ends.
func (h *harness) startOperatorProcess() operatorProcess {
	h.t.Helper()
	dir := h.t.TempDir()
	binary, kubeconfig := filepath.Join(dir, "operator"), filepath.Join(dir, "kubeconfig")
	if output, err := exec.Command("go", "build", "-o", binary, "github.com/anamnesis-dev/anamnesis/controllers").CombinedOutput(); err != nil {
		h.t.Fatalf("building the operator: %v\n%s", err, output)
	}
	user, err := controlplanetest.Get(h.t).AddAdminUser("operator")
	if err != nil {
		h.t.Fatal(err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		h.t.Fatal(err)
	}
	address := freeAddress(h.t)
	command := exec.Command(binary, "--server-image="+serverImage, "--namespace="+h.namespace, "--namespaces="+h.namespace,
		"--metrics-bind-address="+address, "--health-probe-bind-address=0")
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			h.t.Error(err)
		}
		if err := command.Wait(); err != nil {
			h.t.Errorf("the operator exited with an error: %v\n%s", err, stderr.Bytes())
		}
	})
	return operatorProcess{h.t, command.Process.Pid, "http://" + address + "/metrics"}
}

// freeAddress returns an unused address.
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

// waitUntilIdle waits until the operator has used almost no CPU time in two seconds.
func (p operatorProcess) waitUntilIdle() {
	p.t.Helper()
	const idleThreshold = 20 * time.Millisecond
	for last := p.cpuTime(); ; {
		time.Sleep(2 * time.Second)
		now := p.cpuTime()
		if now-last <= idleThreshold {
			return
		}
		last = now
	}
}

// cpuTime returns the CPU time that the operator has used so far.
func (p operatorProcess) cpuTime() time.Duration {
	p.t.Helper()
	const tick = 10 * time.Millisecond // on every Linux that Go supports
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		p.t.Fatalf("reading the CPU time, which requires Linux: %v", err)
	}
	// The name of the program, in parentheses, may contain any character.
	_, stats, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(stats)
	total := 0
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		if err != nil {
			p.t.Fatal(err)
		}
		total += ticks
	}
	return time.Duration(total) * tick
}

func (p operatorProcess) residentMegabytes() float64 {
	p.t.Helper()
	return p.gauge("process_resident_memory_bytes") / 1e6
}

func (p operatorProcess) reconcileCount() int {
	p.t.Helper()
	return int(p.sum("anamnesis_operator_reconciles_total", func(*dto.Metric) bool { return true }))
}

// writeCount returns the number of write requests.
func (p operatorProcess) writeCount() int {
	p.t.Helper()
	return int(p.sum("rest_client_requests_total", func(metric *dto.Metric) bool {
		return !slices.ContainsFunc(metric.GetLabel(), func(label *dto.LabelPair) bool {
			return label.GetName() == "method" && label.GetValue() == http.MethodGet
		})
	}))
}

func (p operatorProcess) gauge(name string) float64 {
	p.t.Helper()
	return p.sum(name, func(*dto.Metric) bool { return true })
}

// sum returns the sum of the metrics of a family for which matches returns true.
func (p operatorProcess) sum(name string, matches func(*dto.Metric) bool) float64 {
	p.t.Helper()
	response, err := http.Get(p.metrics)
	if err != nil {
		p.t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		p.t.Fatalf("reading the operator's metrics: %v", err)
	}
	family, ok := families[name]
	if !ok {
		p.t.Fatalf("metric %s not found", name)
	}
	total := 0.0
	for _, metric := range family.GetMetric() {
		if matches(metric) {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return total
}
