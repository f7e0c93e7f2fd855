// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/lifecycle"
)

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "with space", "it's", `"$HOME" \ '`, "a\nb"} {
		output, err := exec.Command("sh", "-c", "printf %s "+shellQuote(text)).Output()
		if err != nil || string(output) != text {
			t.Errorf("shell parses %q as %q, error %v", text, output, err)
		}
	}
}

func TestRunRejectsInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{nil, "exit status 2"},
		{[]string{"no-such-command"}, "exit status 2"},
		{[]string{"build", "no-such-tool"}, "no-such-tool"},
		{[]string{"load"}, "at least one image archive"},
		{[]string{"exec"}, "expected a command"},
		{[]string{"exec", "--"}, "expected a command"},
		{[]string{"image"}, "flags -name"},
		{[]string{"image", "-name", "a:b", "-out", "c", "rest"}, "rest"},
		{[]string{"image", "-binary", "a=relative"}, "exit status 2"},
		{[]string{"relay"}, "svc/NAMESPACE/NAME:PORT"},
		{[]string{"relay", "-to", "svc/a:1"}, "svc/NAMESPACE/NAME:PORT"},
		{[]string{"node-init"}, "state directory"},
		{[]string{"node-relay"}, "target"},
		{[]string{"node-relay", "nowhere"}, "svc/NAMESPACE/NAME:PORT"},
		{[]string{"node-exec"}, "expected a command"},
		{[]string{"node-agent"}, "kubeconfig"},
	} {
		err := run(context.Background(), test.arguments)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: got error %v, want %q", test.arguments, err, test.says)
		}
	}
}

func TestUsageExitStatus(t *testing.T) {
	t.Parallel()
	if status := exitStatusError(0); !errors.As(run(context.Background(), nil), &status) || status != 2 {
		t.Errorf("got exit status %d without a command", status)
	}
}

func TestBuildImage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := filepath.Join(folder, "server")
	if err := os.WriteFile(server, []byte("I serve"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "image.tar")
	err := buildImage(context.Background(), lifecycle.Cluster{}, []string{
		"-name", "localhost/server:dev", "-binary", server, "--binary", server + "=/bin/other", "-file", server + "=/models/core", "-out", out,
	})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server\x00", "bin/other\x00", "models/core\x00"} {
		if !strings.Contains(string(archive), name) {
			t.Errorf("image does not contain %q", name)
		}
	}
}
