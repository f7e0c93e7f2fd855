// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
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
	// keepsSigningKeys says that they are in files, and not made on the spot.
	keepsSigningKeys bool
	keys             *sealing.Keys
	config           atomic.Pointer[config.Config]
	development      bool
	// keysTurned is told when keys are others.
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

// watchKeys keeps a source of keys, of whose changes the settings tell.
func (s *settings) watchKeys(source *reload.Source, flag string, err error) error {
	if err == nil {
		apply := source.Apply
		source.Apply = func(files reload.Files) error {
			err := apply(files)
			if err == nil {
				poke(s.keysTurned)
			}
			return err
		}
	}
	return s.watch(source, flag, err)
}

// guards are the keys of the instance that outlive the process.
func (s *settings) guards() []people.Key {
	var keys []people.Key
	digests := s.applications.Digests()
	for _, id := range slices.Sorted(maps.Keys(digests)) {
		for _, digest := range digests[id] {
			keys = append(keys, people.Key{Resource: audit.ApplicationKey, ID: id, Digest: digest})
		}
	}
	if s.keepsSigningKeys {
		for _, key := range s.signingKeys.Public() {
			keys = append(keys, people.Key{Resource: audit.SigningKey, ID: key.ID})
		}
	}
	for _, id := range s.keys.IDs() {
		keys = append(keys, people.Key{Resource: audit.Keyset, ID: id})
	}
	return keys
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
	return s.watchKeys(source, "--credentials-dir", err)
}

func (s *settings) openSigningKeys(o options) (err error) {
	if o.SigningKeysDir == "" {
		s.signingKeys, err = identity.NewSigningKeys()
		return err
	}
	keys, source, err := identity.OpenSigningKeys(o.SigningKeysDir)
	s.signingKeys, s.keepsSigningKeys = keys, true
	return s.watchKeys(source, "--signing-keys-dir", err)
}

func (s *settings) openKeysets(o options) error {
	dir := o.KeysetsDir
	if dir == "" {
		dir = filepath.Join(o.DataDir, "keysets")
		if err := sealing.Make(dir); err != nil {
			return err
		}
	}
	keys, source, err := sealing.Open(dir)
	s.keys = keys
	return s.watchKeys(source, "--keysets-dir", err)
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
