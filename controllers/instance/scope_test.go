// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"
)

func TestRequeueAfter(t *testing.T) {
	t.Parallel()
	v := &scope{StartedAt: noon}
	if v.RequeueAfter() != 0 {
		t.Error("nothing was asked for")
	}
	v.RequeueAt(noon.Add(time.Hour))
	v.RequeueAt(noon.Add(time.Minute))
	v.RequeueAt(noon.Add(2 * time.Hour))
	if v.RequeueAfter() != time.Minute {
		t.Errorf("pause %s, want the earliest", v.RequeueAfter())
	}
	v.RequeueAt(noon.Add(-time.Hour))
	if v.RequeueAfter() <= 0 {
		t.Error("a visit that was due must still take place")
	}
}
