// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	v3 "github.com/anamnesis-dev/anamnesis/apiserver/server/v3"
)

// shakyModels lend releases until they have a fault.
type shakyModels struct {
	v3.Models
	fault atomic.Pointer[func() error]
}

func (m *shakyModels) Acquire(modelID string) (*model.Lease, error) {
	if fault := m.fault.Load(); fault != nil {
		return nil, (*fault)()
	}
	return m.Models.Acquire(modelID)
}

// notes is storage of feedback, in the order in which it came.
type notes struct {
	down atomic.Bool
	mu   sync.Mutex
	kept []feedback.Interview
}

func (n *notes) PutFeedback(_ context.Context, interview feedback.Interview) error {
	if n.down.Load() {
		return errors.New("connection refused")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept = append(n.kept, interview)
	return nil
}

func (n *notes) all() []feedback.Interview {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.kept)
}

// counts is a meter that remembers, and admits all calls until the plans are
// used up.
type counts struct {
	usedUp atomic.Bool
	mu     sync.Mutex
	calls  map[string]int
}

func (c *counts) Begin(application, endpoint string, _ bool) (end func(counted bool), wait time.Duration) {
	if c.usedUp.Load() && limited[endpoint] {
		return nil, 90*time.Second + 1
	}
	return func(counted bool) {
		if counted {
			c.count(application, endpoint)
		}
	}, 0
}

func (c *counts) count(application, endpoint string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[application+" "+endpoint]++
}

func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
