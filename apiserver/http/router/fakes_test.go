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

func (s *fakeFeedbackStore) PutFeedback(_ context.Context, interview feedback.InterviewFeedback) error {
	if s.down.Load() {
		return errors.New("connection refused")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = append(s.stored, interview)
	return nil
}

func (s *fakeFeedbackStore) all() []feedback.InterviewFeedback {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stored)
}

// fakeMeter records calls and admits them until the plans are exhausted.
type fakeMeter struct {
	exhausted atomic.Bool
	mu        sync.Mutex
	calls     map[string]int
}

func (m *fakeMeter) Begin(application, endpoint string, _ bool) (end func(counted bool), wait time.Duration) {
	if m.exhausted.Load() && meteredEndpoints[endpoint] {
		return nil, 90*time.Second + 1
	}
	return func(counted bool) {
		if counted {
			m.count(application, endpoint)
		}
	}, 0
}

func (m *fakeMeter) count(application, endpoint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[application+" "+endpoint]++
}

func (m *fakeMeter) all() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls)
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
