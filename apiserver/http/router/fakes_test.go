// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v3 "github.com/anamnesis-dev/anamnesis/apiserver/http/v3"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
)

// failingModels leases releases until it is set to fail.
type failingModels struct {
	v3.Models
	err atomic.Pointer[func() error]
}

func (m *failingModels) Acquire(modelID string) (*model.Lease, error) {
	if fault := m.err.Load(); fault != nil {
		return nil, (*fault)()
	}
	return m.Models.Acquire(modelID)
}

// fakeFeedbackStore stores feedback in order of arrival.
type fakeFeedbackStore struct {
	down   atomic.Bool
	mu     sync.Mutex
	stored []feedback.InterviewFeedback
}

func (n *fakeFeedbackStore) PutFeedback(_ context.Context, interview feedback.InterviewFeedback) error {
	if n.down.Load() {
		return errors.New("connection refused")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stored = append(n.stored, interview)
	return nil
}

func (n *fakeFeedbackStore) all() []feedback.InterviewFeedback {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.stored)
}

// fakeMeter records calls and admits them until the plans are exhausted.
type fakeMeter struct {
	exhausted atomic.Bool
	mu        sync.Mutex
	calls     map[string]int
}

func (c *fakeMeter) Begin(application, endpoint string, _ bool) (end func(counted bool), wait time.Duration) {
	if c.exhausted.Load() && meteredEndpoints[endpoint] {
		return nil, 90*time.Second + 1
	}
	return func(counted bool) {
		if counted {
			c.count(application, endpoint)
		}
	}, 0
}

func (c *fakeMeter) count(application, endpoint string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[application+" "+endpoint]++
}

func (c *fakeMeter) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
