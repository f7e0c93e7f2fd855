// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/metrics"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/dispatch"
)

const (
	// reloadInterval is how often files are checked for changes.
	reloadInterval = time.Second
	// refreshInterval is how often the release directory is checked.
	refreshInterval = 10 * time.Second
	// flushInterval is how often usage counts are written to storage. A killed server loses at
	// most the counts of this interval.
	flushInterval = time.Second
	// shutdownTimeout is how long requests in flight may take after the drain period.
	shutdownTimeout = 10 * time.Second
)

// A process is a running server with its dependencies.
type process struct {
	options
	library        *model.Store
	settings       *settings
	store          storage.Store
	storageMonitor *storageMonitor
	recorder       *usage.Recorder
	ledger         *quota.Ledger
	users          *users.Service
	surveys        *service.Service
	pageContent    *page.Content
	operations     access.Operations
	webhooks       *webhook.Service
	events         *dispatch.Dispatcher
	sender         *delivery.Sender
	metrics        *metrics.Metrics
	limits         limiter.Limits
	limiter        *limiter.Limiter
	notifier       *notify.Notifier // sends messages to users, such as sign-in codes
	draining       atomic.Bool
}

// run serves until ctx ends, then drains connections and flushes usage counts.
func run(ctx context.Context, o options) (err error) {
	p := &process{options: o, recorder: usage.NewRecorder(time.Now)}
	if p.library, err = model.OpenStore(o.Models, o.modelSelectors); err != nil {
		return fmt.Errorf("opening the releases in --models: %w", err)
	}
	defer p.library.Close()
	if p.settings, err = loadSettings(o); err != nil {
		return err
	}
	p.metrics = metrics.New(metrics.Sources{
		Instance: o.InstanceID, Releases: p.library.Releases, BufferedUsage: p.recorder.Buffered,
		CertificateExpiry: p.settings.certificateExpiry,
	})
	p.limits = limiter.LimitsForMemory(memoryLimit(), runtime.GOMAXPROCS(0))
	p.limiter = limiter.New(p.limits, func(reason limiter.Reason) { p.metrics.RecordRejection(string(reason)) })
	p.notifier = p.newNotifier()
	if p.store, err = o.newStore(o.Database); err != nil {
		return fmt.Errorf("--database: %w", err)
	}
	p.storageMonitor = newStorageMonitor(p.store, p.settings.owner, p.log, p.metrics.SetStorageUp, p.onStorageUp)
	p.users = &users.Service{Storage: usersStorage{Store: p.store}, Keyring: p.settings.encryptionKeys, Now: time.Now, Deliver: p.oneTimePasswordSender(ctx)}
	p.ledger = quota.NewLedger(quota.Options{
		Recorder: p.recorder, Store: p.store, PlanFor: p.settings.plan, Now: time.Now,
		OnRejected: p.metrics.RecordOverLimit, OnTotalsRead: p.usageTotalsObserver(ctx),
	})
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if p.surveys, err = p.newSurveyService(); err != nil {
		return err
	}
	if p.pageContent, err = page.ReadContent(); err != nil {
		return err
	}
	if p.operations, err = access.LoadOperations(); err != nil {
		return err
	}
	p.setUpWebhooks()
	defer p.sender.Close()
	if o.usesEmbeddedDatabase() {
		// Retrying does not help if our own database file is broken.
		if err := p.storageMonitor.tryOpen(ctx); err != nil {
			return fmt.Errorf("opening the embedded database (--data-dir, --database): %w", err)
		}
	}
	return p.serve(ctx)
}

// memoryLimit returns GOMEMLIMIT in bytes, or zero if unset.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 0
}

// serve listens, and returns when ctx ends or a component fails.
func (p *process) serve(ctx context.Context) error {
	tenant, admin, err := p.listenAll(ctx)
	if err != nil {
		return err
	}
	// Background work continues until the last response is written.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	work, failed := errgroup.WithContext(background)
	work.Go(tenant.serve)
	work.Go(admin.serve)
	p.startBackground(failed, work)
	p.log.Info("server started", "instance", p.InstanceID, "url", p.InstanceURL, "models", p.releaseNames(),
		"listen", tenant.address(), "admin", admin.address())
	p.reportStarted(tenant.address(), admin.address())
	select {
	case <-ctx.Done():
		p.waitForDrain(failed, tenant)
	case <-failed.Done():
	}
	err = errors.Join(tenant.stop(), admin.stop())
	stop()
	return errors.Join(work.Wait(), err)
}

// startBackground starts the background work of the server.
func (p *process) startBackground(ctx context.Context, work *errgroup.Group) {
	background := func(f func()) {
		work.Go(func() error {
			f()
			return nil
		})
	}
	work.Go(func() error { return p.storageMonitor.run(ctx) })
	background(func() { reload.Watch(ctx, reloadInterval, p.observeReload, p.settings.sources...) })
	background(func() { p.refreshReleases(ctx) })
	background(func() { p.watchKeyRotation(ctx) })
	background(func() { p.notifier.Run(ctx) })
	background(func() { p.events.Run(ctx) })
	work.Go(func() error { return p.recorder.Run(ctx, p.ledger, flushInterval, p.usageFlushObserver(ctx)) })
}

// onStorageUp triggers the work that was waiting for storage.
func (p *process) onStorageUp(ctx context.Context) {
	p.ledger.Refresh(ctx)
	trySend(p.settings.keysRotated)
	p.events.Wake()
}

// waitForDrain keeps serving for the drain period. Readiness fails meanwhile, and clients are
// asked to reconnect elsewhere.
func (p *process) waitForDrain(ctx context.Context, tenant *listeningServer) {
	p.log.Info("draining connections", "period", p.drainPeriod.String())
	p.draining.Store(true)
	if tenant.connections != nil {
		tenant.connections.Drain()
	}
	select {
	case <-ctx.Done():
	case <-time.After(p.drainPeriod):
	}
}

// usageFlushObserver returns a callback that records flushes in the metrics, and logs when they
// start to fail.
func (p *process) usageFlushObserver(ctx context.Context) func(error) {
	var before error
	return func(err error) {
		p.metrics.RecordUsageFlush(err)
		if err != nil && before == nil && ctx.Err() == nil {
			p.log.Error("failed to store usage counts", "error", err)
		}
		before = err
	}
}

// usageTotalsObserver returns a callback that logs when reading the usage totals for
// quotas starts to fail.
func (p *process) usageTotalsObserver(ctx context.Context) func(error) {
	var before error
	return func(err error) {
		if err != nil && before == nil && ctx.Err() == nil {
			p.log.Error("failed to read usage totals; quotas are not enforced", "error", err)
		}
		before = err
	}
}

// observeReload reports the reload of a changed file.
func (p *process) observeReload(source string, err error) {
	p.metrics.RecordReload(source, err)
	if err != nil {
		p.log.Error("failed to reload changed files; keeping the previous version", "source", source, "error", err)
		return
	}
	p.log.Info("reloaded changed files", "source", source)
}

// refreshReleases loads newer releases as they appear in the directory.
func (p *process) refreshReleases(ctx context.Context) {
	ticker := time.NewTicker(refreshInterval)
	defer ticker.Stop()
	var before string
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		changed, err := p.library.Refresh()
		if changed {
			p.log.Info("loaded releases", "models", p.releaseNames())
		}
		switch {
		case err == nil:
			before = ""
			if changed {
				p.metrics.RecordReload("models", nil)
			}
		case err.Error() != before:
			before = err.Error()
			p.observeReload("models", err)
		}
	}
}

// reportStarted calls onStarted, if set.
func (p *process) reportStarted(tenant, admin string) {
	if p.onStarted == nil {
		return
	}
	lease, err := p.library.Acquire("")
	if err != nil {
		return // already stopped
	}
	defer lease.Done()
	p.onStarted(startInfo{tenant, admin, pickExampleSymptom(lease.Release()), p.docsApplication()})
}

// releaseNames returns the names of the served releases.
func (p *process) releaseNames() string {
	metas := p.library.Releases()
	names := make([]string, len(metas))
	for i, release := range metas {
		names[i] = release.ModelID + "@" + release.Version
	}
	return strings.Join(names, " ")
}
