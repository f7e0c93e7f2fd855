// SPDX-License-Identifier: Apache-2.0

package synthetic

import (
	"bytes"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/google/go-cmp/cmp"
)

func TestModelHasTheSizeThatIsPromised(t *testing.T) {
	r, err := Release()
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(r.Conditions), len(r.Observations), len(r.LinksByCondition)}
	if want := []int{Conditions, Observations, Links}; !cmp.Equal(got, want) {
		t.Errorf("conditions, observations, links: %v, want %v", got, want)
	}
}

func TestModelAndPatientsAreTheSameEveryTime(t *testing.T) {
	first, err := model.Encode(Draft().Layout())
	if err != nil {
		t.Fatal(err)
	}
	second, err := model.Encode(Draft().Layout())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two releases differ")
	}
	r, err := Release()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Patients(r, 20, 4), Patients(r, 20, 4)); diff != "" {
		t.Errorf("two workloads differ: %s", diff)
	}
}

func TestPatientsReportEightItems(t *testing.T) {
	r, err := Release()
	if err != nil {
		t.Fatal(err)
	}
	for _, present := range []int{4, 8} {
		for i, p := range Patients(r, 200, present) {
			if len(p.Present) != present || len(p.Present)+len(p.Absent) != EvidenceItems {
				t.Errorf("patient %d of %d present: %d present, %d absent", i, present, len(p.Present), len(p.Absent))
			}
		}
	}
}
