// SPDX-License-Identifier: Apache-2.0

//go:build proof

// Package proof tests the whole life cycle of a local cluster on a real machine, from
// creation to complete removal: `go test -tags proof ./proof`. It requires root and
// takes about two minutes. The steps build on each other, so they form a single test.
// Tests that need no running node belong in the package they test.
package proof

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCluster(t *testing.T) {
	c := buildCluster(t)
	before := hostSnapshot(t, c)
	t.Cleanup(func() { c.mustRun(t, "down") })

	c.mustRun(t, "down") // no cluster exists yet
	c.mustFail(t, "not running", "status")
	c.mustFail(t, "not running", "exec", "true")
	c.mustRun(t, "up")
	up := c.mustRun(t, "up")
	if strings.Contains(up, "start the node") {
		t.Fatalf("second `up` restarted the node:\n%s", up)
	}
	inhabited := c.namespaces(t)

	c.mustRun(t, "image", "-name", "example.org/proof:1", "-binary", c.server, "-out", c.path("proof image.tar"))
	c.mustRun(t, "load", c.path("proof image.tar"))
	c.mustRun(t, "kubectl", "apply", "-f", "manifest.yaml")
	for _, name := range []string{"web", "friend", "stranger", "keeper"} {
		c.mustRun(t, "kubectl", "-n", "proof", "rollout", "status", "deployment/"+name, "--timeout=120s")
	}

	t.Run("relay", func(t *testing.T) { testRelay(t, c) })
	t.Run("policies", func(t *testing.T) { testPolicies(t, c) })
	t.Run("volumes", func(t *testing.T) { testVolumes(t, c) })
	t.Run("deletes under load", func(t *testing.T) { testDeletesUnderLoad(t, c) })
	t.Run("kubelet", func(t *testing.T) {
		if logs := c.mustRun(t, "kubectl", "-n", "proof", "logs", "deployment/keeper"); !strings.Contains(logs, "serving on") {
			t.Errorf("got kubectl logs output %q", logs)
		}
	})
	t.Run("crash", func(t *testing.T) {
		c.killNode(t)
		eventually(t, "status says that the node ended", func() error {
			if output, err := c.command("status").CombinedOutput(); err == nil || !strings.Contains(string(output), "node exited") {
				return fmt.Errorf("%w: %s", err, output)
			}
			return nil
		})
		c.mustRun(t, "up")
		inhabited = append(inhabited, c.namespaces(t)...)
	})

	c.mustRun(t, "down")
	c.mustRun(t, "down")
	c.mustLeaveNothing(t, before, inhabited)
}

func testRelay(t *testing.T, c *cluster) {
	address := strings.TrimSpace(c.mustRun(t, "relay", "-listen", "127.0.0.1:0", "-to", "svc/proof/web:http", "-background"))
	if again := strings.TrimSpace(c.mustRun(t, "relay", "-listen", address, "-to", "svc/proof/web:http", "-background")); again != address {
		t.Errorf("second identical relay listens on %s, want %s", again, address)
	}
	names := map[string]bool{}
	eventually(t, "both pods answer through the relay", func() error {
		name, err := get("http://" + address)
		names[name] = true
		if err == nil && len(names) < 2 {
			err = fmt.Errorf("got only names %v", names)
		}
		return err
	})
	c.mustRun(t, "relay", "-listen", address, "-to", "svc/proof/web:admin", "-background")
	eventually(t, "the relay leads to its new target", func() error { _, err := get("http://" + address); return err })
	if status := c.mustRun(t, "status"); !strings.Contains(status, address+" forwards to svc/proof/web:admin") {
		t.Errorf("status does not list the relay:\n%s", status)
	}
}

func testPolicies(t *testing.T, c *cluster) {
	server := c.startInNode(t, c.server, "10.89.0.1:5432", "10.89.0.1:5433")
	defer server()
	const names = "http://web.proof.svc.cluster.local"
	for _, attempt := range []struct {
		from, url string
		passes    bool
	}{
		{"friend", names, true},
		{"friend", names + ":81", false},
		{"stranger", names, false},
		{"stranger", names + ":81", false},
		{"friend", "http://10.89.0.1:5432", true},
		{"friend", "http://10.89.0.1:5433", false},
		{"stranger", "http://10.89.0.1:5433", true},
		{"friend", "http://" + c.podAddress(t, "keeper") + ":8080", false},
		{"stranger", "http://" + c.podAddress(t, "keeper") + ":8080", true},
		{"keeper", "http://" + c.podAddress(t, "stranger") + ":8080", false},
	} {
		answer, err := c.execInNode("curl", "-sS", "--fail-with-body", "--max-time", "6",
			"http://"+c.podAddress(t, attempt.from)+":8080/fetch?url="+url.QueryEscape(attempt.url))
		if (err == nil) != attempt.passes {
			t.Errorf("%s to %s: got allowed %v, want %v: %s", attempt.from, attempt.url, err == nil, attempt.passes, answer)
		}
		if !attempt.passes && !strings.Contains(answer, "Timeout") && !strings.Contains(answer, "deadline exceeded") {
			t.Errorf("%s to %s was not blocked by a policy: %s", attempt.from, attempt.url, answer)
		}
	}
	c.mustRun(t, "kubectl", "-n", "proof", "delete", "networkpolicy", "web")
	eventually(t, "without its policy web is open to all", func() error {
		_, err := c.execInNode("curl", "-sS", "--fail-with-body", "--max-time", "6",
			"http://"+c.podAddress(t, "stranger")+":8080/fetch?url="+url.QueryEscape(names+":81"))
		return err
	})
}

func testVolumes(t *testing.T, c *cluster) {
	note := func() string { return "http://" + c.podAddress(t, "keeper") + ":8080/note" }
	c.mustRun(t, "exec", "curl", "-sS", "--fail-with-body", "-X", "PUT", "--data", "kept", note())
	c.mustRun(t, "kubectl", "-n", "proof", "rollout", "restart", "deployment/keeper")
	c.mustRun(t, "kubectl", "-n", "proof", "rollout", "status", "deployment/keeper", "--timeout=60s")
	if kept := c.mustRun(t, "exec", "curl", "-sS", "--fail-with-body", note()); !strings.HasPrefix(kept, "kept") {
		t.Errorf("got volume content %q after a restart", kept)
	}
	c.mustRun(t, "kubectl", "-n", "proof", "scale", "deployment/keeper", "--replicas=0")
	c.mustRun(t, "kubectl", "-n", "proof", "delete", "pvc", "data", "--timeout=60s")
	eventually(t, "the data goes with the claim", func() error {
		left, err := filepath.Glob(c.path("state with space", "volumes", "*"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("volumes still exist: %v", left)
		}
		return err
	})
	c.mustRun(t, "kubectl", "apply", "-f", "manifest.yaml")
	c.mustRun(t, "kubectl", "-n", "proof", "scale", "deployment/keeper", "--replicas=1")
	c.mustRun(t, "kubectl", "-n", "proof", "rollout", "status", "deployment/keeper", "--timeout=60s")
	if answer, err := c.execInNode("curl", "-sS", "--fail-with-body", note()); err == nil {
		t.Errorf("new claim contains the old data: %q", answer)
	}
}

// testDeletesUnderLoad deletes the pods of a Deployment one by one while clients send
// requests without retries. Half of the clients keep connections alive; the others open
// a new connection for each request.
func testDeletesUnderLoad(t *testing.T, c *cluster) {
	address := strings.TrimSpace(c.mustRun(t, "relay", "-to", "svc/proof/web:80", "-background"))
	ctx, stop := context.WithCancel(context.Background())
	var asked, lost atomic.Int64
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}, Timeout: 10 * time.Second}
			for ctx.Err() == nil {
				asked.Add(1)
				if err := post(client, "http://"+address); err != nil {
					lost.Add(1)
					t.Error(err)
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for _, pod := range strings.Fields(c.mustRun(t, "kubectl", "-n", "proof", "get", "pods", "-l", "app=web", "-o", "name")) {
		c.mustRun(t, "kubectl", "-n", "proof", "delete", pod)
		c.mustRun(t, "kubectl", "-n", "proof", "rollout", "status", "deployment/web", "--timeout=60s")
	}
	stop()
	clients.Wait()
	t.Logf("%d requests, %d lost", asked.Load(), lost.Load())
}

// post sends a POST request, which the HTTP client never retries.
func post(client *http.Client, address string) error {
	request, err := http.NewRequest(http.MethodPut, address+"/note", strings.NewReader(""))
	if err != nil {
		return err
	}
	request.Method = "POST"
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func get(address string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Errorf("%s: %v", what, err)
}
