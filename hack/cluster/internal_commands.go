// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/node"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/policy"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/relay"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/volumes"
)

// internalCommands are the subcommands with which the program calls itself for
// processes in the node.
var internalCommands = map[string]func(context.Context, []string) error{
	node.InitCommand:  nodeInit,
	node.AgentCommand: nodeAgent,
	node.ExecCommand:  nodeExec,
	node.RelayCommand: nodeRelay,
}

func nodeInit(_ context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("node-init: expected the state directory as the only argument")
	}
	return node.Init(place.State(arguments[0]))
}

// nodeAgent enforces network policies and provisions volumes.
func nodeAgent(ctx context.Context, _ []string) error {
	client, err := newNodeClient()
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	enforcer, err := policy.NewEnforcer(factory, policy.ApplyNft)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return enforcer.Run(ctx) })
	group.Go(func() error {
		volumes.Run(ctx, client, node.VolumesDir)
		return ctx.Err()
	})
	return group.Wait()
}

func nodeExec(_ context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("node-exec: expected a command")
	}
	return node.Exec(arguments[0], arguments[1:]...)
}

func nodeRelay(ctx context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("node-relay: expected the target as the only argument")
	}
	target, err := relay.ParseTarget(arguments[0])
	if err != nil {
		return err
	}
	listener, err := node.InheritedListener()
	if err != nil {
		return err
	}
	client, err := newNodeClient()
	if err != nil {
		return err
	}
	resolve := func(ctx context.Context) (string, error) { return target.Resolve(ctx, client) }
	return relay.Serve(ctx, listener, resolve)
}

// newNodeClient returns an administrator's client for processes in the node.
func newNodeClient() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", node.KubeconfigPath)
	if err != nil {
		return nil, fmt.Errorf("reading the node's kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	return kubernetes.NewForConfig(config)
}
