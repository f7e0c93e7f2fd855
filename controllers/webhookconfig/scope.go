// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
)

// A scope is the state of one reconcile of one WebhookConfig.
type scope struct {
	*Reconciler
	// config is the scope's own copy. Its status is filled in during the reconcile.
	config *v1alpha1.WebhookConfig
	// instance is the Instance that config names. Nil if this operator manages no such
	// Instance.
	instance *v1alpha1.Instance
	// managedElsewhere is set if the Instance exists but is managed by another operator.
	managedElsewhere bool
	startedAt        time.Time
	// drift describes how a suspended subscription differs from its spec. receiverFailing is
	// set if it does not differ, but its receiver accepts no deliveries.
	drift           string
	receiverFailing bool
}

// findInstance bypasses the cache for Instances that are not in it: an Instance managed
// by another operator still exists.
func (v *scope) findInstance(ctx context.Context) error {
	found, key := &v1alpha1.Instance{}, client.ObjectKey{Namespace: v.config.Namespace, Name: v.config.Spec.InstanceRef.Name}
	err := v.client.Get(ctx, key, found)
	if err == nil {
		v.instance = found
		return nil
	}
	if apierrors.IsNotFound(err) {
		err = v.apiReader.Get(ctx, key, found)
		v.managedElsewhere = err == nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Instance %s: %w", key.Name, err)
	}
	return nil
}

func (v *scope) clusterReader() cluster.Reader {
	return cluster.Reader{APIReader: v.apiReader, Namespace: v.config.Namespace}
}

// recordEvent records an event of type Normal or Warning for the WebhookConfig.
func (v *scope) recordEvent(kind, reason, message string) {
	v.recorder.Eventf(v.config, nil, kind, reason, "Reconcile", "%s", message)
}
