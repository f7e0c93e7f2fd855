// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"fmt"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func ExampleNew() {
	t := &testing.T{} // the test's own
	release := modeltest.New().
		Condition("c_1", 0.02, func(c *model.DraftCondition) { c.Name = "Migraine" }).
		Symptom("s_1", 0.05, func(o *model.DraftObservation) { o.Name = "Headache" }).
		Child("s_2", "s_1", model.SeverityRelation, 0.01).
		RiskFactor("p_1", 0.2).
		Link("c_1", "s_1", 0.95).
		Link("c_1", "s_2", 0.6).
		Factor("c_1", "p_1", 2, 0.8).
		Build(t)

	headache, _ := release.ObservationByID("s_1")
	observation := release.Observations[headache]
	for _, link := range model.Slice(release.LinksByObservation, observation.Links) {
		condition := release.Conditions[link.Other]
		fmt.Printf("%s causes %s in %.0f %% of patients\n", release.Text(condition.Name), release.Text(observation.Name), 100*link.Probability)
	}
	for _, child := range model.Slice(release.ChildRefs, observation.Children) {
		fmt.Printf("%s refines it by %v\n", release.ObservationID(child), release.Observations[child].Relation)
	}
	// Output:
	// Migraine causes Headache in 95 % of patients
	// s_2 refines it by severity
}
