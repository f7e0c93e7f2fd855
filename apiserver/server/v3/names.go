// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// observationNames writes observations as answers list them.
func observationNames(r *model.Release, observations []model.ObservationIndex) []enginev3.ObservationName {
	list := make([]enginev3.ObservationName, len(observations))
	for i, observation := range observations {
		name := assessment.ObservationName(r, observation)
		list[i] = enginev3.ObservationName{ID: name.ID, Name: name.Name, CommonName: name.CommonName}
	}
	return list
}

// conditionNames writes conditions as answers list them.
func conditionNames(r *model.Release, conditions []model.ConditionIndex) []enginev3.ConditionName {
	list := make([]enginev3.ConditionName, len(conditions))
	for i, condition := range conditions {
		name := assessment.ConditionName(r, condition)
		list[i] = enginev3.ConditionName{ID: name.ID, Name: name.Name, CommonName: name.CommonName}
	}
	return list
}
