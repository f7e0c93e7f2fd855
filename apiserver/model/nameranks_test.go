// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// Names stand in the order that readers look for them in: letter case and
// umlauts aside, equal ones by number.
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
		got = append(got, r.ObservationRank(model.ObservationIndex(i)))
	}
	got = append(got, r.ConditionRank(0), r.ConditionRank(1), r.DrugRank(0), r.DrugRank(1), r.SpecialistRank(0))
	if diff := cmp.Diff([]uint32{0, 1, 3, 2, 1, 0, 1, 0, 0}, got); diff != "" {
		t.Error(diff)
	}
}
