// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func TestSyntheticSize(t *testing.T) {
	t.Parallel()
	for _, size := range []modeltest.Size{{Conditions: 10, Observations: 40, Links: 120}, {Conditions: 37, Observations: 101, Links: 501}, modeltest.FullSize} {
		r := modeltest.Synthetic(size, 1).Build(t)
		got := modeltest.Size{Conditions: len(r.Conditions), Observations: len(r.Observations), Links: len(r.LinksByCondition)}
		if got != size {
			t.Errorf("a synthetic release of %+v has %+v", size, got)
		}
		if len(r.Groups) == 0 || len(r.Factors) == 0 || len(r.Articles) == 0 || len(r.LabTests) != size.Observations/100 {
			t.Errorf("a synthetic release of %+v has %d groups, %d factors, %d articles, %d laboratory tests", size, len(r.Groups), len(r.Factors), len(r.Articles), len(r.LabTests))
		}
	}
}

// TestSyntheticHasWordings checks that the wordings of a synthetic release are
// unambiguous, as the compiler requires, and that they share words, as in any language.
func TestSyntheticHasWordings(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	concepts := len(r.Conditions) + len(r.Observations)
	if n := len(r.Wordings); n < 3*concepts || n > 5*concepts {
		t.Errorf("%d concepts have %d wordings, want 3 to 5 each", concepts, n)
	}
	leads := map[string]model.Wording{}
	for _, w := range r.Wordings {
		text := strings.ToLower(r.Text(w.Text))
		if before, taken := leads[text]; taken && (before.Concept != w.Concept || before.IsCondition != w.IsCondition) {
			t.Errorf("%q refers to two concepts", text)
		}
		leads[text] = w
	}
	if n := len(r.Words); n < 2000 || n > 4000 {
		t.Errorf("there are %d words", n)
	}
}

func TestSyntheticIsDeterministic(t *testing.T) {
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

func TestSyntheticRejectsInvalidSizes(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]modeltest.Size{
		"nothing":                    {},
		"no condition":               {Observations: 100, Links: 10},
		"hardly an observation":      {Conditions: 1, Observations: 5, Links: 1},
		"more links than there are":  {Conditions: 1, Observations: 20, Links: 40},
		"disciplines without a root": {Conditions: 1000, Observations: 20, Links: 1000},
	} {
		if got := buildFailure(modeltest.Synthetic(size, 1)); !strings.Contains(got, "invalid synthetic release size") {
			t.Errorf("%s: Build failed with %q", name, got)
		}
	}
}

func TestSamplePatientsIsDeterministic(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	first := modeltest.SamplePatients(r, 20, 4)
	if diff := cmp.Diff(first, modeltest.SamplePatients(r, 20, 4)); diff != "" {
		t.Errorf("the same call gives other patients: %s", diff)
	}
	if cmp.Equal(first[0], first[1]) {
		t.Errorf("two patients are the same: %+v", first[0])
	}
}

func TestSamplePatientsEvidenceCount(t *testing.T) {
	t.Parallel()
	r := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Build(t)
	for _, present := range []int{4, 8} {
		for i, p := range modeltest.SamplePatients(r, 200, present) {
			if len(p.Present) != present || len(p.Present)+len(p.Absent) != modeltest.EvidencePerPatient {
				t.Errorf("patient %d of %d present: %d present, %d absent", i, present, len(p.Present), len(p.Absent))
			}
		}
	}
}
