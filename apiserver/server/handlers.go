// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/connlimit"
)

// newTenantHandler returns the handler of the tenant address.
func (p *process) newTenantHandler() http.Handler {
	tokenIssuer := &identity.TokenIssuer{
		InstanceID: p.InstanceID, Issuer: p.publicURL,
		Applications: p.settings.applications, SigningKeys: p.settings.signingKeys,
	}
	guessThrottle := throttle.New(time.Now)
	return router.New(router.Options{
		Models:          p.library,
		Engine:          inference.New(),
		Tokens:          tokenIssuer,
		Feedback:        p.store,
		Applications:    p.settings.applications,
		Operations:      p.operations,
		Meter:           p.ledger,
		Now:             time.Now,
		AllowsOrigin:    p.settings.allowsOrigin,
		TrustsProxy:     p.settings.trustsProxy,
		Throttle:        guessThrottle,
		Draining:        p.draining.Load,
		OnAuthenticated: connlimit.MarkAuthenticated,
		Limiter:         p.limiter,
		Observer:        p.metrics,
		Log:             p.log,
		DocsApplication: p.docsApplication(),
		LoopbackOnly:    p.Dev,
		Page:            p.newPageHandler(tokenIssuer, guessThrottle),
		Guidance: guidance.New(guidance.Options{
			TokenIssuer:        tokenIssuer,
			Operations:         p.operations,
			Usage:              p.store,
			Meter:              p.ledger,
			Feedback:           p.store,
			Users:              p.users,
			Surveys:            p.surveys,
			Webhooks:           p.webhooks,
			AllowHTTPReceivers: p.Dev,
			PublicURL:          p.publicURL,
			Scheme:             p.scheme(),
			Now:                time.Now,
			Limiter:            p.limiter,
			Throttle:           guessThrottle,
			Log:                p.log,
		}),
	})
}

// publicURL returns the public URL of the instance from the configuration, which may
// change, or from the flag. It is empty if neither is set.
func (p *process) publicURL() string { return stringOr(p.settings.config.Load().url, p.InstanceURL) }

// docsApplication returns the application that --dev creates, whose key is not secret.
func (p *process) docsApplication() docs.Application {
	if !p.Dev || p.CredentialsDir != "" {
		return docs.Application{}
	}
	return docs.Application{ID: devApplicationID, Key: devApplicationKey, Instance: p.InstanceID}
}

// scheme returns the URL scheme of the tenant address.
func (p *process) scheme() string {
	if p.settings.certificate == nil {
		return "http"
	}
	return "https"
}

// newAdminHandler returns the handler for probes, Prometheus and administrators.
func (p *process) newAdminHandler() http.Handler {
	return router.NewAdmin(router.AdminOptions{
		Metrics: p.metrics.Handler(),
		Checks: []router.Check{
			{Name: "releases", Run: p.checkReleases},
			{Name: "storage", Run: p.storageMonitor.probe, WasHealthy: p.storageMonitor.wasOpened},
		},
		Draining:    p.draining.Load,
		EnablePprof: p.Pprof,
	})
}

func (p *process) checkReleases() (string, error) {
	if names := p.releaseNames(); names != "" {
		return names, nil
	}
	return "", errors.New("no releases loaded")
}
