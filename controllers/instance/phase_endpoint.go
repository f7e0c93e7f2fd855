// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/probe"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// awaitEndpoint returns a problem if the Instance is not reachable at its address. It
// probes only before the Instance becomes ready, so that ready Instances cause no
// requests. Ready is cleared before pods are replaced.
func (s *scope) awaitEndpoint(ctx context.Context) error {
	if !s.isAboutToBeReady() {
		return nil
	}
	slices, err := s.ListEndpointSlices(ctx, resources.ServerName(s.Instance))
	if err != nil {
		return err
	}
	facts := probe.Facts{HasEndpoint: probe.HasServingEndpoint(slices), AvailableFor: s.availableFor()}
	if facts.ShouldProbe() {
		facts.ProbeErr = s.probeService(ctx)
	}
	return probe.Evaluate(facts)
}

// isAboutToBeReady reports whether the Instance is not ready yet, has pods, and has no
// other failure.
func (s *scope) isAboutToBeReady() bool {
	deployment := s.Objects.Deployment()
	return len(s.incomplete) == 0 &&
		!meta.IsStatusConditionTrue(s.Instance.Status.Conditions, v1alpha1.ConditionReady) &&
		deployment != nil && ptr.Deref(deployment.Spec.Replicas, 1) > 0
}

// availableFor returns how long the status has reported an available pod. During a
// rolling update, a pod is always available, and the address therefore stays reachable.
func (s *scope) availableFor() time.Duration {
	available := meta.FindStatusCondition(s.Instance.Status.Conditions, v1alpha1.ConditionAvailable)
	if available == nil || !meta.IsStatusConditionTrue(s.Instance.Status.Conditions, v1alpha1.ConditionAvailable) {
		return 0
	}
	return s.StartedAt.Sub(available.LastTransitionTime.Time)
}

// probeService connects to the Instance as its clients do, and returns the connection
// error.
func (s *scope) probeService(ctx context.Context) error {
	service := inventory.Find[*corev1.Service](s.Objects, "Service", resources.ServerName(s.Instance))
	secret := inventory.Find[*corev1.Secret](s.Objects, inventory.KindSecret, resources.TLSSecretName(s.Instance))
	if service == nil || secret == nil {
		return errors.New("the Service or its certificate was just created")
	}
	hostPort := net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(resources.ServicePort))
	return s.ProbeServer(ctx, hostPort, secret.Data[corev1.TLSCertKey])
}
