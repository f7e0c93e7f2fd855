// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// The heap that a compiler process may use before it collects garbage. Below the
// minimum, collecting costs more than it does by default.
const (
	maxCompilerHeap = 3 << 30
	minCompilerHeap = 1 << 30
)

// compilerEnv returns the environment that lets the compiler run without collecting
// garbage, which saves processor time. It returns nil if the caller's environment
// configures the collector, or if memory is scarce: the go command runs one compiler per
// processor.
func compilerEnv(environ []string, availableMemory uint64, processors int) []string {
	configured := func(variable string) bool {
		return strings.HasPrefix(variable, "GOGC=") || strings.HasPrefix(variable, "GOMEMLIMIT=")
	}
	heap := min(availableMemory/uint64(max(processors, 1)), maxCompilerHeap)
	if heap < minCompilerHeap || slices.ContainsFunc(environ, configured) {
		return nil
	}
	return []string{"GOGC=off", fmt.Sprintf("GOMEMLIMIT=%dMiB", heap>>20)}
}

// goEnv returns the environment of the go command.
func goEnv() []string {
	environ := append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	return append(environ, compilerEnv(environ, availableMemory(), runtime.NumCPU())...)
}

// availableMemory returns the memory that can be used without swapping, or 0 if the
// system does not report it.
func availableMemory() uint64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	return parseAvailableMemory(file)
}

func parseAvailableMemory(meminfo io.Reader) uint64 {
	for lines := bufio.NewScanner(meminfo); lines.Scan(); {
		var kilobytes uint64
		if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
