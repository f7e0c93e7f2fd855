// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

const kindNetworkPolicy = "NetworkPolicy"

// applyNetworkPolicy applies the network policy of the pods. Pods that do not match the
// spec may use another database. Until the rollout is complete, and while the database is
// unknown, the policy keeps the ports of that database open.
func (s *scope) applyNetworkPolicy(ctx context.Context) error {
	policy := inventory.Find[*networkingv1.NetworkPolicy](s.Objects, kindNetworkPolicy, resources.ServerName(s.Instance))
	in := s.input
	deployment := s.Objects.Deployment()
	if deployment != nil {
		in.RollbackPorts = resources.ParseDatabasePorts(deployment.Spec.Template.Annotations)
	}
	state, _ := rollout.DeploymentState(deployment, s.Instance.Status.Rollout.LastReadyTemplateHash)
	if policy != nil && (!s.isSatisfied(dataStorage) || state != rollout.Complete) {
		in.RollbackPorts = append(in.RollbackPorts, resources.DatabasePortsFromPolicy(s.Instance, policy)...)
	}
	in.DNSResolvers = s.DNSResolvers
	var err error
	if in.KubernetesAPINetworks, err = s.KubernetesAPI.PrefixesOnPorts(ctx, s.StartedAt, slices.Concat(in.DatabasePorts, in.RollbackPorts, in.NotificationPorts)); err != nil {
		return err
	}
	if in.WebhookBlockedNetworks, err = s.KubernetesAPI.PrefixesOnPorts(ctx, s.StartedAt, resources.WebhookPorts(s.Instance)); err != nil {
		return err
	}
	return s.apply(ctx, "", resources.BuildNetworkPolicy(in))
}
