// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/serve/drain"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/metrics"
	"github.com/anamnesis-dev/anamnesis/apiserver/usage"
)

const (
	// reloadInterval is how often files are looked at for changes.
	reloadInterval = time.Second
	// flushInterval is how often usage counts go to storage: what a kill may
	// lose.
	flushInterval = time.Second
	// stopTimeout is how long requests and the last usage counts may take each,
	// once serving has ended.
	stopTimeout = 10 * time.Second
)

// A process is a running server with all that it stands on.
type process struct {
	options
	library  *model.Library
	settings *settings
	store    *storeKeeper
	recorder *usage.Recorder
	metrics  *metrics.Metrics
	leaving  atomic.Bool
}

// run serves until ctx ends, and then leaves as clients and counts need it.
func run(ctx context.Context, o options) (err error) {
	p := &process{options: o, recorder: usage.NewRecorder(time.Now)}
	if p.library, err = model.OpenLibrary(o.Models, o.wanted); err != nil {
		return fmt.Errorf("opening the releases of --models: %w", err)
	}
	defer p.library.Close()
	if p.settings, err = openSettings(o); err != nil {
		return err
	}
	p.metrics = metrics.New(metrics.Sources{
		Instance: o.InstanceID, Releases: p.library.Releases, BufferedUsage: p.recorder.Buffered,
	})
	p.store = newStoreKeeper(o.Database, o.log, p.metrics.StorageUp)
	defer func() { err = errors.Join(err, p.store.close()) }()
	return p.serve(ctx)
}

// serve listens, and ends when ctx does or when a part of the server fails.
func (p *process) serve(ctx context.Context) error {
	tenant, err := p.listenTenant()
	if err != nil {
		return err
	}
	admin, err := p.listenAdmin()
	if err != nil {
		return errors.Join(err, tenant.server.Close())
	}
	// The background goes on until the last request is answered.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	work, failed := errgroup.WithContext(background)
	work.Go(tenant.serve)
	work.Go(admin.serve)
	work.Go(func() error { return p.store.run(failed) })
	work.Go(func() error {
		p.recorder.Run(failed, p.store, flushInterval, p.metrics.Flushed)
		return nil
	})
	work.Go(func() error {
		reload.Watch(failed, reloadInterval, p.reloaded, p.settings.sources...)
		return nil
	})
	p.log.Info("serving", "instance", p.InstanceID, "listen", tenant.listener.Addr().String(), "admin", admin.listener.Addr().String())
	if p.announce != nil {
		p.announce(tenant.listener.Addr().String())
	}
	select {
	case <-ctx.Done():
		p.leave(failed, tenant)
	case <-failed.Done():
	}
	stopped, cancel := context.WithTimeout(background, stopTimeout)
	defer cancel()
	err = errors.Join(tenant.server.Shutdown(stopped), admin.server.Close())
	stop()
	return errors.Join(work.Wait(), err, p.flushLast())
}

// leave goes on serving for the drain period, while readiness fails and
// clients are asked to connect elsewhere.
func (p *process) leave(ctx context.Context, tenant listening) {
	p.log.Info("leaving", "drain", p.Drain.String())
	p.leaving.Store(true)
	if tenant.connections != nil {
		tenant.connections.Leave()
	}
	select {
	case <-ctx.Done():
	case <-time.After(p.Drain):
	}
}

// flushLast stores the counts of the last requests.
func (p *process) flushLast() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if p.recorder.Buffered() == 0 {
		return nil
	}
	if err := p.recorder.Flush(ctx, p.store); err != nil {
		return fmt.Errorf("storing the last usage counts: %w", err)
	}
	return nil
}

// reloaded tells of files that changed.
func (p *process) reloaded(source string, err error) {
	p.metrics.Reloaded(source, err)
	if err != nil {
		p.log.Error("changed files are not taken into use; those before stay", "source", source, "error", err)
		return
	}
	p.log.Info("changed files are in use", "source", source)
}

// A listening server has its address already.
type listening struct {
	server      *http.Server
	listener    net.Listener
	connections *drain.Connections // nil over plain HTTP
}

// serve answers until the server is shut down.
func (l listening) serve() error {
	serve := l.server.Serve
	if l.server.TLSConfig != nil {
		serve = func(listener net.Listener) error { return l.server.ServeTLS(listener, "", "") }
	}
	if err := serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving at %s: %w", l.listener.Addr(), err)
	}
	return nil
}

func (p *process) listenTenant() (l listening, err error) {
	l.server = newServer(p.tenantHandler(), p.log)
	if p.settings.certificate != nil {
		l.server.TLSConfig = tlsConfig(p.settings.certificate)
		if l.connections, err = drain.Serve(l.server); err != nil {
			return l, err
		}
	}
	l.listener, err = listen("--listen", p.Listen)
	return l, err
}

func (p *process) listenAdmin() (l listening, err error) {
	l.server = newAdminServer(server.Admin(server.AdminOptions{
		Metrics: p.metrics.Handler(),
		Checks: []server.Check{
			{Name: "releases", Probe: p.probeReleases},
			{Name: "storage", Probe: p.store.probe, OnlyBefore: true},
		},
		Leaving: p.leaving.Load,
	}), p.log)
	l.listener, err = listen("--admin-listen", p.AdminListen)
	return l, err
}

func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return listener, nil
}

func (p *process) tenantHandler() http.Handler {
	return server.New(server.Options{
		Models:       p.library,
		Engine:       engine.New(),
		Applications: p.settings.applications,
		Usage:        p.recorder,
		AllowsOrigin: p.settings.allowsOrigin,
		Leaving:      p.leaving.Load,
		Observer:     p.metrics,
		Log:          p.log,
		Guidance: guidance.New(guidance.Options{
			Authority: &identity.Authority{
				Instance: p.InstanceID, Issuer: p.InstanceURL,
				Applications: p.settings.applications, Keys: p.settings.signingKeys,
			},
			Usage: p.store,
			Now:   time.Now,
			Log:   p.log,
		}),
	})
}

// probeReleases names what is served.
func (p *process) probeReleases() (string, error) {
	state := ""
	for _, release := range p.library.Releases() {
		state += release.ModelID + "@" + release.Version + " "
	}
	return state, nil
}
