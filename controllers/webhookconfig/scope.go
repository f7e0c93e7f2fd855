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
	// instance is the Instance that config refers to. Nil if the Instance does not exist or
	// is not managed by this operator.
	instance *v1alpha1.Instance
	// managedElsewhere is set if the Instance exists but is managed by another operator.
	managedElsewhere bool
	startedAt        time.Time
	// drift describes how a suspended subscription differs from its spec. receiverFailing is
	// set if the receiver accepts no deliveries.
	drift           string
	receiverFailing bool
}

// findInstance reads the Instance from the cache. If the cache does not hold it, it asks
// the API server, because another operator may manage the Instance.
func (s *scope) findInstance(ctx context.Context) error {
	found, key := &v1alpha1.Instance{}, client.ObjectKey{Namespace: s.config.Namespace, Name: s.config.Spec.InstanceRef.Name}
	err := s.client.Get(ctx, key, found)
	if err == nil {
		s.instance = found
		return nil
	}
	if apierrors.IsNotFound(err) {
		err = s.apiReader.Get(ctx, key, found)
		s.managedElsewhere = err == nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Instance %s: %w", key.Name, err)
	}
	return nil
}

func (s *scope) clusterReader() cluster.Reader {
	return cluster.Reader{APIReader: s.apiReader, Namespace: s.config.Namespace}
}

// recordEvent records an event of type Normal or Warning for the WebhookConfig.
func (s *scope) recordEvent(kind, reason, message string) {
	s.recorder.Eventf(s.config, nil, kind, reason, "Reconcile", "%s", message)
}
