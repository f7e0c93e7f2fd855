// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// encodeObservationNames encodes observations as responses list them.
func encodeObservationNames(r *model.Release, observations []model.ObservationIndex) []enginev3.ObservationName {
	list := make([]enginev3.ObservationName, len(observations))
	for i, observation := range observations {
		name := assessment.ObservationName(r, observation)
		list[i] = enginev3.ObservationName{ID: name.ID, Name: name.Name, CommonName: name.CommonName}
	}
	return list
}

// encodeConditionNames encodes conditions as responses list them.
func encodeConditionNames(r *model.Release, conditions []model.ConditionIndex) []enginev3.ConditionName {
	list := make([]enginev3.ConditionName, len(conditions))
	for i, condition := range conditions {
		name := assessment.ConditionName(r, condition)
		list[i] = enginev3.ConditionName{ID: name.ID, Name: name.Name, CommonName: name.CommonName}
	}
	return list
}
