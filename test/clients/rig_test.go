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
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/go-chi/chi/v5"
)

// What the clients call as.
const (
	appID  = "portal"
	appKey = "portal-key"
)

// address is the server of all tests, which has the real content in English and
// German.
var address string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
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
	address = listening.URL
	return m.Run()
}

// newServer writes the content into a directory and makes the handler of a
// tenant that serves it.
func newServer(directory string) (handler http.Handler, closeModels func(), err error) {
	for _, language := range []string{"en", "de"} {
		file, err := compiled.In(language)
		if err != nil {
			return nil, nil, err
		}
		if err := model.WriteFile(filepath.Join(directory, file.Name), file.Data); err != nil {
			return nil, nil, err
		}
	}
	library, err := model.OpenLibrary(directory, []model.Wanted{{ID: "service-en"}, {ID: "service-de"}})
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
	return server.New(server.Options{
		Guidance:     chi.NewRouter(),
		Models:       library,
		Engine:       engine.New(),
		Tokens:       &identity.Authority{Instance: "test", Applications: applications, Keys: keys, Now: time.Now},
		Feedback:     forgetful{},
		Applications: applications,
		Usage:        unmetered{},
		Now:          time.Now,
		AllowsOrigin: func(string) bool { return false },
		Leaving:      func() bool { return false },
		Known:        func(context.Context) {},
		Guard:        guard.New(guard.LimitsFor(0, runtime.GOMAXPROCS(0)), func(guard.Reason) {}),
		Observer:     unobserved{},
		Log:          slog.New(slog.DiscardHandler),
	}), library.Close, nil
}

// These stand for storage, plans and metrics, which clients see nothing of.
type (
	forgetful  struct{}
	unmetered  struct{}
	unobserved struct{}
)

func (forgetful) PutFeedback(context.Context, feedback.Interview) error { return nil }

func (unmetered) Begin(_, _ string, _ bool) (end func(counted bool), wait time.Duration) {
	return func(bool) {}, 0
}

func (unobserved) Observe(string, int, time.Duration) {}
