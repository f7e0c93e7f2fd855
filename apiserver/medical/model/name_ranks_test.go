// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// TestNameRanks checks that names are sorted as readers expect: ignoring case and
// umlauts, with equal names by number.
func TestNameRanks(t *testing.T) {
	t.Parallel()
	named := func(name string) func(*model.DraftObservation) {
		return func(o *model.DraftObservation) { o.CommonName = name }
	}
	r := modeltest.New().
		Symptom("s_1", 0.1, named("Übelkeit")).Symptom("s_2", 0.1, named("ulcus")).Symptom("s_3", 0.1, named("Zahnweh")).
		RiskFactor("p_1", 0.1, named("Ulcus")).
		Condition("c_1", 0.1, func(c *model.DraftCondition) { c.CommonName = "Zoster" }).
		Condition("c_2", 0.1, func(c *model.DraftCondition) { c.CommonName = "Ödem" }).
		Drug("d_1", "Zolpidem", "N05CF02", nil).Drug("d_2", "Äthanol", "V03AB16", nil).
		Build(t)
	var got []uint32
	for i := range r.Observations {
		got = append(got, r.ObservationNameRank(model.ObservationIndex(i)))
	}
	got = append(got, r.ConditionNameRank(0), r.ConditionNameRank(1), r.DrugNameRank(0), r.DrugNameRank(1), r.SpecialistNameRank(0))
	if diff := cmp.Diff([]uint32{0, 1, 3, 2, 1, 0, 1, 0, 0}, got); diff != "" {
		t.Error(diff)
	}
}
