// SPDX-License-Identifier: Apache-2.0

// Command bench measures the performance targets and prints the results: duration and
// allocations of an assessment, a search and free-text parsing; the time to load a
// release; requests per second compared with a bare handler; latency of calls about
// users and patients compared with the smallest commit; latency for patients on the
// page and for API clients; throughput of event delivery compared with River; the
// operator's resource use for 200 Instances; and the private memory of an idle server.
// The memory is measured on the real binary; all other figures come from benchmarks
// next to the code.
//
// The command does not evaluate the results, because they depend on the machine and its
// load.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// A measurement is a benchmark with a title and the units to print.
type measurement struct {
	title, pkg, pattern string
	units               []string // units to print, in order
}

var measurements = []measurement{
	{"assess, full-size synthetic model", "./apiserver/medical/inference", "^BenchmarkAssess$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"assess, built-in content", "./apiserver/medical/inference", "^BenchmarkAssessContent$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"search, full-size synthetic model", "./apiserver/medical/search", "^BenchmarkFind$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"parse free text, English content", "./apiserver/medical/nlp", "^BenchmarkParse$", []string{"p50-µs", "p99-µs", "max-µs", "B/op", "allocs/op"}},
	{"load and verify a release", "./apiserver/medical/model", "^BenchmarkOpen$", []string{"ns/op", "B/op", "allocs/op"}},
	{"POST /v3/diagnosis over HTTP, four present", "./apiserver/http/router", "^BenchmarkDiagnosisOverHTTP$", []string{"requests/s", "bare-requests/s", "ratio"}},
	{"POST /v3/diagnosis, handler only", "./apiserver/http/router", "^BenchmarkDiagnosisHandler$", []string{"ns/op", "B/op", "allocs/op"}},
	{"users and patients over HTTP, 100 calls per second", "./apiserver/http/guidance", "^BenchmarkPeople$", []string{"p50-ms", "p99-ms"}},
	{"survey answers and lists over HTTP, a million stored surveys, 100 calls per second", "./apiserver/http/guidance", "^BenchmarkSurveys$", []string{"p50-ms", "p99-ms", "engine-p99-ms"}},
	{"patient page over HTTP, 50 patients", "./apiserver/http/page", "^BenchmarkPage$", []string{"p50-ms", "p99-ms"}},
	{"POST /v3/diagnosis, 100 per second, with and without 100 patients on the page", "./apiserver/http/page", "^BenchmarkDiagnosisWithPatients$", []string{"alone-p99-ms", "mixed-p99-ms", "ratio"}},
	{"webhook delivery on loopback: throughput compared with idle River jobs, latency from commit to receiver, idle CPU", "./apiserver/webhook/dispatch", "^BenchmarkDispatch$", []string{"deliveries/s", "river-jobs/s", "ratio", "p50-ms", "p99-ms", "p99-with-hanging-ms", "%core"}},
	{"access tokens", "./apiserver/http/guidance", "^BenchmarkToken$", []string{"ns/op", "allocs/op"}},
	{"operator, 200 Instances in steady state", "./controllers/instance", "^BenchmarkSettledInstances$", []string{"ms-cpu/reconcile", "writes", "MB-heap", "MB-resident", "s-until-ready"}},
}

type command struct {
	Idle     time.Duration `default:"1m" help:"Time the server is idle before its memory is measured."`
	Requests int           `default:"1000" help:"Number of requests the server handles before it goes idle."`
	Time     string        `default:"2s" help:"Time each benchmark runs, as in go test -benchtime."`
}

// Run prints all measurements.
func (c *command) Run(ctx context.Context, out io.Writer) error {
	for _, m := range measurements {
		if err := m.run(ctx, out, c.Time); err != nil {
			return fmt.Errorf("measuring %q: %w", m.title, err)
		}
	}
	kilobytes, err := idleMemory(ctx, c.Requests, c.Idle)
	if err != nil {
		return fmt.Errorf("measuring the memory of an idle server: %w", err)
	}
	fmt.Fprintf(out, "private memory (RssAnon) of a server after %d requests and %s idle\n  %.1f MB\n", c.Requests, c.Idle, float64(kilobytes)*1024/1e6)
	return nil
}

func (m measurement) run(ctx context.Context, out io.Writer, duration string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-timeout", "30m", "-run", "^$", "-bench", m.pattern, "-benchtime", duration, "-benchmem", m.pkg)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running %s: %w\n%s", cmd, err, output)
	}
	fmt.Fprintln(out, m.title)
	for line := range strings.Lines(string(output)) {
		if name, figures, ok := parseLine(line); ok {
			fmt.Fprintf(out, "  %-14s %s\n", name, formatFigures(figures, m.units))
		}
	}
	return nil
}

// parseLine parses an output line of go test -bench. It returns the part of the name
// after the first slash, and the figures by unit.
func parseLine(line string) (name string, figures map[string]string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", nil, false
	}
	_, name, _ = strings.Cut(fields[0], "/")
	if dash := strings.LastIndexByte(name, '-'); dash >= 0 {
		name = name[:dash]
	}
	figures = map[string]string{}
	for i := 2; i+1 < len(fields); i += 2 {
		figures[fields[i+1]] = fields[i]
	}
	return name, figures, true
}

func formatFigures(figures map[string]string, units []string) string {
	var formatted []string
	for _, unit := range units {
		if figure, ok := figures[unit]; ok {
			formatted = append(formatted, figure+" "+unit)
		}
	}
	return strings.Join(formatted, "  ")
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parsed := kong.Parse(&command{}, kong.Name("bench"), kong.Description("Run the benchmarks and print their results; run from the root of the repository."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
