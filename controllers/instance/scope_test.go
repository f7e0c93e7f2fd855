// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"
)

func TestRequeueAfter(t *testing.T) {
	t.Parallel()
	s := &scope{StartedAt: noon}
	if s.RequeueAfter() != 0 {
		t.Error("got a requeue without a request")
	}
	s.RequeueAt(noon.Add(time.Hour))
	s.RequeueAt(noon.Add(time.Minute))
	s.RequeueAt(noon.Add(2 * time.Hour))
	if s.RequeueAfter() != time.Minute {
		t.Errorf("got requeue after %s, want the earliest request", s.RequeueAfter())
	}
	s.RequeueAt(noon.Add(-time.Hour))
	if s.RequeueAfter() <= 0 {
		t.Error("got no requeue for a request in the past")
	}
}
