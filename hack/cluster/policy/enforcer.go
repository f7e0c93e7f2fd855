// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
)

// ApplyFunc applies an nftables script atomically.
type ApplyFunc func(ctx context.Context, script string) error

// ApplyNft applies a script with the nft program.
func ApplyNft(ctx context.Context, script string) error {
	cmd := exec.CommandContext(ctx, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(script)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("applying network policies with nft: %w: %s", err, output)
	}
	return nil
}

// Enforcer keeps the nftables ruleset in line with the policies of the cluster.
type Enforcer struct {
	pods       corelisters.PodLister
	namespaces corelisters.NamespaceLister
	policies   networkinglisters.NetworkPolicyLister
	synced     []cache.InformerSynced
	changed    chan struct{}
	apply      ApplyFunc
}

// NewEnforcer returns an enforcer that watches through the factory, which the caller
// starts.
func NewEnforcer(factory informers.SharedInformerFactory, apply ApplyFunc) (*Enforcer, error) {
	pods, namespaces := factory.Core().V1().Pods(), factory.Core().V1().Namespaces()
	policies := factory.Networking().V1().NetworkPolicies()
	enforcer := &Enforcer{
		pods:       pods.Lister(),
		namespaces: namespaces.Lister(),
		policies:   policies.Lister(),
		changed:    make(chan struct{}, 1),
		apply:      apply,
	}
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		registration, err := informer.AddEventHandler(enforcer.eventHandler())
		if err != nil {
			return nil, fmt.Errorf("watching network policies: %w", err)
		}
		enforcer.synced = append(enforcer.synced, registration.HasSynced)
	}
	return enforcer, nil
}

// eventHandler marks the ruleset as outdated on every event.
func (e *Enforcer) eventHandler() cache.ResourceEventHandler {
	remember := func(any) {
		select {
		case e.changed <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    remember,
		UpdateFunc: func(_, current any) { remember(current) },
		DeleteFunc: remember,
	}
}

// retryInterval is the delay before a rejected script is retried.
const retryInterval = time.Second

// Run enforces policies until the context is done.
func (e *Enforcer) Run(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), e.synced...) {
		return ctx.Err()
	}
	var inForce string
	for {
		next, err := e.sync(ctx, inForce)
		if err != nil {
			slog.Error("failed to apply network policies", "error", err)
		}
		inForce = next
		if err := e.waitForChange(ctx, err != nil); err != nil {
			return err
		}
	}
}

// sync applies the current ruleset if it differs from the one in force, and returns
// the script that is then in force.
func (e *Enforcer) sync(ctx context.Context, inForce string) (string, error) {
	cluster, err := e.snapshot()
	if err != nil {
		return inForce, err
	}
	script := Compile(cluster).Script()
	if script == inForce {
		return inForce, nil
	}
	if err := e.apply(ctx, script); err != nil {
		return inForce, err
	}
	return script, nil
}

func (e *Enforcer) snapshot() (cluster Cluster, err error) {
	if cluster.Pods, err = e.pods.List(labels.Everything()); err != nil {
		return cluster, fmt.Errorf("listing pods: %w", err)
	}
	if cluster.Namespaces, err = e.namespaces.List(labels.Everything()); err != nil {
		return cluster, fmt.Errorf("listing namespaces: %w", err)
	}
	if cluster.Policies, err = e.policies.List(labels.Everything()); err != nil {
		return cluster, fmt.Errorf("listing network policies: %w", err)
	}
	return cluster, nil
}

func (e *Enforcer) waitForChange(ctx context.Context, failed bool) error {
	var again <-chan time.Time
	if failed {
		again = time.After(retryInterval)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-e.changed:
	case <-again:
	}
	return nil
}
