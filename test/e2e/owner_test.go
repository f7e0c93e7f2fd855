// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Of two Instances on one database the second is refused, and is told whose it is;
// the first goes on.
func TestOneDatabaseIsOneTenants(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "owner")
	spec := external(t, namespace)
	spec.Replicas = 1
	first := apply(t, namespace, "first", spec)
	user := first.dial("h2").mustCreateUser(t)
	second := create(t, namespace, "second", spec)
	condition := second.waitFor(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, "DatabaseForeign")
	for _, uid := range []string{string(first.get().UID), string(second.get().UID)} {
		if !strings.Contains(condition.Message, uid) {
			t.Errorf("the UID %s does not stand in: %s", uid, condition.Message)
		}
	}
	if !strings.Contains(condition.Message, v1alpha1.AdoptAnnotation) {
		t.Errorf("how to take it over does not stand in: %s", condition.Message)
	}
	first.dial("h2").mustFindUser(t, user)
}
