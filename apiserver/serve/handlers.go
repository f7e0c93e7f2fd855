// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/serve/connlimit"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// tenantHandler is what the tenant's clients talk to.
func (p *process) tenantHandler() http.Handler {
	authority := &identity.Authority{
		Instance: p.InstanceID, Issuer: p.publicURL,
		Applications: p.settings.applications, Keys: p.settings.signingKeys,
	}
	guessers := throttle.New(time.Now)
	return server.New(server.Options{
		Models:       p.library,
		Engine:       engine.New(),
		Tokens:       authority,
		Feedback:     p.store,
		Applications: p.settings.applications,
		Usage:        p.ledger,
		Now:          time.Now,
		AllowsOrigin: p.settings.allowsOrigin,
		TrustsProxy:  p.settings.trustsProxy,
		Throttle:     guessers,
		Leaving:      p.leaving.Load,
		Known:        connlimit.Know,
		Guard:        p.guard,
		Observer:     p.metrics,
		Log:          p.log,
		Shown:        p.shownApplication(),
		LoopbackOnly: p.Dev,
		Page:         p.pages(authority, guessers),
		Guidance: guidance.New(guidance.Options{
			Authority:      authority,
			Usage:          p.store,
			Meter:          p.ledger,
			Feedback:       p.store,
			People:         p.people,
			Surveys:        p.surveys,
			Webhooks:       p.webhooks,
			PlainReceivers: p.Dev,
			PublicURL:      p.publicURL,
			Scheme:         p.scheme(),
			Now:            time.Now,
			Guard:          p.guard,
			Throttle:       guessers,
			Log:            p.log,
		}),
	})
}

// publicURL is the address of the instance as its users have it: that of the
// configuration, which may change, else that of the flag; empty for none.
func (p *process) publicURL() string { return orElse(p.settings.config.Load().URL, p.InstanceURL) }

// shownApplication is the one that --dev makes up, which is no secret.
func (p *process) shownApplication() docs.Application {
	if !p.Dev || p.CredentialsDir != "" {
		return docs.Application{}
	}
	return docs.Application{ID: developmentID, Key: developmentKey, Instance: p.InstanceID}
}

// scheme is that of the tenant's address.
func (p *process) scheme() string {
	if p.settings.certificate == nil {
		return "http"
	}
	return "https"
}

// adminHandler is what probes, Prometheus and administrators talk to.
func (p *process) adminHandler() http.Handler {
	return server.Admin(server.AdminOptions{
		Metrics: p.metrics.Handler(),
		Checks: []server.Check{
			{Name: "releases", Probe: p.probeReleases},
			{Name: "storage", Probe: p.keeper.probe, Reached: p.keeper.opened},
		},
		Leaving:  p.leaving.Load,
		Profiles: p.Pprof,
	})
}

func (p *process) probeReleases() (string, error) {
	if names := p.releases(); names != "" {
		return names, nil
	}
	return "", errors.New("none is open")
}
