// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// ListLabTests implements enginev3.StrictServerInterface.
func (a *API) ListLabTests(ctx context.Context, request enginev3.ListLabTestsRequestObject) (enginev3.ListLabTestsResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	tests := catalog.LabTests(release, months)
	list := make(enginev3.ListLabTests200JSONResponse, len(tests))
	for i, test := range tests {
		list[i] = encodeLabTest(release, test, months)
	}
	return list, nil
}

// GetLabTest implements enginev3.StrictServerInterface.
func (a *API) GetLabTest(ctx context.Context, request enginev3.GetLabTestRequestObject) (enginev3.GetLabTestResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	test, ok := catalog.LabTestByID(release, request.ID)
	if !ok {
		return nil, notFound("laboratory test", request.ID)
	}
	return enginev3.GetLabTest200JSONResponse(encodeLabTest(release, test, months)), nil
}

func encodeLabTest(r *model.Release, i, months int) enginev3.LabTest {
	t := &r.LabTests[i]
	results := catalog.LabResults(r, i, months)
	test := enginev3.LabTest{
		ID:         r.LabTestID(i),
		Name:       r.Text(t.Name),
		CommonName: r.Text(t.CommonName),
		Category:   r.Text(t.Category),
		Results:    make([]enginev3.LabResult, len(results)),
	}
	for i, result := range results {
		test.Results[i] = enginev3.LabResult{
			ID:   r.ObservationID(result),
			Type: enginev3.LabResultType(r.Observations[result].LabResult.String()),
		}
	}
	return test
}
