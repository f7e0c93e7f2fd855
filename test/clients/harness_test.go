// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/go-chi/chi/v5"
)

// Credentials of the clients.
const (
	appID  = "portal"
	appKey = "portal-key"
)

// serverURL is the base URL of the server that all tests share. It serves the real
// content in English and German.
var serverURL string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	directory, err := os.MkdirTemp("", "clients")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(directory) }()
	handler, closeModels, err := newServer(directory)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer closeModels()
	listening := httptest.NewServer(handler)
	defer listening.Close()
	serverURL = listening.URL
	return m.Run()
}

// newServer writes the content to directory and returns the handler of a tenant that
// serves it.
func newServer(directory string) (handler http.Handler, closeModels func(), err error) {
	for _, language := range []string{"en", "de"} {
		file, err := compiled.ForLanguage(language)
		if err != nil {
			return nil, nil, err
		}
		if err := model.WriteFile(filepath.Join(directory, file.Name), file.Data); err != nil {
			return nil, nil, err
		}
	}
	library, err := model.OpenStore(directory, []model.ReleaseRef{{ID: "service-en"}, {ID: "service-de"}})
	if err != nil {
		return nil, nil, err
	}
	applications, err := identity.NewApplications(identity.Credential{ID: appID, Key: appKey, Scopes: []identity.Scope{identity.KnowledgeRead}})
	if err != nil {
		return nil, nil, err
	}
	keys, err := identity.NewSigningKeys()
	if err != nil {
		return nil, nil, err
	}
	operations, err := access.LoadOperations()
	if err != nil {
		return nil, nil, err
	}
	return router.New(router.Options{
		Guidance:        chi.NewRouter(),
		Models:          library,
		Engine:          inference.New(),
		Tokens:          &identity.TokenIssuer{InstanceID: "test", Applications: applications, SigningKeys: keys, Now: time.Now},
		Feedback:        nopFeedbackStore{},
		Applications:    applications,
		Operations:      operations,
		Meter:           nopMeter{},
		Now:             time.Now,
		AllowsOrigin:    func(string) bool { return false },
		Draining:        func() bool { return false },
		OnAuthenticated: func(context.Context) {},
		Limiter:         limiter.New(limiter.LimitsForMemory(0, runtime.GOMAXPROCS(0)), func(limiter.Reason) {}),
		Observer:        nopObserver{},
		Log:             slog.New(slog.DiscardHandler),
	}), library.Close, nil
}

// Stubs for storage, plans, and metrics, which are invisible to clients.
type (
	nopFeedbackStore struct{}
	nopMeter         struct{}
	nopObserver      struct{}
)

func (nopFeedbackStore) PutFeedback(context.Context, feedback.InterviewFeedback) error { return nil }

func (nopMeter) Begin(_, _ string, _ bool) (end func(counted bool), wait time.Duration) {
	return func(bool) {}, 0
}

func (nopObserver) Observe(string, int, time.Duration) {}
