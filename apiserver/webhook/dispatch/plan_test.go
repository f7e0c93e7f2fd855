// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

func TestNewPlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 23, 10, 0, 0, 0, time.UTC)
	well, rests, gone := event.ReceiverHealth{}, event.ReceiverHealth{ConsecutiveFailures: 5, CircuitOpenUntil: now.Add(30 * time.Second)}, event.ReceiverHealth{Disabled: true}
	due := func(queue string, in time.Duration) outbox.QueueStats {
		return outbox.QueueStats{Queue: queue, Jobs: 1, NextDueAt: now.Add(in)}
	}
	type situations = planInput
	for name, test := range map[string]struct {
		situation situations
		awake     bool
		serve     map[string]bool
		look      time.Duration
	}{
		"no receiver, idle":          {situation: situations{}, look: time.Hour},
		"no receiver, idle, shared":  {situation: situations{shared: true}, look: 3 * time.Second},
		"one receiver, idle":         {situations{receivers: map[string]event.ReceiverHealth{"a": well}}, false, map[string]bool{"a": true}, time.Hour},
		"one receiver, idle, shared": {situations{receivers: map[string]event.ReceiverHealth{"a": well}, shared: true}, true, map[string]bool{"a": true}, 3 * time.Second},
		"something due": {situations{receivers: map[string]event.ReceiverHealth{"a": well}, queues: []outbox.QueueStats{due("webhook-a", -time.Minute)}},
			true, map[string]bool{"a": true}, time.Second},
		"something due soon": {situations{receivers: map[string]event.ReceiverHealth{"a": well}, queues: []outbox.QueueStats{due("webhook-a", time.Second)}},
			true, map[string]bool{"a": true}, time.Second},
		"something due later": {situations{receivers: map[string]event.ReceiverHealth{"a": well}, queues: []outbox.QueueStats{due("webhook-a", time.Minute)}},
			false, map[string]bool{"a": true}, time.Minute},
		"a notification tomorrow": {situation: situations{queues: []outbox.QueueStats{due("notifications", 24*time.Hour)}}, look: time.Hour},
		"a notification, shared":  {situation: situations{shared: true, queues: []outbox.QueueStats{due("notifications", 24*time.Hour)}}, awake: true, look: 3 * time.Second},
		"a notification now":      {situation: situations{queues: []outbox.QueueStats{due("notifications", 0)}}, awake: true, look: time.Second},
		"for an unknown receiver": {situation: situations{queues: []outbox.QueueStats{due("webhook-b", 0)}}, look: time.Hour},
		"for a receiver in backoff": {situations{receivers: map[string]event.ReceiverHealth{"a": rests}, queues: []outbox.QueueStats{due("webhook-a", -time.Hour)}},
			false, map[string]bool{"a": false}, 30 * time.Second},
		"for a disabled receiver": {situation: situations{receivers: map[string]event.ReceiverHealth{"a": gone}, queues: []outbox.QueueStats{due("webhook-a", 0)}}, look: time.Hour},
		"being done": {situation: situations{receivers: map[string]event.ReceiverHealth{"a": well}, queues: []outbox.QueueStats{{Queue: "webhook-a", Jobs: 1, Running: 1, NextDueAt: time.Unix(0, 0)}}},
			awake: true, serve: map[string]bool{"a": true}, look: time.Second},
	} {
		test.situation.now = now
		if test.serve == nil {
			test.serve = map[string]bool{}
		}
		got := newPlan(test.situation)
		if diff := cmp.Diff(test.serve, got.receivers); diff != "" || got.active != test.awake || !got.nextPoll.Equal(now.Add(test.look)) {
			t.Errorf("%s: awake %t, look in %v, want %t, %v\n%s", name, got.active, got.nextPoll.Sub(now), test.awake, test.look, diff)
		}
	}
}
