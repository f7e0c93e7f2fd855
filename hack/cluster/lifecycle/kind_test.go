// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

func TestChooseKind(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for _, test := range []struct {
		name                     string
		value                    string
		isKind, exists           bool
		unsupported, unavailable error
		want                     bool
		says                     string
	}{
		{"selected", "kind", false, false, nil, nil, true, ""},
		{"selected without kind", "kind", false, false, nil, no, true, "no"},
		{"selected with another cluster up", "kind", false, true, nil, nil, false, "make stop"},
		{"selected again", "kind", true, true, nil, nil, true, ""},
		{"supported machine", "", false, false, nil, nil, false, ""},
		{"unsupported machine with kind", "auto", false, false, no, nil, true, ""},
		{"unsupported machine without kind", "auto", false, false, no, no, false, ""},
		{"up already", "", true, true, nil, no, true, ""},
		{"built", "build", false, false, no, nil, false, ""},
		{"built with kind up", "build", true, true, nil, nil, false, "make stop"},
	} {
		got, err := chooseKind(test.value, test.isKind, test.exists, test.unsupported, test.unavailable)
		wantError(t, err, test.says)
		if got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestLocalClusterHasNode(t *testing.T) {
	t.Parallel()
	cluster := newStoppedCluster(t)
	if err := cluster.CheckHasNode(); err != nil || cluster.IsKind() {
		t.Errorf("cluster that was never started is a kind cluster: %v", err)
	}
	cluster.Node.State = place.State(t.TempDir())
	if _, err := cluster.StartRelay(t.Context(), "127.0.0.1:0", "nowhere"); err == nil {
		t.Error("StartRelay succeeded without a cluster")
	}
}
