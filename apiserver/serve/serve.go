// SPDX-License-Identifier: Apache-2.0

package serve

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

	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/metrics"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
	"github.com/anamnesis-dev/anamnesis/apiserver/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

const (
	// reloadInterval is how often files are looked at for changes.
	reloadInterval = time.Second
	// refreshInterval is how often the directory of releases is looked at.
	refreshInterval = 10 * time.Second
	// flushInterval is how often usage counts go to storage: what a kill may
	// lose.
	flushInterval = time.Second
	// stopTimeout is how long the last requests may take, once serving has
	// ended.
	stopTimeout = 10 * time.Second
)

// A process is a running server with all that it stands on.
type process struct {
	options
	library     *model.Library
	settings    *settings
	store       storage.Store
	keeper      *storeKeeper
	recorder    *usage.Recorder
	ledger      *quota.Ledger
	people      *people.Register
	surveys     *surveys.Register
	pageContent *page.Content
	webhooks    *webhooks.Register
	events      *dispatch.Dispatcher
	sender      *deliver.Sender
	metrics     *metrics.Metrics
	limits      guard.Limits
	guard       *guard.Guard
	notifier    *notify.Notifier // tells people, such as their codes to sign in
	leaving     atomic.Bool
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
		CertificateExpiry: p.settings.certificateExpiry,
	})
	p.limits = guard.LimitsFor(memoryLimit(), runtime.GOMAXPROCS(0))
	p.guard = guard.New(p.limits, p.metrics.TurnedAway)
	p.notifier = p.openNotifier()
	if p.store, err = o.newStore(o.Database); err != nil {
		return fmt.Errorf("--database: %w", err)
	}
	p.keeper = newStoreKeeper(p.store, p.settings.owner, p.log, p.metrics.StorageUp, p.storageCameUp)
	p.people = &people.Register{Storage: p.store, Keys: p.settings.keys, Now: time.Now, Send: p.sendPassword(ctx)}
	p.ledger = quota.NewLedger(quota.Options{
		Recorder: p.recorder, Store: p.store, Plan: p.settings.plan, Now: time.Now,
		Refused: p.metrics.Refused, Read: p.totalsRead(ctx),
	})
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if p.surveys, err = p.newSurveys(); err != nil {
		return err
	}
	if p.pageContent, err = page.ReadContent(); err != nil {
		return err
	}
	p.openEvents()
	defer p.sender.Close()
	if o.embedded() {
		// Nobody else will mend what is wrong with a file of our own.
		if err := p.keeper.open(ctx); err != nil {
			return fmt.Errorf("opening the embedded database of --data-dir or --database: %w", err)
		}
	}
	return p.serve(ctx)
}

// memoryLimit is GOMEMLIMIT in bytes, zero when there is none.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 0
}

// serve listens, and ends when ctx does or when a part of the server fails.
func (p *process) serve(ctx context.Context) error {
	tenant, admin, err := p.listen(ctx)
	if err != nil {
		return err
	}
	// The background goes on until the last request is answered.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	work, failed := errgroup.WithContext(background)
	work.Go(tenant.serve)
	work.Go(admin.serve)
	p.start(failed, work)
	p.log.Info("serving", "instance", p.InstanceID, "url", p.InstanceURL, "models", p.releases(),
		"listen", tenant.address(), "admin", admin.address())
	p.greet(tenant.address(), admin.address())
	select {
	case <-ctx.Done():
		p.leave(failed, tenant)
	case <-failed.Done():
	}
	err = errors.Join(tenant.stop(), admin.stop())
	stop()
	return errors.Join(work.Wait(), err)
}

// start runs what goes on beside the requests.
func (p *process) start(ctx context.Context, work *errgroup.Group) {
	background := func(f func()) {
		work.Go(func() error {
			f()
			return nil
		})
	}
	work.Go(func() error { return p.keeper.run(ctx) })
	background(func() { reload.Watch(ctx, reloadInterval, p.reloaded, p.settings.sources...) })
	background(func() { p.refresh(ctx) })
	background(func() { p.followKeys(ctx) })
	background(func() { p.notifier.Run(ctx) })
	background(func() { p.events.Run(ctx) })
	work.Go(func() error { return p.recorder.Run(ctx, p.ledger, flushInterval, p.flushed(ctx)) })
}

// storageCameUp catches up with what could not be done without storage.
func (p *process) storageCameUp(ctx context.Context) {
	p.ledger.Refresh(ctx)
	poke(p.settings.keysTurned)
	p.events.Wake()
}

// leave goes on serving for the drain period, while readiness fails and
// clients are asked to connect elsewhere.
func (p *process) leave(ctx context.Context, tenant *listening) {
	p.log.Info("leaving", "drain", p.drain.String())
	p.leaving.Store(true)
	if tenant.connections != nil {
		tenant.connections.Leave()
	}
	select {
	case <-ctx.Done():
	case <-time.After(p.drain):
	}
}

// flushed tells of usage counts that were stored or not, in the log when that
// changes.
func (p *process) flushed(ctx context.Context) func(error) {
	var before error
	return func(err error) {
		p.metrics.Flushed(err)
		if err != nil && before == nil && ctx.Err() == nil {
			p.log.Error("usage counts cannot be stored", "error", err)
		}
		before = err
	}
}

// totalsRead tells of totals of usage that limits are judged by, in the log
// when reading them begins to fail.
func (p *process) totalsRead(ctx context.Context) func(error) {
	var before error
	return func(err error) {
		if err != nil && before == nil && ctx.Err() == nil {
			p.log.Error("the totals of usage cannot be read; calls pass whatever their limits", "error", err)
		}
		before = err
	}
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

// refresh serves newer releases as they are put into the directory.
func (p *process) refresh(ctx context.Context) {
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
			p.log.Info("other releases are served", "models", p.releases())
		}
		switch {
		case err == nil:
			before = ""
			if changed {
				p.metrics.Reloaded("models", nil)
			}
		case err.Error() != before:
			before = err.Error()
			p.reloaded("models", err)
		}
	}
}

// greet tells who waits for the server that it is there.
func (p *process) greet(tenant, admin string) {
	if p.announce == nil {
		return
	}
	lease, err := p.library.Acquire("")
	if err != nil {
		return // stopped again already
	}
	defer lease.Done()
	p.announce(started{tenant, admin, exampleSymptom(lease.Release()), p.shownApplication()})
}

// releases names what is served.
func (p *process) releases() string {
	metas := p.library.Releases()
	names := make([]string, len(metas))
	for i, release := range metas {
		names[i] = release.ModelID + "@" + release.Version
	}
	return strings.Join(names, " ")
}
