// SPDX-License-Identifier: Apache-2.0

// Package cluster reads objects that an Instance depends on but does not own: Secrets and
// ConfigMaps that its spec references, its pods, the endpoints of its Service, events
// about its objects, and storage classes. It always reads from the API server, because
// the reads are rare and a cache would have to hold all such objects of all users.
// Owned objects belong to package inventory.
package cluster

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// A Reader reads objects for the Instances of one namespace.
type Reader struct {
	// APIReader bypasses the cache.
	APIReader client.Reader
	// Namespace is the namespace of the Instances.
	Namespace string
}

// GetSecret reads a user-managed Secret that a spec references. If the Secret does not
// exist, GetSecret returns a waiting problem with the given condition and reason, whose
// message describes the expected content.
func (r Reader) GetSecret(ctx context.Context, condition, reason, name, expected string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, problem.Waiting(condition, reason, "Secret %s not found: create it with %s", name, expected)
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret, nil
}

// GetConfigMap reads a ConfigMap, like GetSecret.
func (r Reader) GetConfigMap(ctx context.Context, condition, reason, name, expected string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	return found, r.getConfigMap(ctx, found, condition, reason, name, expected)
}

// GetConfigMapMetadata reads the UID and resource version of a ConfigMap without its
// content.
func (r Reader) GetConfigMapMetadata(ctx context.Context, condition, reason, name, expected string) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	return found, r.getConfigMap(ctx, found, condition, reason, name, expected)
}

// getConfigMap reads a ConfigMap into found, which may be metadata-only.
func (r Reader) getConfigMap(ctx context.Context, found client.Object, condition, reason, name, expected string) error {
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return problem.Waiting(condition, reason, "ConfigMap %s not found: create it with %s", name, expected)
	case err != nil:
		return fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return nil
}

// CABundleOptions describe the purpose of a CA bundle that a spec references, and the
// problem to report if the bundle is missing or invalid.
type CABundleOptions struct {
	// Condition, NotFoundReason and InvalidReason are the condition and reasons of the
	// problem.
	Condition, NotFoundReason, InvalidReason string
	// Expected describes the expected content, such as the CA certificate of a database.
	Expected string
}

// GetCABundle reads the CA certificates (PEM) that a spec references. If unset, the key
// defaults to ca.crt.
func (r Reader) GetCABundle(ctx context.Context, reference v1alpha1.CABundleReference, options CABundleOptions) (string, error) {
	kind, name, key := cmp.Or(reference.Kind, "Secret"), reference.Name, cmp.Or(reference.Key, corev1.ServiceAccountRootCAKey)
	found, err := r.readCABundle(ctx, kind, name, key, options)
	if err != nil {
		return "", err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(found) {
		return "", problem.Stalled(options.Condition, options.InvalidReason, "%s %s: no PEM certificate found under key %s: add %s", kind, name, key, options.Expected)
	}
	return string(found), nil
}

func (r Reader) readCABundle(ctx context.Context, kind, name, key string, options CABundleOptions) ([]byte, error) {
	if kind != "ConfigMap" {
		secret, err := r.GetSecret(ctx, options.Condition, options.NotFoundReason, name, options.Expected)
		if err != nil {
			return nil, err
		}
		return secret.Data[key], nil
	}
	found, err := r.GetConfigMap(ctx, options.Condition, options.NotFoundReason, name, options.Expected)
	if err != nil {
		return nil, err
	}
	return []byte(found.Data[key]), nil
}

// ListPods lists pods by their labels.
func (r Reader) ListPods(ctx context.Context, labels client.MatchingLabels) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := r.APIReader.List(ctx, &pods, client.InNamespace(r.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return pods.Items, nil
}

// ListEndpointSlices lists the EndpointSlices of a Service.
func (r Reader) ListEndpointSlices(ctx context.Context, service string) ([]discoveryv1.EndpointSlice, error) {
	var slices discoveryv1.EndpointSliceList
	selector := client.MatchingLabels{discoveryv1.LabelServiceName: service}
	if err := r.APIReader.List(ctx, &slices, client.InNamespace(r.Namespace), selector); err != nil {
		return nil, fmt.Errorf("listing the endpoints of Service %s: %w", service, err)
	}
	return slices.Items, nil
}

// MissingStorageClass returns name and the available storage classes if the storage class
// does not exist. If the operator may not read storage classes, it assumes that the class
// exists.
func (r Reader) MissingStorageClass(ctx context.Context, name string) (missing string, available []string, err error) {
	err = r.APIReader.Get(ctx, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
	if err == nil || apierrors.IsForbidden(err) {
		return "", nil, nil
	}
	if !apierrors.IsNotFound(err) {
		return "", nil, fmt.Errorf("reading storage class %s: %w", name, err)
	}
	var classes storagev1.StorageClassList
	if err := r.APIReader.List(ctx, &classes); err != nil && !apierrors.IsForbidden(err) {
		return "", nil, fmt.Errorf("listing storage classes: %w", err)
	}
	for _, class := range classes.Items {
		available = append(available, class.Name)
	}
	return name, available, nil
}

// LatestEvent returns the reason and message of the latest event of a type about an
// object, or an empty string. An empty type matches all types.
func (r Reader) LatestEvent(ctx context.Context, uid types.UID, eventType string) (string, error) {
	selector := client.MatchingFields{"involvedObject.uid": string(uid)}
	if eventType != "" {
		selector["type"] = eventType
	}
	var events corev1.EventList
	err := r.APIReader.List(ctx, &events, client.InNamespace(r.Namespace), selector)
	switch {
	case apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("listing events: %w", err)
	case len(events.Items) == 0:
		return "", nil
	}
	newest := slices.MaxFunc(events.Items, func(a, b corev1.Event) int { return eventTime(a).Compare(eventTime(b)) })
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
