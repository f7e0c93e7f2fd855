// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// observationNames writes observations as answers list them.
func observationNames(r *model.Release, observations []model.ObservationIndex) []enginev3.ObservationName {
	list := make([]enginev3.ObservationName, len(observations))
	for i, observation := range observations {
		o := &r.Observations[observation]
		list[i] = enginev3.ObservationName{
			ID: r.ObservationID(observation), Name: r.Text(o.Name), CommonName: r.Text(o.CommonName),
		}
	}
	return list
}

// conditionNames writes conditions as answers list them.
func conditionNames(r *model.Release, conditions []model.ConditionIndex) []enginev3.ConditionName {
	list := make([]enginev3.ConditionName, len(conditions))
	for i, condition := range conditions {
		c := &r.Conditions[condition]
		list[i] = enginev3.ConditionName{
			ID: r.ConditionID(condition), Name: r.Text(c.Name), CommonName: r.Text(c.CommonName),
		}
	}
	return list
}
