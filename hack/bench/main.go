// SPDX-License-Identifier: Apache-2.0

// Command bench measures what the house holds itself to and prints it: how long
// an assessment, a search and a free text take and what they allocate, how long
// a release takes to load, how many requests a second are answered beside a bare
// handler, how long calls about people take beside the smallest commit, how long patients
// wait on their page and programs beside them, how fast receivers are told of events
// beside River, what the operator needs for 200 Instances, and how much private memory an
// idle server keeps. All but the last are benchmarks that stand beside their
// code; that is measured on the real binary.
//
// It judges nothing: figures depend on the machine and on what else it does.
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

// A measurement is a benchmark and what its figures mean.
type measurement struct {
	title, pkg, pattern string
	units               []string // those to print, in order
}

var measurements = []measurement{
	{"assess, synthetic model of full size", "./apiserver/engine", "^BenchmarkAssess$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"assess, the content", "./apiserver/engine", "^BenchmarkAssessContent$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"search, synthetic model of full size", "./apiserver/search", "^BenchmarkFind$", []string{"p50-µs", "p99-µs", "B/op", "allocs/op"}},
	{"parse free text, English content", "./apiserver/language", "^BenchmarkParse$", []string{"p50-µs", "p99-µs", "max-µs", "B/op", "allocs/op"}},
	{"load a release, checks included", "./apiserver/model", "^BenchmarkOpen$", []string{"ns/op", "B/op", "allocs/op"}},
	{"POST /v3/diagnosis over HTTP, four present", "./apiserver/server", "^BenchmarkDiagnosisOverHTTP$", []string{"requests/s", "bare-requests/s", "ratio"}},
	{"POST /v3/diagnosis, the handler alone", "./apiserver/server", "^BenchmarkDiagnosisHandler$", []string{"ns/op", "B/op", "allocs/op"}},
	{"users and patients over HTTP, 100 calls a second", "./apiserver/server/guidance", "^BenchmarkPeople$", []string{"p50-ms", "p99-ms"}},
	{"answers to surveys and pages of a million of them over HTTP, 100 calls a second", "./apiserver/server/guidance", "^BenchmarkSurveys$", []string{"p50-ms", "p99-ms", "engine-p99-ms"}},
	{"the patient's page over HTTP, fifty patients", "./apiserver/server/page", "^BenchmarkPage$", []string{"p50-ms", "p99-ms"}},
	{"POST /v3/diagnosis, 100 a second: without and with a hundred patients on the page", "./apiserver/server/page", "^BenchmarkDiagnosisBesidePatients$", []string{"alone-p99-ms", "beside-p99-ms", "ratio"}},
	{"telling receivers on loopback: beside River with nothing to do, from commit to receiver, at rest", "./apiserver/events/dispatch", "^BenchmarkEvents$", []string{"deliveries/s", "river-jobs/s", "ratio", "p50-ms", "p99-ms", "p99-beside-hanging-ms", "%core"}},
	{"access tokens", "./apiserver/server/guidance", "^BenchmarkToken$", []string{"ns/op", "allocs/op"}},
	{"operator, 200 Instances at which nothing is to be done", "./controllers/instance", "^BenchmarkSettledInstances$", []string{"ms-cpu/visit", "writes", "MB-heap", "MB-resident", "s-until-ready"}},
}

type command struct {
	Idle     time.Duration `default:"1m" help:"How long the server lies idle before its memory is read."`
	Requests int           `default:"1000" help:"How many requests it answers before that."`
	Time     string        `default:"2s" help:"How long each benchmark runs, as go test -benchtime takes it."`
}

// Run prints every measurement.
func (c *command) Run(ctx context.Context, out io.Writer) error {
	for _, m := range measurements {
		if err := m.run(ctx, out, c.Time); err != nil {
			return fmt.Errorf("measuring: %s: %w", m.title, err)
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
	test := exec.CommandContext(ctx, "go", "test", "-timeout", "30m", "-run", "^$", "-bench", m.pattern, "-benchtime", duration, "-benchmem", m.pkg)
	test.Stderr = os.Stderr
	text, err := test.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", test, err, text)
	}
	fmt.Fprintln(out, m.title)
	for line := range strings.Lines(string(text)) {
		if name, figures, ok := parseLine(line); ok {
			fmt.Fprintf(out, "  %-14s %s\n", name, choose(figures, m.units))
		}
	}
	return nil
}

// parseLine reads a line of go test -bench: the part of the name after the
// first slash, and the figures by unit.
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

func choose(figures map[string]string, units []string) string {
	var chosen []string
	for _, unit := range units {
		if figure, ok := figures[unit]; ok {
			chosen = append(chosen, figure+" "+unit)
		}
	}
	return strings.Join(chosen, "  ")
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parsed := kong.Parse(&command{}, kong.Name("bench"), kong.Description("Measure and print; run from the root of the repository."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
