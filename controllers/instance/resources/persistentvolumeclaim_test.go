// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const claimMetadata = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: acme-data
  namespace: tenants
  labels:
    app.kubernetes.io/name: anamnesis
    app.kubernetes.io/instance: acme
    app.kubernetes.io/managed-by: anamnesis-operator
    anamnesis.dev/instance-uid: 6f1f7a53
  annotations:
    argocd.argoproj.io/sync-options: Prune=false,Delete=false
    argocd.argoproj.io/compare-options: IgnoreExtraneous
`

func TestBuildPersistentVolumeClaim(t *testing.T) {
	t.Parallel()
	fast := "fast"
	for name, test := range map[string]struct {
		in   Input
		want string
	}{
		"the default storage class is left to the cluster": {
			in: embeddedInput(),
			want: claimMetadata + `
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`,
		},
		"size and class of the spec": {
			in: embeddedInput(func(instance *v1alpha1.Instance) {
				instance.Spec.Storage.Embedded.Size = resource.MustParse("20Gi")
				instance.Spec.Storage.Embedded.StorageClassName = &fast
			}),
			want: claimMetadata + `
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 20Gi}}
  storageClassName: fast
`,
		},
		"a volume for one pod alone": {
			in: embeddedInput(func(instance *v1alpha1.Instance) {
				instance.Spec.Storage.Embedded.AccessMode = corev1.ReadWriteOncePod
			}),
			want: claimMetadata + `
spec:
  accessModes: [ReadWriteOncePod]
  resources: {requests: {storage: 1Gi}}
`,
		},
		"hibernation keeps the data": {
			in: embeddedInput(withHibernate),
			want: claimMetadata + `
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertYAML(t, BuildPersistentVolumeClaim(test.in), test.want)
		})
	}
}

func TestExternalStorageHasNoClaim(t *testing.T) {
	t.Parallel()
	if claim := BuildPersistentVolumeClaim(externalInput()); claim != nil {
		t.Errorf("got a claim for external storage: %v", toMap(t, claim))
	}
}

// TestClaimHasNoOwner covers both deletion policies: whether the data is deleted with
// the Instance is decided at deletion, never by the garbage collector.
func TestClaimHasNoOwner(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyDelete} {
		claim := BuildPersistentVolumeClaim(embeddedInput(func(instance *v1alpha1.Instance) {
			instance.Spec.DeletionPolicy = policy
		}))
		if len(claim.OwnerReferences) != 0 {
			t.Errorf("policy %s: got owners %v, want none", policy, claim.OwnerReferences)
		}
	}
}
