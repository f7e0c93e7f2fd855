// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

// TestSampleInstance applies the sample from the README and sends it a request.
func TestSampleInstance(t *testing.T) {
	if _, err := cluster.Kubectl(t.Context(), "apply", "--filename", platform.SampleManifest); err != nil {
		t.Fatal(err)
	}
	demo := tenant{t: t, key: client.ObjectKey{Namespace: platform.SampleNamespace, Name: platform.SampleInstance}}
	demo.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")

	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			api := demo.newAPIClient(protocol)
			api.mustDiagnose(t)
			api.mustRejectKey(t)
		})
	}
}
