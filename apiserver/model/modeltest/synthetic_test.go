// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

func TestSyntheticHasItsSize(t *testing.T) {
	t.Parallel()
	for _, size := range []modeltest.Size{{Conditions: 10, Observations: 40, Links: 120}, {Conditions: 37, Observations: 101, Links: 501}, modeltest.FullSize} {
		r := modeltest.Synthetic(size, 1).Build(t)
		got := modeltest.Size{Conditions: len(r.Conditions), Observations: len(r.Observations), Links: len(r.LinksByCondition)}
		if got != size {
			t.Errorf("a synthetic release of %+v has %+v", size, got)
		}
		if len(r.Groups) == 0 || len(r.Factors) == 0 {
			t.Errorf("a synthetic release of %+v has %d groups and %d factors", size, len(r.Groups), len(r.Factors))
		}
	}
}

func TestSyntheticIsRepeatable(t *testing.T) {
	t.Parallel()
	size := modeltest.Size{Conditions: 20, Observations: 80, Links: 300}
	first := modeltest.Synthetic(size, 7).Bytes(t)
	if !bytes.Equal(first, modeltest.Synthetic(size, 7).Bytes(t)) {
		t.Error("the same seed gives other bytes")
	}
	if bytes.Equal(first, modeltest.Synthetic(size, 8).Bytes(t)) {
		t.Error("another seed gives the same bytes")
	}
}

func TestSyntheticRefusesSizesItCannotMake(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]modeltest.Size{
		"nothing":                    {},
		"no condition":               {Observations: 100, Links: 10},
		"hardly an observation":      {Conditions: 1, Observations: 5, Links: 1},
		"more links than there are":  {Conditions: 1, Observations: 20, Links: 40},
		"disciplines without a root": {Conditions: 1000, Observations: 20, Links: 1000},
	} {
		if got := refused(modeltest.Synthetic(size, 1)); !strings.Contains(got, "a synthetic release of") {
			t.Errorf("%s: Build says %q", name, got)
		}
	}
}

func TestPatientsAreRepeatable(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	first := modeltest.Patients(r, 20, 4)
	if diff := cmp.Diff(first, modeltest.Patients(r, 20, 4)); diff != "" {
		t.Errorf("the same call gives other patients: %s", diff)
	}
	if cmp.Equal(first[0], first[1]) {
		t.Errorf("two patients are the same: %+v", first[0])
	}
}

func TestPatientsReportEightItems(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	for _, present := range []int{4, 8} {
		for i, p := range modeltest.Patients(r, 200, present) {
			if len(p.Present) != present || len(p.Present)+len(p.Absent) != modeltest.EvidenceItems {
				t.Errorf("patient %d of %d present: %d present, %d absent", i, present, len(p.Present), len(p.Absent))
			}
		}
	}
}
