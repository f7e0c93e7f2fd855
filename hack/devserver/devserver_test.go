// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
)

// The server is built in the root of the repository.
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
	if status := info(t, server.URL); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	if _, err := os.Stat(server.home); err != nil {
		t.Errorf("it has no home: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(server.home); !os.IsNotExist(err) {
		t.Errorf("its home is still there: %v", err)
	}
	if response, err := http.Get(server.URL + "/v3/info"); err == nil {
		_ = response.Body.Close()
		t.Error("it still answers")
	}
}

func info(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v3/info", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("App-Id", AppID)
	request.Header.Set("App-Key", AppKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestStartElsewhere(t *testing.T) {
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
