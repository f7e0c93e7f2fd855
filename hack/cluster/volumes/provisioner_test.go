// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func newOptions(reclaim corev1.PersistentVolumeReclaimPolicy) controller.ProvisionOptions {
	return controller.ProvisionOptions{
		PVName:           "pvc-1",
		SelectedNodeName: "node-1",
		StorageClass:     &storagev1.StorageClass{ReclaimPolicy: &reclaim},
		PVC: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: resource.MustParse("1Gi"),
			}},
		}},
	}
}

func TestProvision(t *testing.T) {
	t.Parallel()
	provisioner := dirProvisioner{root: filepath.Join(t.TempDir(), "volumes")}
	volume, state, err := provisioner.Provision(t.Context(), newOptions(corev1.PersistentVolumeReclaimRetain))
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatalf("provisioning: %s, %v", state, err)
	}
	folder := filepath.Join(provisioner.root, "pvc-1")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		t.Errorf("volume directory not found: %v", err)
	}
	spec := volume.Spec
	if volume.Name != "pvc-1" || spec.Local == nil || spec.Local.Path != folder {
		t.Errorf("got source %[2]v for volume %[1]s", volume.Name, spec.PersistentVolumeSource)
	}
	if spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("got reclaim policy %s, want Retain", spec.PersistentVolumeReclaimPolicy)
	}
	if size := spec.Capacity[corev1.ResourceStorage]; size.String() != "1Gi" {
		t.Errorf("got capacity %s, want 1Gi", size.String())
	}
	if diff := cmp.Diff([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, spec.AccessModes); diff != "" {
		t.Error(diff)
	}
	want := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-1"}},
	}}}
	if diff := cmp.Diff(want, spec.NodeAffinity.Required.NodeSelectorTerms); diff != "" {
		t.Error(diff)
	}
}

func TestProvisionKeepsExistingData(t *testing.T) {
	t.Parallel()
	provisioner := dirProvisioner{root: t.TempDir()}
	note := filepath.Join(provisioner.root, "pvc-1", "note")
	for range 2 { // the library retries if saving the volume fails
		if _, _, err := provisioner.Provision(t.Context(), newOptions(corev1.PersistentVolumeReclaimDelete)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(note, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	provisioner := dirProvisioner{root: t.TempDir()}
	volume, _, err := provisioner.Provision(t.Context(), newOptions(corev1.PersistentVolumeReclaimDelete))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(volume.Spec.Local.Path, "note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := provisioner.Delete(t.Context(), volume); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(volume.Spec.Local.Path); !os.IsNotExist(err) {
		t.Errorf("volume data still exists: %v", err)
	}
}

func TestDeleteIgnoresForeignDirectories(t *testing.T) {
	t.Parallel()
	others := t.TempDir()
	provisioner := dirProvisioner{root: t.TempDir()}
	elsewhere, _, err := provisioner.Provision(t.Context(), newOptions(corev1.PersistentVolumeReclaimDelete))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Spec.Local.Path = others
	none := elsewhere.DeepCopy()
	none.Spec.Local = nil
	for _, volume := range []*corev1.PersistentVolume{elsewhere, none} {
		if ignored := new(controller.IgnoredError); !errors.As(provisioner.Delete(t.Context(), volume), &ignored) {
			t.Error("provisioner did not ignore the volume")
		}
	}
	if _, err := os.Stat(others); err != nil {
		t.Error(err)
	}
}
