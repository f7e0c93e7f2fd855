// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// scriptTimeout is the timeout for events that normally arrive immediately.
const scriptTimeout = 20 * time.Second

// startEnforcer runs an enforcer against a fake clientset and returns the scripts that
// it applies. Each call of the apply function returns the next of answers, then nil.
func startEnforcer(t *testing.T, answers ...error) (*fake.Clientset, <-chan string) {
	t.Helper()
	cluster := newTestCluster()
	client := fake.NewClientset(cluster.Namespaces[0], cluster.Namespaces[1],
		cluster.Pods[0], cluster.Pods[1], cluster.Pods[2], cluster.Pods[3])
	factory := informers.NewSharedInformerFactory(client, 0)
	scripts := make(chan string, 100)
	enforcer, err := NewEnforcer(factory, func(_ context.Context, script string) error {
		scripts <- script
		if len(answers) == 0 {
			return nil
		}
		answer := answers[0]
		answers = answers[1:]
		return answer
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	factory.Start(ctx.Done())
	go func() { ended <- enforcer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("enforcer returned %v", err)
		}
		factory.Shutdown()
	})
	return client, scripts
}

// waitForScript waits for a script that contains words, or lacks them if contains is
// false.
func waitForScript(t *testing.T, scripts <-chan string, words string, contains bool) {
	t.Helper()
	deadline := time.After(scriptTimeout)
	for {
		select {
		case script := <-scripts:
			if strings.Contains(script, words) == contains {
				return
			}
		case <-deadline:
			t.Fatalf("got no script with %q: %v", words, contains)
		}
	}
}

func TestEnforcerAppliesChanges(t *testing.T) {
	t.Parallel()
	client, scripts := startEnforcer(t)
	waitForScript(t, scripts, "isolated_ingress { type ipv4_addr; }", true)

	policies := client.NetworkingV1().NetworkPolicies("a")
	policy := newPolicy(appSelector("web"), ingressFrom(nil, podPeer(appSelector("client"))), nil)
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForScript(t, scripts, "10.0.0.2/32, 10.0.0.3/32", true)

	if err := client.CoreV1().Pods("a").Delete(t.Context(), "client-10.0.0.2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForScript(t, scripts, "10.0.0.2/32", false)

	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{}
	if _, err := policies.Update(t.Context(), policy, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForScript(t, scripts, "a/p", false)
}

func TestEnforcerRetriesAfterError(t *testing.T) {
	t.Parallel()
	_, scripts := startEnforcer(t, errors.New("nft is not in the mood"))
	first := <-scripts
	select {
	case second := <-scripts:
		if first != second {
			t.Errorf("enforcer retried a different script:\n%s", second)
		}
	case <-time.After(scriptTimeout):
		t.Error("rejected script was not retried")
	}
}

func TestEnforcerSkipsUnchangedRuleset(t *testing.T) {
	t.Parallel()
	client, scripts := startEnforcer(t)
	waitForScript(t, scripts, "table inet", true)
	// One change that does not affect policies, and one that does.
	namespace := newNamespace("b", map[string]string{"team": "blue", "mood": "good"})
	if _, err := client.CoreV1().Namespaces().Update(t.Context(), namespace, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.NetworkingV1().NetworkPolicies("a").Create(t.Context(), newPolicy(selectAll(), ingressFrom(nil), nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if script := <-scripts; !strings.Contains(script, "a/p") {
		t.Errorf("unchanged script was applied:\n%s", script)
	}
}
