// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

func acme() *v1alpha1.Instance {
	return &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "tenants", UID: "new", Generation: 3}}
}

func TestValidateOwner(t *testing.T) {
	t.Parallel()
	isController, notController := true, false
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		want   string
	}{
		"ours":                            {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "new", Controller: &isController}}, ""},
		"without an owner":                {nil, "stalled ObjectNotOwned"},
		"another kind's":                  {[]metav1.OwnerReference{{Kind: "Other", Name: "acme", UID: "x", Controller: &isController}}, "stalled ObjectNotOwned"},
		"another Instance's":              {[]metav1.OwnerReference{{Kind: "Instance", Name: "emca", UID: "x", Controller: &isController}}, "stalled ObjectNotOwned"},
		"an earlier Instance's":           {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "old", Controller: &isController}}, "waiting ObjectTerminating"},
		"ours, but not as its controller": {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "new", Controller: &notController}}, "stalled ObjectNotOwned"},
	} {
		object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "acme", OwnerReferences: test.owners}}
		err := validateOwner(acme(), "Service", object)
		problemtest.Expect(t, name, err, test.want)
		if err != nil && !strings.Contains(err.Error(), "Service acme") {
			t.Errorf("%s: error %q does not name the object", name, err)
		}
	}
}

func TestValidateSecret(t *testing.T) {
	t.Parallel()
	owner := func(uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: uid, Controller: new(true)}}
	}
	for name, test := range map[string]struct {
		uid    string
		owners []metav1.OwnerReference
		adopt  string
		want   string
	}{
		"ours":                          {uid: "new"},
		"ours, by its controller":       {owners: owner("new")},
		"ours, on its way":              {uid: "new", owners: owner("new")},
		"an earlier Instance's, owned":  {owners: owner("old"), adopt: "old", want: "waiting ObjectTerminating"},
		"labeled by a user":             {uid: "new", owners: owner("old"), want: "waiting ObjectTerminating"},
		"without an owner":              {want: "stalled ObjectNotOwned"},
		"without an owner, not adopted": {adopt: "", want: "stalled ObjectNotOwned"},
		"retained":                      {uid: "old", want: "stalled DataNotOwned"},
		"retained and adopted":          {uid: "old", adopt: "old"},
		"another is adopted":            {uid: "old", adopt: "older", want: "stalled DataNotOwned"},
	} {
		instance := acme()
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: test.adopt}
		for _, name := range []string{"acme-credentials", "acme-keysets", "acme-signing-keys"} {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: test.owners}}
			if test.uid != "" {
				secret.Labels = map[string]string{v1alpha1.InstanceUIDLabel: test.uid}
			}
			problemtest.Expect(t, name, validateExisting(instance, Key{KindSecret, name}, secret), test.want)
		}
		// Other objects are deleted with their Instance: a label does not make them data.
		other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "acme-app-default", Labels: map[string]string{v1alpha1.InstanceUIDLabel: "new"}}}
		problemtest.Expect(t, name, validateExisting(instance, Key{KindSecret, other.Name}, other), "stalled ObjectNotOwned")
	}
}

func TestValidateClaim(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	for name, test := range map[string]struct {
		uid     string
		adopt   string
		deleted *metav1.Time
		want    string
	}{
		"ours":                       {uid: "new"},
		"ours and being deleted":     {uid: "new", deleted: &now, want: "stalled VolumeTerminating"},
		"no owner":                   {want: "stalled ObjectNotOwned"},
		"no owner and adopt nothing": {adopt: "", want: "stalled ObjectNotOwned"},
		"retained":                   {uid: "old", want: "stalled DataNotOwned"},
		"retained and adopted":       {uid: "old", adopt: "old"},
		"another is adopted":         {uid: "old", adopt: "older", want: "stalled DataNotOwned"},
		"being deleted":              {uid: "old", adopt: "old", deleted: &now, want: "waiting ObjectTerminating"},
	} {
		instance := acme()
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: test.adopt}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: "acme-data", DeletionTimestamp: test.deleted, Labels: map[string]string{v1alpha1.InstanceUIDLabel: test.uid},
		}}
		problemtest.Expect(t, name, validateClaim(instance, claim), test.want)
	}
}
