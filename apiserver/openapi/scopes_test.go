// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

// TestEngineOperationsRequireKnowledgeReadScope checks that the contract names exactly one scope
// for every operation, the one that the server requires for all of /v3.
func TestEngineOperationsRequireKnowledgeReadScope(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(openapi.EngineV3)
	if err != nil {
		t.Fatal(err)
	}
	want := openapi3.SecurityRequirements{{"applicationID": {}, "applicationKey": {string(identity.KnowledgeRead)}}}
	if diff := cmp.Diff(want, document.Security); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Security != nil {
				t.Errorf("%s %s overrides the security of the contract: %v", method, path, *operation.Security)
			}
		}
	}
}
