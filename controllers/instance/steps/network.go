// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

const kindNetworkPolicy = "NetworkPolicy"

// applyNetwork says who may talk to the pods and to whom they may talk. Pods that
// are not as the spec says may know another database than the spec: until a
// rollout has settled, and while nobody knows where the data is, what was open
// for them stays open.
func (v *Visit) applyNetwork(ctx context.Context) error {
	policy := children.As[*networkingv1.NetworkPolicy](v.Children, kindNetworkPolicy, resources.ServerName(v.Instance))
	in := v.input
	deployment := v.Children.Deployment()
	if deployment != nil {
		in.PutBackPorts = resources.NotedPorts(deployment.Spec.Template.Annotations)
	}
	state, _ := rollout.Judge(deployment, v.Instance.Status.Rollout.LastReady)
	if policy != nil && (!v.knows(place) || state != rollout.Settled) {
		in.PutBackPorts = append(in.PutBackPorts, resources.OpenPorts(v.Instance, policy)...)
	}
	in.Resolvers = v.Resolvers
	var err error
	if in.KubernetesAPI, err = v.KubernetesAPI.Serving(ctx, v.Began, slices.Concat(in.DatabasePorts, in.PutBackPorts, in.NotificationPorts)); err != nil {
		return err
	}
	if resources.SendsWebhooks(in.Server) {
		if in.ClosedToWebhooks, err = v.KubernetesAPI.Serving(ctx, v.Began, resources.WebhookPorts(v.Instance)); err != nil {
			return err
		}
	}
	return v.put(ctx, "", resources.BuildNetworkPolicy(in))
}
