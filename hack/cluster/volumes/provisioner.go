// SPDX-License-Identifier: Apache-2.0

// Package volumes provisions the persistent volumes of the local cluster. Each is a
// directory on the node, exposed as a `local` volume with node affinity, so that the
// kubelet applies the pod's fsGroup. The reclaim policy of the storage class
// determines what happens to the data when a claim is deleted.
package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// ProvisionerName is the provisioner name in storage classes.
const ProvisionerName = "cluster.anamnesis.dev/local"

// Run provisions volumes below folder until the context is done.
func Run(ctx context.Context, client kubernetes.Interface, folder string) {
	controller.NewProvisionController(ctx, client, ProvisionerName, dirProvisioner{root: folder},
		controller.LeaderElection(false),
		controller.MetricsPort(0),
	).Run(ctx)
}

// dirProvisioner implements controller.Provisioner.
type dirProvisioner struct{ root string }

// Provision creates the directory. Its mode matches a fresh file system: owned by root
// until the kubelet applies the pod's fsGroup.
func (p dirProvisioner) Provision(_ context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	folder := filepath.Join(p.root, options.PVName)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // pods without a group must be able to read it
		return nil, controller.ProvisioningFinished, fmt.Errorf("creating the directory of volume %s: %w", options.PVName, err)
	}
	return newVolume(options, folder), controller.ProvisioningFinished, nil
}

// Delete deletes the directory with its data.
func (p dirProvisioner) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if volume.Spec.Local == nil || volume.Spec.Local.Path != filepath.Join(p.root, volume.Name) {
		return &controller.IgnoredError{Reason: "its directory was not provisioned here"}
	}
	if err := os.RemoveAll(volume.Spec.Local.Path); err != nil {
		return fmt.Errorf("deleting the data of volume %s: %w", volume.Name, err)
	}
	return nil
}

func newVolume(options controller.ProvisionOptions, folder string) *corev1.PersistentVolume {
	filesystem := corev1.PersistentVolumeFilesystem
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: options.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   options.PVC.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			VolumeMode:                    &filesystem,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key:      corev1.LabelHostname,
						Operator: corev1.NodeSelectorOpIn,
						Values:   []string{options.SelectedNodeName},
					}},
				}},
			}},
		},
	}
}
