// SPDX-License-Identifier: Apache-2.0

// Package volumes provisions the persistent volumes of the local cluster: each
// is a folder of the node, offered as a `local` volume with node affinity, so
// that the kubelet hands it to the pod's group. The storage class decides what
// becomes of the data when a claim is deleted.
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

// Provisioner is the name by which storage classes ask for these volumes.
const Provisioner = "cluster.anamnesis.dev/local"

// Run provisions volumes below folder until the context ends.
func Run(ctx context.Context, client kubernetes.Interface, folder string) {
	controller.NewProvisionController(ctx, client, Provisioner, folders{root: folder},
		controller.LeaderElection(false),
		controller.MetricsPort(0),
	).Run(ctx)
}

// folders implements controller.Provisioner.
type folders struct{ root string }

// Provision makes the folder. Its mode is that of a fresh file system: root's
// until the kubelet hands it to the pod's group.
func (f folders) Provision(_ context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	folder := filepath.Join(f.root, options.PVName)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a pod without a group may read it
		return nil, controller.ProvisioningFinished, fmt.Errorf("making the folder of volume %s: %w", options.PVName, err)
	}
	return volume(options, folder), controller.ProvisioningFinished, nil
}

// Delete deletes the folder with the data in it.
func (f folders) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if volume.Spec.Local == nil || volume.Spec.Local.Path != filepath.Join(f.root, volume.Name) {
		return &controller.IgnoredError{Reason: "its folder is not one that was provisioned here"}
	}
	if err := os.RemoveAll(volume.Spec.Local.Path); err != nil {
		return fmt.Errorf("deleting the data of volume %s: %w", volume.Name, err)
	}
	return nil
}

func volume(options controller.ProvisionOptions, folder string) *corev1.PersistentVolume {
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
