// SPDX-License-Identifier: Apache-2.0

// Package limiter limits the resources that callers may use in total on one server:
// concurrent calls, body bytes and expensive assessments. The limits keep a caller from
// exhausting memory or starving others. Callers over a limit are rejected and may retry.
// The package does not depend on HTTP; its callers define the response.
package limiter

import "time"

// RetryAfter is when a rejected caller may retry.
const RetryAfter = 2 * time.Second

// A Reason identifies the limit that a caller was rejected for.
type Reason string

// Reasons for rejecting a caller.
const (
	TooManyCalls       Reason = "calls"
	TooManyBodyBytes   Reason = "body_bytes"
	TooManyAssessments Reason = "assessments"
	TooManyConnections Reason = "connections"
)

// Limits are the concurrent resource limits of a server.
type Limits struct {
	// Calls is the maximum number of concurrent calls by authenticated callers.
	Calls int
	// BodyBytes is the maximum number of request body bytes held in memory.
	BodyBytes int64
	// Connections is the maximum number of open connections; StreamsPerConnection is the
	// maximum number of concurrent HTTP/2 requests on each.
	Connections, StreamsPerConnection int
	// Processors is the number of calls that can be processed in parallel.
	Processors int
}

const (
	// defaultMemory is the memory size assumed if the limit is unknown, as on a
	// developer's machine.
	defaultMemory = 1 << 30
	// minMemory and maxMemory bound the range in which limits grow with memory.
	minMemory, maxMemory = 64 << 20, 4 << 30

	// memoryPerCall is the memory reserved for each call: its working memory and its
	// response, which may be a catalog of half a megabyte that the client reads slowly.
	memoryPerCall = 4 << 20
	// memoryPerBodyByte is the memory reserved for each byte of a body. A body is held
	// twice while it is read, and a list of empty strings, which takes three bytes each in
	// a body, grows elevenfold when decoded.
	memoryPerBodyByte = 64
	// memoryPerConnection is the memory reserved for each connection: about 60 kB for TLS
	// and its buffers, and about 30 kB for each stream whose response the client does not
	// read. Garbage doubles that.
	memoryPerConnection = 3 << 20
	// streamsPerConnection is below the 100 that RFC 9113 recommends; clients open
	// another connection when they need more.
	streamsPerConnection = 32
)

// LimitsForMemory returns the limits for a server with this much memory, in bytes. Zero
// or less means unknown.
func LimitsForMemory(memory int64, processors int) Limits {
	if memory <= 0 {
		memory = defaultMemory
	}
	memory = min(max(memory, minMemory), maxMemory)
	return Limits{
		Calls:                int(memory / memoryPerCall),
		BodyBytes:            max(memory/memoryPerBodyByte, 2<<20),
		Connections:          int(memory / memoryPerConnection),
		StreamsPerConnection: streamsPerConnection,
		Processors:           max(processors, 1),
	}
}

// A Limiter tracks how much of its limits a server uses. It is safe for concurrent use.
type Limiter struct {
	// Calls is acquired by every authenticated call after its body is read.
	Calls *Semaphore
	// BodyBytes is the budget for request bodies held in memory.
	BodyBytes *ByteBudget

	assessments [len(maxFindingsPerClass)]*Semaphore
}

// New returns the limiter of a server, which calls onReject for each rejected caller.
func New(limits Limits, onReject func(Reason)) *Limiter {
	reject := func(reason Reason) func() { return func() { onReject(reason) } }
	return &Limiter{
		Calls:       newSemaphore(limits.Calls, 4*limits.Calls, time.Second, reject(TooManyCalls)),
		BodyBytes:   newByteBudget(limits.BodyBytes, reject(TooManyBodyBytes)),
		assessments: newAssessmentSemaphores(limits, reject(TooManyAssessments)),
	}
}
