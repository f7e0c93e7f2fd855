// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	reasonVolumeBound      = "VolumeBound"
	reasonVolumeLost       = "VolumeLost"
	reasonVolumePending    = "VolumePending"
	reasonVolumeCannotBind = "VolumeCannotBind"

	reasonDatabaseConfigured     = "DatabaseConfigured"
	reasonDatabaseSecretNotFound = "DatabaseSecretNotFound"
	reasonDatabaseSecretInvalid  = "DatabaseSecretInvalid"
)

// applyStorage gives the data a place, or finds the place that somebody else
// made.
func (v *visit) applyStorage(ctx context.Context) error {
	storage := v.instance.Spec.Storage
	switch {
	case storage.Embedded != nil:
		v.instance.Status.Storage = "Embedded"
		return v.applyVolume(ctx)
	case storage.External != nil:
		v.instance.Status.Storage = "External"
		return v.readDatabase(ctx, storage.External.SecretRef.Name)
	}
	return stalled(v1alpha1.ConditionStorageReady, "StorageMissing", "spec.storage names no kind of storage: choose embedded or external")
}

// readDatabase learns what the pods depend on of the database's URL. Whether
// the database answers, only the pods can tell, by becoming ready.
func (v *visit) readDatabase(ctx context.Context, name string) error {
	const want = "a postgres:// URL under the key " + resources.DatabaseURLKey
	secret, err := v.referenced(ctx, v1alpha1.ConditionStorageReady, reasonDatabaseSecretNotFound, name, want)
	if err != nil {
		return err
	}
	url := string(secret.Data[resources.DatabaseURLKey])
	if url == "" {
		return stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid,
			"Secret %s has nothing under the key %s: put %s", name, resources.DatabaseURLKey, want)
	}
	ports, err := resources.DatabasePorts(url)
	if err != nil {
		return stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid, "Secret %s: %v", name, err)
	}
	v.input.DatabasePorts = ports
	v.input.DatabaseChecksum = checksum(v.instance.UID, url)
	v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, reasonDatabaseConfigured, "the database's URL is in Secret %s", name)
	return nil
}

// checksum tells contents of a Secret apart without giving them away; it is
// salted, so that two Instances with the same content do not show it.
func checksum(instance types.UID, content string) string {
	sum := sha256.Sum256([]byte(string(instance) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}

func (v *visit) applyVolume(ctx context.Context) error {
	key := childKey{kindPersistentVolumeClaim, resources.DataName(v.instance)}
	found, err := v.find(ctx, key)
	if err != nil {
		return err
	}
	if found != nil && found.GetLabels()[v1alpha1.InstanceUIDLabel] != string(v.instance.UID) {
		v.announce(corev1.EventTypeNormal, "DataAdopted", "takes up the data in volume claim %s of the earlier Instance %s", key.name, found.GetLabels()[v1alpha1.InstanceUIDLabel])
	}
	if err := v.put(ctx, v1alpha1.ConditionStorageReady, resources.BuildPersistentVolumeClaim(v.input)); err != nil {
		return err
	}
	return v.judgeVolume(ctx, child[*corev1.PersistentVolumeClaim](v.children, key.kind, key.name))
}

// judgeVolume notes how far the claim has come. One that is not bound stops no
// step: many volumes are made only when a pod asks for them.
func (v *visit) judgeVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	facts := volumeFacts{claim: claim, now: v.began}
	if claim != nil && claim.Status.Phase != corev1.ClaimBound {
		if err := v.explainVolume(ctx, &facts); err != nil {
			return err
		}
	}
	v.volume = judgeVolume(facts)
	if v.volume == nil {
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, reasonVolumeBound, "volume claim %s is bound", claim.Name)
	} else {
		v.mark(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, v.volume.reason, "%s", v.volume.message)
	}
	return nil
}

// classGrace is how long a claim may name a storage class that does not exist:
// it is bound all the same where a volume made by hand names the same class.
const classGrace = 10 * time.Second

// volumeFacts is what can be known about a claim that is not bound.
type volumeFacts struct {
	// claim is nil when it was only just made.
	claim *corev1.PersistentVolumeClaim
	// classMissing is the storage class that the claim names and nobody made.
	classMissing string
	// classes there are instead.
	classes []string
	// complaint is the newest event about the claim.
	complaint string
	now       time.Time
}

// judgeVolume gives the problem with a claim, or nil when it is bound.
func judgeVolume(facts volumeFacts) *problem {
	const condition = v1alpha1.ConditionStorageReady
	if facts.claim == nil {
		return waiting(condition, reasonVolumePending, "the volume claim was just made")
	}
	name := facts.claim.Name
	switch facts.claim.Status.Phase {
	case corev1.ClaimBound:
		return nil
	case corev1.ClaimLost:
		return stalled(condition, reasonVolumeLost, "the volume of claim %s is gone: bring the volume back, or delete the claim to go on with an empty one", name)
	}
	age := facts.now.Sub(facts.claim.CreationTimestamp.Time)
	if facts.classMissing != "" && age > classGrace {
		return stalled(condition, reasonVolumeCannotBind, "volume claim %s asks for storage class %s, which does not exist: make it, or make the Instance anew with another; there are: %s",
			name, facts.classMissing, cmp.Or(strings.Join(facts.classes, ", "), "none"))
	}
	said := ""
	if facts.complaint != "" {
		said = ": " + facts.complaint
	}
	if age > resources.ProgressDeadline {
		return stalled(condition, reasonVolumeCannotBind, "volume claim %s was not bound within %s%s", name, resources.ProgressDeadline, said)
	}
	return waiting(condition, reasonVolumePending, "volume claim %s is not bound yet%s", name, said)
}

// explainVolume looks for what keeps a claim from being bound.
func (v *visit) explainVolume(ctx context.Context, facts *volumeFacts) error {
	var err error
	if name := facts.claim.Spec.StorageClassName; name != nil && *name != "" {
		if facts.classMissing, facts.classes, err = v.findClass(ctx, *name); err != nil {
			return err
		}
	}
	facts.complaint, err = v.newestEvent(ctx, facts.claim.UID, "")
	return err
}

// findClass gives the name back when there is no such storage class, with those
// there are.
func (v *visit) findClass(ctx context.Context, name string) (missing string, others []string, err error) {
	err = v.live.Get(ctx, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
	if err == nil || apierrors.IsForbidden(err) {
		return "", nil, nil
	}
	if !apierrors.IsNotFound(err) {
		return "", nil, fmt.Errorf("reading storage class %s: %w", name, err)
	}
	var classes storagev1.StorageClassList
	if err := v.live.List(ctx, &classes); err != nil && !apierrors.IsForbidden(err) {
		return "", nil, fmt.Errorf("listing storage classes: %w", err)
	}
	for _, class := range classes.Items {
		others = append(others, class.Name)
	}
	return name, others, nil
}

// newestEvent gives what was last said about an object by an event of a type;
// an empty one stands for all types.
func (v *visit) newestEvent(ctx context.Context, uid types.UID, kind string) (string, error) {
	which := client.MatchingFields{"involvedObject.uid": string(uid)}
	if kind != "" {
		which["type"] = kind
	}
	var events corev1.EventList
	err := v.live.List(ctx, &events, client.InNamespace(v.instance.Namespace), which)
	switch {
	case apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("listing events: %w", err)
	case len(events.Items) == 0:
		return "", nil
	}
	newest := slices.MaxFunc(events.Items, func(one, other corev1.Event) int { return eventTime(one).Compare(eventTime(other)) })
	return newest.Reason + ": " + newest.Message, nil
}

func eventTime(event corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	}
	return event.EventTime.Time
}
