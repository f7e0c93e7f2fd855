// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/client"
)

// TestMain changes to the repository root, where the server is built.
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
		t.Errorf("it has no home: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(server.homeDir); !os.IsNotExist(err) {
		t.Errorf("its home is still there: %v", err)
	}
	if _, err := c.Engine.GetInfo(t.Context()); err == nil {
		t.Error("it still answers")
	}
}

func TestStartCleansUpAfterBuildFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	server, err := Start(context.WithoutCancel(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "building the server") {
		t.Fatalf("got %v, %v; want an error that says what was done", server, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
}
