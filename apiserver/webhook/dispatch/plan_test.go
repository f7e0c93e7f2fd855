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
	healthy, open, disabled := event.ReceiverHealth{}, event.ReceiverHealth{ConsecutiveFailures: 5, CircuitOpenUntil: now.Add(30 * time.Second)}, event.ReceiverHealth{Disabled: true}
	due := func(queue string, in time.Duration) outbox.QueueStats {
		return outbox.QueueStats{Queue: queue, Jobs: 1, NextDueAt: now.Add(in)}
	}

	for name, test := range map[string]struct {
		input     planInput
		active    bool
		receivers map[string]bool
		nextPoll  time.Duration
	}{
		"no receiver, idle":          {input: planInput{}, nextPoll: time.Hour},
		"no receiver, idle, shared":  {input: planInput{shared: true}, nextPoll: 3 * time.Second},
		"one receiver, idle":         {planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}}, false, map[string]bool{"a": true}, time.Hour},
		"one receiver, idle, shared": {planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}, shared: true}, true, map[string]bool{"a": true}, 3 * time.Second},
		"due job": {planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}, queues: []outbox.QueueStats{due("webhook-a", -time.Minute)}},
			true, map[string]bool{"a": true}, time.Second},
		"job due soon": {planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}, queues: []outbox.QueueStats{due("webhook-a", time.Second)}},
			true, map[string]bool{"a": true}, time.Second},
		"job due later": {planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}, queues: []outbox.QueueStats{due("webhook-a", time.Minute)}},
			false, map[string]bool{"a": true}, time.Minute},
		"notification tomorrow":    {input: planInput{queues: []outbox.QueueStats{due("notifications", 24*time.Hour)}}, nextPoll: time.Hour},
		"notification, shared":     {input: planInput{shared: true, queues: []outbox.QueueStats{due("notifications", 24*time.Hour)}}, active: true, nextPoll: 3 * time.Second},
		"due notification":         {input: planInput{queues: []outbox.QueueStats{due("notifications", 0)}}, active: true, nextPoll: time.Second},
		"job for unknown receiver": {input: planInput{queues: []outbox.QueueStats{due("webhook-b", 0)}}, nextPoll: time.Hour},
		"job for receiver with open circuit": {planInput{receivers: map[string]event.ReceiverHealth{"a": open}, queues: []outbox.QueueStats{due("webhook-a", -time.Hour)}},
			false, map[string]bool{"a": false}, 30 * time.Second},
		"job for disabled receiver": {input: planInput{receivers: map[string]event.ReceiverHealth{"a": disabled}, queues: []outbox.QueueStats{due("webhook-a", 0)}}, nextPoll: time.Hour},
		"running job": {input: planInput{receivers: map[string]event.ReceiverHealth{"a": healthy}, queues: []outbox.QueueStats{{Queue: "webhook-a", Jobs: 1, Running: 1, NextDueAt: time.Unix(0, 0)}}},
			active: true, receivers: map[string]bool{"a": true}, nextPoll: time.Second},
	} {
		test.input.now = now
		if test.receivers == nil {
			test.receivers = map[string]bool{}
		}
		got := newPlan(test.input)
		if diff := cmp.Diff(test.receivers, got.receivers); diff != "" || got.active != test.active || !got.nextPoll.Equal(now.Add(test.nextPoll)) {
			t.Errorf("%s: got active %t, next poll in %v, want %t, %v; receivers (-want +got):\n%s", name, got.active, got.nextPoll.Sub(now), test.active, test.nextPoll, diff)
		}
	}
}
