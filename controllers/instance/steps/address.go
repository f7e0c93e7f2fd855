// SPDX-License-Identifier: Apache-2.0

package steps

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/address"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// awaitAddress says whether the Instance answers at its address. It is looked at
// only before the Instance is said to be ready, so that one that is costs no
// request: whatever replaces its pods ends that first.
func (v *Visit) awaitAddress(ctx context.Context) error {
	if !v.aboutToBeReady() {
		return nil
	}
	slices, err := v.EndpointSlices(ctx, resources.ServerName(v.Instance))
	if err != nil {
		return err
	}
	facts := address.Facts{Served: address.Served(slices), Available: v.availableFor()}
	if facts.WorthCalling() {
		facts.Refusal = v.callAddress(ctx)
	}
	return address.Judge(facts)
}

// aboutToBeReady says whether nothing else keeps an Instance from being ready
// that was not before and has pods.
func (v *Visit) aboutToBeReady() bool {
	deployment := v.Children.Deployment()
	return len(v.unfinished) == 0 &&
		!meta.IsStatusConditionTrue(v.Instance.Status.Conditions, v1alpha1.ConditionReady) &&
		deployment != nil && ptr.Deref(deployment.Spec.Replicas, 1) > 0
}

// availableFor is for how long the status has said that a pod serves. Where one
// served all along, as while pods are replaced one by one, so did the address.
func (v *Visit) availableFor() time.Duration {
	available := meta.FindStatusCondition(v.Instance.Status.Conditions, v1alpha1.ConditionAvailable)
	if available == nil || !meta.IsStatusConditionTrue(v.Instance.Status.Conditions, v1alpha1.ConditionAvailable) {
		return 0
	}
	return v.Began.Sub(available.LastTransitionTime.Time)
}

// callAddress calls the Instance as its clients do, and says why it was not
// answered.
func (v *Visit) callAddress(ctx context.Context) error {
	service := children.As[*corev1.Service](v.Children, "Service", resources.ServerName(v.Instance))
	secret := children.As[*corev1.Secret](v.Children, children.KindSecret, resources.TLSName(v.Instance))
	if service == nil || secret == nil {
		return errors.New("the Service or its certificate was only just made")
	}
	hostPort := net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(resources.ServicePort))
	return v.Call(ctx, hostPort, secret.Data[corev1.TLSCertKey])
}
