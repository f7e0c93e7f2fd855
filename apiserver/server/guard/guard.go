// SPDX-License-Identifier: Apache-2.0

// Package guard bounds what all callers together may take of one server, so
// that nobody pushes it out of its memory, nor keeps it from answering the
// others: calls at work, bytes of bodies, assessments that take long. Whoever
// comes when a bound is reached is turned away and may come back. It knows no
// HTTP: what is answered is said by those who ask it.
package guard

import "time"

// RetryAfter is when to come back, for whoever was turned away.
const RetryAfter = 2 * time.Second

// A Reason says which bound somebody was turned away for.
type Reason string

// The reasons.
const (
	TooManyCalls       Reason = "calls"
	TooManyBodyBytes   Reason = "body_bytes"
	TooManyAssessments Reason = "assessments"
	TooManyConnections Reason = "connections"
)

// Limits are what a server may take on at the same time.
type Limits struct {
	// Calls is how many calls of known applications are at work.
	Calls int
	// BodyBytes is how much of their bodies is held.
	BodyBytes int64
	// Connections is how many connections are open, StreamsPerConnection how
	// many requests each of them has under way over HTTP/2.
	Connections, StreamsPerConnection int
	// Processors is how many calls can be worked on in parallel.
	Processors int
}

const (
	// ordinaryMemory is what limits are made for where nobody says how much
	// memory there is, as on the machine of a developer.
	ordinaryMemory = 1 << 30
	// leastMemory and mostMemory are between which limits grow with memory.
	leastMemory, mostMemory = 64 << 20, 4 << 30

	// memoryPerCall is the memory set aside for each call: its answer, which may
	// be a catalogue of half a megabyte that its client is slow to read, and
	// what it works with.
	memoryPerCall = 4 << 20
	// memoryPerBodyByte is the memory set aside for each byte of a body. It is
	// held twice while it is read; a list of empty texts, which takes three
	// bytes each in a body, becomes eleven times as large.
	memoryPerBodyByte = 64
	// memoryPerConnection is the memory set aside for each connection: some 60
	// kB for TLS and its buffers, and some 30 kB for each of its streams whose
	// answer the client does not read. Garbage takes as much again.
	memoryPerConnection = 3 << 20
	// streamsPerConnection is fewer than the hundred that RFC 9113 recommends:
	// clients open another connection when they need more.
	streamsPerConnection = 32
)

// LimitsFor are the limits of a server of so much memory, in bytes; zero or
// less is not known.
func LimitsFor(memory int64, processors int) Limits {
	if memory <= 0 {
		memory = ordinaryMemory
	}
	memory = min(max(memory, leastMemory), mostMemory)
	return Limits{
		Calls:                int(memory / memoryPerCall),
		BodyBytes:            max(memory/memoryPerBodyByte, 2<<20),
		Connections:          int(memory / memoryPerConnection),
		StreamsPerConnection: streamsPerConnection,
		Processors:           max(processors, 1),
	}
}

// A Guard knows how much of its limits a server has taken on. It may be used
// by any number of goroutines.
type Guard struct {
	// Calls is passed by every call whose caller is known, once its body is
	// read.
	Calls *Gate
	// Bodies is what is held of their bodies.
	Bodies *Bytes

	lanes [len(laneFindings)]*Gate
}

// New makes the guard of a server, which tells about all whom it turns away.
func New(limits Limits, turnedAway func(Reason)) *Guard {
	because := func(reason Reason) func() { return func() { turnedAway(reason) } }
	return &Guard{
		Calls:  newGate(limits.Calls, 4*limits.Calls, time.Second, because(TooManyCalls)),
		Bodies: newBytes(limits.BodyBytes, because(TooManyBodyBytes)),
		lanes:  newLanes(limits, because(TooManyAssessments)),
	}
}
