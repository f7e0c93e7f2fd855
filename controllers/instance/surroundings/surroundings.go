// SPDX-License-Identifier: Apache-2.0

// Package surroundings reads what concerns an Instance and is not its child:
// Secrets and ConfigMaps that its spec refers to, its pods, the endpoints of its
// Service, events about its objects, storage classes. It is read from the API server
// every time, because it is looked at seldom and the cache would have to hold
// everybody's.
package surroundings

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Surroundings are those of the Instances of one namespace.
type Surroundings struct {
	// Live reads past the cache.
	Live client.Reader
	// Namespace of the Instances.
	Namespace string
}

// Secret reads a Secret that a spec refers to and somebody else writes. While it
// is not there, the problem is one of waiting, of the condition and reason; want
// says what should be in it.
func (s Surroundings) Secret(ctx context.Context, condition, reason, name, want string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, problem.Waiting(condition, reason, "Secret %s does not exist: make it, with %s", name, want)
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret, nil
}

// ConfigMap reads a ConfigMap as Secret reads a Secret.
func (s Surroundings) ConfigMap(ctx context.Context, condition, reason, name, want string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	return found, s.configMap(ctx, found, condition, reason, name, want)
}

// ConfigMapVersion reads which ConfigMap is there and in which version, without what it
// holds.
func (s Surroundings) ConfigMapVersion(ctx context.Context, condition, reason, name, want string) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	return found, s.configMap(ctx, found, condition, reason, name, want)
}

// configMap reads a ConfigMap, or what of it an object holds.
func (s Surroundings) configMap(ctx context.Context, found client.Object, condition, reason, name, want string) error {
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return problem.Waiting(condition, reason, "ConfigMap %s does not exist: make it, with %s", name, want)
	case err != nil:
		return fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return nil
}

// A CertificateUse is what certificates are for that a spec refers to, and what is
// said while they are not there or are none.
type CertificateUse struct {
	// Condition and the reasons are those of the problem.
	Condition, NotFound, Invalid string
	// Want says what they are: the certificate of somebody's authority.
	Want string
}

// Certificates reads the certificates, in PEM, that a spec refers to. Where the
// reference names no key, it is ca.crt.
func (s Surroundings) Certificates(ctx context.Context, reference v1alpha1.CertificateReference, use CertificateUse) (string, error) {
	kind, name, key := cmp.Or(reference.Kind, "Secret"), reference.Name, cmp.Or(reference.Key, corev1.ServiceAccountRootCAKey)
	found, err := s.certificates(ctx, kind, name, key, use)
	if err != nil {
		return "", err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(found) {
		return "", problem.Stalled(use.Condition, use.Invalid, "%s %s has no certificate in PEM under the key %s: put %s there", kind, name, key, use.Want)
	}
	return string(found), nil
}

func (s Surroundings) certificates(ctx context.Context, kind, name, key string, use CertificateUse) ([]byte, error) {
	if kind != "ConfigMap" {
		secret, err := s.Secret(ctx, use.Condition, use.NotFound, name, use.Want)
		if err != nil {
			return nil, err
		}
		return secret.Data[key], nil
	}
	found, err := s.ConfigMap(ctx, use.Condition, use.NotFound, name, use.Want)
	if err != nil {
		return nil, err
	}
	return []byte(found.Data[key]), nil
}

// Pods lists pods by their labels.
func (s Surroundings) Pods(ctx context.Context, labels client.MatchingLabels) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := s.Live.List(ctx, &pods, client.InNamespace(s.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return pods.Items, nil
}

// EndpointSlices lists what a Service leads to.
func (s Surroundings) EndpointSlices(ctx context.Context, service string) ([]discoveryv1.EndpointSlice, error) {
	var slices discoveryv1.EndpointSliceList
	which := client.MatchingLabels{discoveryv1.LabelServiceName: service}
	if err := s.Live.List(ctx, &slices, client.InNamespace(s.Namespace), which); err != nil {
		return nil, fmt.Errorf("listing the endpoints of Service %s: %w", service, err)
	}
	return slices.Items, nil
}

// MissingClass gives the name back when there is no such storage class, with the
// names of those there are. Who may not look is told that nothing is missing.
func (s Surroundings) MissingClass(ctx context.Context, name string) (missing string, others []string, err error) {
	err = s.Live.Get(ctx, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
	if err == nil || apierrors.IsForbidden(err) {
		return "", nil, nil
	}
	if !apierrors.IsNotFound(err) {
		return "", nil, fmt.Errorf("reading storage class %s: %w", name, err)
	}
	var classes storagev1.StorageClassList
	if err := s.Live.List(ctx, &classes); err != nil && !apierrors.IsForbidden(err) {
		return "", nil, fmt.Errorf("listing storage classes: %w", err)
	}
	for _, class := range classes.Items {
		others = append(others, class.Name)
	}
	return name, others, nil
}

// NewestEvent gives what was last said about an object by an event of a type;
// an empty one stands for all types.
func (s Surroundings) NewestEvent(ctx context.Context, uid types.UID, kind string) (string, error) {
	which := client.MatchingFields{"involvedObject.uid": string(uid)}
	if kind != "" {
		which["type"] = kind
	}
	var events corev1.EventList
	err := s.Live.List(ctx, &events, client.InNamespace(s.Namespace), which)
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
