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

// insideCommands are those that the program calls itself with, for processes
// within the node.
var insideCommands = map[string]func(context.Context, []string) error{
	node.InitCommand:  nodeInit,
	node.AgentCommand: nodeAgent,
	node.ExecCommand:  nodeExec,
	node.RelayCommand: nodeRelay,
}

func nodeInit(_ context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("the node's first process needs the state folder as its argument")
	}
	return node.Init(place.State(arguments[0]))
}

// nodeAgent enforces network policies and provisions volumes.
func nodeAgent(ctx context.Context, _ []string) error {
	client, err := insideClient()
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	enforcer, err := policy.NewEnforcer(factory, policy.Nft)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return enforcer.Run(ctx) })
	group.Go(func() error {
		volumes.Run(ctx, client, node.Volumes)
		return ctx.Err()
	})
	return group.Wait()
}

func nodeExec(_ context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("there is no command to become")
	}
	return node.Exec(arguments[0], arguments[1:]...)
}

func nodeRelay(ctx context.Context, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("a relay needs its target as its argument")
	}
	target, err := relay.ParseTarget(arguments[0])
	if err != nil {
		return err
	}
	listener, err := node.Listener()
	if err != nil {
		return err
	}
	client, err := insideClient()
	if err != nil {
		return err
	}
	resolve := func(ctx context.Context) (string, error) { return target.Resolve(ctx, client) }
	return relay.Serve(ctx, listener, resolve)
}

// insideClient is the administrator's client as the node sees the cluster.
func insideClient() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", node.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the node's kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	return kubernetes.NewForConfig(config)
}
