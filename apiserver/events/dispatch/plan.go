// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
)

const (
	// atOnce is how many deliveries a receiver gets at a time from one replica.
	atOnce = 8
	// sharedLook is how often the outbox is looked at that others fill, unseen.
	sharedLook = 3 * time.Second
	// awakeLook is how often it is while somebody works it.
	awakeLook = time.Second
	// longestSleep is the longest time between two looks: what is kept too long is
	// erased then.
	longestSleep = time.Hour
)

// situation is what a plan is made from.
type situation struct {
	now       time.Time
	receivers map[string]events.Health // of those who are told of anything
	waiting   []outbox.Waiting
	// shared says that other processes fill and work the same outbox.
	shared bool
}

// plan is what is to be done until the next look.
type plan struct {
	// awake says that the outbox is worked.
	awake bool
	// serve are the receivers that are told of something; those that are false are left
	// alone until the next look.
	serve map[string]bool
	// look is when to look again, at the latest.
	look time.Time
}

// makePlan says what is to be done. An outbox of nobody else's is worked only while
// something in it is due; any other, as soon as there is somebody who may be told.
func makePlan(s situation) plan {
	p := plan{serve: map[string]bool{}, look: s.now.Add(longestSleep)}
	for id, health := range s.receivers {
		if !health.Disabled {
			p.serve[id] = health.Sends(s.now)
		}
	}
	for _, queue := range s.waiting {
		due, known := s.due(queue)
		if !known {
			continue
		}
		if !due.After(s.now.Add(awakeLook)) {
			p.awake = true
		} else if due.Before(p.look) {
			p.look = due
		}
	}
	switch {
	case s.shared:
		p.awake = len(s.receivers) > 0 || len(s.waiting) > 0
		p.look = s.now.Add(sharedLook)
	case p.awake:
		p.look = s.now.Add(awakeLook)
	}
	for _, health := range s.receivers { // somebody who rested may go on to the moment
		if health.ClosedUntil.After(s.now) && health.ClosedUntil.Before(p.look) && p.awake {
			p.look = health.ClosedUntil
		}
	}
	return p
}

// due is when something in a queue can be done, unless nobody is there any more whom it
// is for.
func (s situation) due(queue outbox.Waiting) (at time.Time, known bool) {
	at = queue.Next
	if queue.Running > 0 {
		at = s.now
	}
	if queue.Receiver() == "" {
		return at, true
	}
	health, known := s.receivers[queue.Receiver()]
	if health.ClosedUntil.After(at) {
		at = health.ClosedUntil
	}
	return at, known && !health.Disabled
}
