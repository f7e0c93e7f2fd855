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
	p := newHarnessWithoutOperator(b)
	p.SetDefaultEventuallyTimeout(10 * time.Minute)
	p.cluster.update(func(w *fakeCluster) { w.interval = 500 * time.Millisecond })
	operator := p.startOperatorProcess()
	began := time.Now()
	for i := range benchInstances {
		p.mustCreate(p.newInstance(fmt.Sprintf("tenant-%03d", i)))
	}
	p.Eventually(p.countReady).WithPolling(time.Second).Should(gomega.Equal(benchInstances))
	ready := time.Since(began)
	p.cluster.update(func(w *fakeCluster) { w.interval = time.Hour })
	operator.waitUntilIdle()

	for b.Loop() {
		visits, writes, used := operator.reconcileCount(), operator.writeCount(), operator.cpuTime()
		for range benchRounds {
			p.triggerAllReconciles()
			operator.waitUntilIdle()
		}
		used = operator.cpuTime() - used
		visits = operator.reconcileCount() - visits
		if visits < benchRounds*benchInstances {
			b.Fatalf("%d visits of %d Instances in %d rounds", visits, benchInstances, benchRounds)
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(visits), "ms-cpu/visit")
		b.ReportMetric(float64(operator.writeCount()-writes), "writes")
	}
	b.ReportMetric(ready.Seconds(), "s-until-ready")
	b.ReportMetric(operator.gauge("go_memstats_heap_inuse_bytes")/1e6, "MB-heap")
	b.ReportMetric(operator.residentMegabytes(), "MB-resident")
}

func (p *harness) countReady() int {
	count := 0
	for _, object := range p.listObjects(&v1alpha1.InstanceList{}) {
		if slices.Contains(p.conditionLines(object.GetName()), "Ready=True Ready") {
			count++
		}
	}
	return count
}

// triggerAllReconciles makes the operator reconcile each Instance once.
func (p *harness) triggerAllReconciles() {
	p.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"test.example/visit":%q}}}`, time.Now()))
	for _, object := range p.listObjects(&v1alpha1.InstanceList{}) {
		if err := p.Patch(p.t.Context(), object, patch); err != nil {
			p.t.Fatal(err)
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
func (p *harness) startOperatorProcess() operatorProcess {
	p.t.Helper()
	folder := p.t.TempDir()
	binary, access := filepath.Join(folder, "operator"), filepath.Join(folder, "kubeconfig")
	if output, err := exec.Command("go", "build", "-o", binary, "github.com/anamnesis-dev/anamnesis/controllers").CombinedOutput(); err != nil {
		p.t.Fatalf("building the operator: %v\n%s", err, output)
	}
	user, err := controlplanetest.Get(p.t).AddAdminUser("operator")
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
func (o operatorProcess) waitUntilIdle() {
	o.t.Helper()
	const blink = 20 * time.Millisecond
	for last := o.cpuTime(); ; {
		time.Sleep(2 * time.Second)
		now := o.cpuTime()
		if now-last <= blink {
			return
		}
		last = now
	}
}

// cpuTime returns the CPU time that the operator has used so far.
func (o operatorProcess) cpuTime() time.Duration {
	o.t.Helper()
	const tick = 10 * time.Millisecond // on every Linux that Go supports
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.pid))
	if err != nil {
		o.t.Fatalf("reading RssAnon, which is available on Linux only: %v", err)
	}
	// The name of the program, in parentheses, may contain any character.
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

func (o operatorProcess) reconcileCount() int {
	o.t.Helper()
	return int(o.sum("anamnesis_operator_reconciles_total", func(*dto.Metric) bool { return true }))
}

// writeCount returns the number of write requests.
func (o operatorProcess) writeCount() int {
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

// sum adds up the metrics of a family that counts selects.
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
