// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestDatabaseRejectsSecondInstance checks that a second Instance cannot use the
// database of a running one: its condition names the owner and how to adopt the
// database. The first Instance keeps working.
func TestDatabaseRejectsSecondInstance(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "owner")
	spec := externalSpec(t, namespace)
	spec.Replicas = 1
	first := createReadyInstance(t, namespace, "first", spec)
	user := first.newAPIClient("h2").mustCreateUser(t)
	second := createInstance(t, namespace, "second", spec)
	condition := second.waitFor(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, "DatabaseNotOwned")
	for _, uid := range []string{string(first.get().UID), string(second.get().UID)} {
		if !strings.Contains(condition.Message, uid) {
			t.Errorf("message does not contain UID %s: %s", uid, condition.Message)
		}
	}
	if !strings.Contains(condition.Message, v1alpha1.AdoptAnnotation) {
		t.Errorf("message does not explain how to adopt the data: %s", condition.Message)
	}
	first.newAPIClient("h2").mustFindUser(t, user)
}
