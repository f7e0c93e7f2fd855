// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// settings are what is read from files and may change while serving.
type settings struct {
	certificate  *certificate // nil over plain HTTP
	applications *identity.Applications
	signingKeys  *identity.SigningKeys
	keys         *sealing.Keys
	config       atomic.Pointer[config.Config]
	development  bool
	// keysTurned is told when the keysets are others.
	keysTurned chan struct{}
	// sources keep all this as the files say.
	sources []*reload.Source
}

// openSettings reads the files that the flags name, or makes up what --dev does
// without.
func openSettings(o options) (*settings, error) {
	s := &settings{development: o.Dev, keysTurned: make(chan struct{}, 1)}
	for _, open := range []func(options) error{s.openCertificate, s.openApplications, s.openSigningKeys, s.openKeysets, s.openConfig} {
		if err := open(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// watch keeps a source that was opened, and hands its error on.
func (s *settings) watch(source *reload.Source, flag string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	s.sources = append(s.sources, source)
	return nil
}

func (s *settings) openCertificate(o options) error {
	if o.Dev {
		return nil
	}
	certificate, source, err := openCertificate(o.TLSCertFile, o.TLSKeyFile)
	s.certificate = certificate
	return s.watch(source, "--tls-cert-file, --tls-key-file", err)
}

func (s *settings) openApplications(o options) (err error) {
	if o.CredentialsDir == "" {
		s.applications, err = identity.NewApplications(identity.Credential{
			ID: developmentID, Key: developmentKey, Scopes: identity.Scopes(), DevMode: true,
		})
		return err
	}
	applications, source, err := identity.OpenApplications(o.CredentialsDir)
	s.applications = applications
	return s.watch(source, "--credentials-dir", err)
}

func (s *settings) openSigningKeys(o options) (err error) {
	if o.SigningKeysDir == "" {
		s.signingKeys, err = identity.NewSigningKeys()
		return err
	}
	keys, source, err := identity.OpenSigningKeys(o.SigningKeysDir)
	s.signingKeys = keys
	return s.watch(source, "--signing-keys-dir", err)
}

func (s *settings) openKeysets(o options) error {
	dir := o.KeysetsDir
	if dir == "" {
		dir = filepath.Join(o.DataDir, "keysets")
		if err := sealing.Make(dir); err != nil {
			return err
		}
	}
	keys, source, err := sealing.Open(dir, func() { poke(s.keysTurned) })
	s.keys = keys
	return s.watch(source, "--keysets-dir", err)
}

// poke tells something unless it is told already.
func poke(told chan<- struct{}) {
	select {
	case told <- struct{}{}:
	default:
	}
}

func (s *settings) openConfig(o options) error {
	if o.Config == "" {
		defaults, _, err := config.Parse(nil)
		s.config.Store(&defaults)
		return err
	}
	source := &reload.Source{Name: "config", Paths: []string{o.Config}, Apply: func(files reload.Files) error {
		parsed, warning, err := config.Parse(files[o.Config])
		if err != nil {
			return err
		}
		if warning != "" {
			o.log.Warn(warning, "file", o.Config)
		}
		s.config.Store(&parsed)
		return nil
	}}
	return s.watch(source, "--config", source.Load())
}

// openNotifier reads the settings of mail and text messages. Those that are
// wrong are told and do without: patients are assessed whether or not the mail
// server of the tenant is known.
func (p *process) openNotifier() *notify.Notifier {
	notifier := notify.New(notify.Options{
		Directory: p.NotificationsDir, Development: p.Dev, Tell: p.metrics.Notified, Log: p.log,
	})
	for _, source := range notifier.Sources() {
		if err := source.Load(); err != nil {
			p.metrics.Reloaded(source.Name, err)
			p.log.Error("messages of a kind cannot be sent", "flag", "--notifications-dir", "error", err)
		}
		p.settings.sources = append(p.settings.sources, source)
	}
	return notifier
}

// allowsOrigin reports whether pages of a web origin may call.
func (s *settings) allowsOrigin(origin string) bool {
	return s.config.Load().CORS.Allows(origin) || s.development && config.AllowsLoopback(origin)
}

// owner is the Instance to which storage has to belong.
func (s *settings) owner() storage.Owner { return storage.Owner(s.config.Load().Instance) }

// trustsProxy reports whether an address is that of a proxy whose word is taken
// for who calls.
func (s *settings) trustsProxy(address netip.Addr) bool {
	return s.config.Load().Proxies.Trusts(address)
}

// plan returns the name and the limits of an application's plan.
func (s *settings) plan(application string) (name string, limits quota.Limits) {
	known, _ := s.applications.Lookup(application)
	return known.Plan, s.config.Load().Plans[known.Plan]
}

// certificateExpiry is when the certificate in use stops being good, zero when
// there is none.
func (s *settings) certificateExpiry() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.expiry()
}
