// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/client"
)

// TestMain changes to the repository root, where the source of the server is.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestStart(t *testing.T) {
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.URL, Credentials())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := c.Engine.GetInfo(t.Context()); err != nil || info.ConditionsCount == 0 {
		t.Errorf("got %v, %v", info, err)
	}
	if usage, err := c.Guidance.ListUsage(t.Context(), nil); err != nil {
		t.Errorf("got %v, %v", usage, err)
	}
	if _, err := os.Stat(server.homeDir); err != nil {
		t.Errorf("home directory is missing: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(server.homeDir); !os.IsNotExist(err) {
		t.Errorf("home directory was not removed: %v", err)
	}
	if _, err := c.Engine.GetInfo(t.Context()); err == nil {
		t.Error("server still responds after Stop")
	}
}

func TestStartCleansUpAfterBuildFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	server, err := Start(context.WithoutCancel(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "building the server") {
		t.Fatalf("got %v, %v; want a build error", server, err)
	}
	if entries, err := os.ReadDir(os.TempDir()); err != nil || len(entries) != 0 {
		t.Errorf("got temporary files %v, %v; want none", entries, err)
	}
}
