// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

const (
	// maxConcurrentDeliveries limits concurrent deliveries per receiver and replica.
	maxConcurrentDeliveries = 8
	// sharedPollInterval is how often a shared outbox is polled, because inserts by other
	// processes are not signaled.
	sharedPollInterval = 3 * time.Second
	// activePollInterval is the poll interval while the outbox client runs.
	activePollInterval = time.Second
	// maxPollInterval is the maximum interval between two polls. Each poll deletes expired
	// attempts.
	maxPollInterval = time.Hour
)

// planInput is the state from which a plan is computed.
type planInput struct {
	now       time.Time
	receivers map[string]event.ReceiverHealth // receivers with at least one subscription
	queues    []outbox.QueueStats
	// shared indicates that other processes also insert into and work this outbox.
	shared bool
}

// plan is the desired state until the next poll.
type plan struct {
	// active indicates that the outbox client runs.
	active bool
	// receivers maps the receivers to serve to true, and those with an open circuit to
	// false.
	receivers map[string]bool
	// nextPoll is the latest time of the next poll.
	nextPoll time.Time
}

// newPlan computes the plan. A shared outbox is worked whenever receivers exist, any other
// outbox only while jobs are due.
func newPlan(s planInput) plan {
	p := plan{receivers: map[string]bool{}, nextPoll: s.now.Add(maxPollInterval)}
	for id, health := range s.receivers {
		if !health.Disabled {
			p.receivers[id] = health.CanSend(s.now)
		}
	}
	for _, queue := range s.queues {
		due, known := s.dueAt(queue)
		if !known {
			continue
		}
		if !due.After(s.now.Add(activePollInterval)) {
			p.active = true
		} else if due.Before(p.nextPoll) {
			p.nextPoll = due
		}
	}
	switch {
	case s.shared:
		p.active = len(s.receivers) > 0 || len(s.queues) > 0
		p.nextPoll = s.now.Add(sharedPollInterval)
	case p.active:
		p.nextPoll = s.now.Add(activePollInterval)
	}
	for _, health := range s.receivers { // a circuit may close before the next poll
		if health.CircuitOpenUntil.After(s.now) && health.CircuitOpenUntil.Before(p.nextPoll) && p.active {
			p.nextPoll = health.CircuitOpenUntil
		}
	}
	return p
}

// dueAt returns when the next job in a queue is due, or false if its receiver is not served.
func (i planInput) dueAt(queue outbox.QueueStats) (at time.Time, known bool) {
	at = queue.NextDueAt
	if queue.Running > 0 {
		at = i.now
	}
	if queue.ReceiverID() == "" {
		return at, true
	}
	health, known := i.receivers[queue.ReceiverID()]
	if health.CircuitOpenUntil.After(at) {
		at = health.CircuitOpenUntil
	}
	return at, known && !health.Disabled
}
