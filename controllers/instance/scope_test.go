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
		t.Error("nothing was asked for")
	}
	s.RequeueAt(noon.Add(time.Hour))
	s.RequeueAt(noon.Add(time.Minute))
	s.RequeueAt(noon.Add(2 * time.Hour))
	if s.RequeueAfter() != time.Minute {
		t.Errorf("pause %s, want the earliest", s.RequeueAfter())
	}
	s.RequeueAt(noon.Add(-time.Hour))
	if s.RequeueAfter() <= 0 {
		t.Error("a visit that was due must still take place")
	}
}
