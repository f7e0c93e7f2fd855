// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/notify"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// settings are the settings read from files. They may change while the server runs.
type settings struct {
	certificate  *reloadableCertificate // nil over plain HTTP
	applications *identity.Applications
	signingKeys  *identity.SigningKeys
	// signingKeysFromFiles is set if the signing keys were read from files, not generated at
	// startup.
	signingKeysFromFiles bool
	encryptionKeys       *encryption.Keyring
	config               atomic.Pointer[config]
	devMode              bool
	// keysRotated is signaled when keys change.
	keysRotated chan struct{}
	// sources reload the settings when files change.
	sources []*reload.Source
}

// loadSettings reads the files named by flags, and generates missing ones in development.
func loadSettings(o options) (*settings, error) {
	s := &settings{devMode: o.Dev, keysRotated: make(chan struct{}, 1)}
	for _, load := range []func(options) error{s.loadCertificate, s.loadApplications, s.loadSigningKeys, s.loadKeysets, s.loadConfig} {
		if err := load(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addSource adds a loaded source, or returns its error with the name of its flag.
func (s *settings) addSource(source *reload.Source, flag string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	s.sources = append(s.sources, source)
	return nil
}

// addKeySource adds a source of keys that signals keysRotated when they change.
func (s *settings) addKeySource(source *reload.Source, flag string, err error) error {
	if err == nil {
		apply := source.Apply
		source.Apply = func(files reload.Files) error {
			err := apply(files)
			if err == nil {
				trySend(s.keysRotated)
			}
			return err
		}
	}
	return s.addSource(source, flag, err)
}

// persistentKeys returns the keys of the instance that outlive the process.
func (s *settings) persistentKeys() []users.AuditedKey {
	var keys []users.AuditedKey
	digests := s.applications.KeyDigests()
	for _, id := range slices.Sorted(maps.Keys(digests)) {
		for _, digest := range digests[id] {
			keys = append(keys, users.AuditedKey{Resource: audit.ApplicationKey, ID: id, Digest: digest})
		}
	}
	if s.signingKeysFromFiles {
		for _, key := range s.signingKeys.PublicKeys() {
			keys = append(keys, users.AuditedKey{Resource: audit.SigningKey, ID: key.ID})
		}
	}
	for _, id := range s.encryptionKeys.KeyIDs() {
		keys = append(keys, users.AuditedKey{Resource: audit.Keyset, ID: id})
	}
	return keys
}

func (s *settings) loadCertificate(o options) error {
	if o.Dev {
		return nil
	}
	certificate, source, err := loadCertificate(o.TLSCertFile, o.TLSKeyFile)
	s.certificate = certificate
	return s.addSource(source, "--tls-cert-file, --tls-key-file", err)
}

func (s *settings) loadApplications(o options) (err error) {
	if o.CredentialsDir == "" {
		s.applications, err = identity.NewApplications(identity.Credential{
			ID: devApplicationID, Key: devApplicationKey, Scopes: identity.AllScopes(), DevMode: true,
		})
		return err
	}
	applications, source, err := identity.LoadApplications(o.CredentialsDir)
	s.applications = applications
	return s.addKeySource(source, "--credentials-dir", err)
}

func (s *settings) loadSigningKeys(o options) (err error) {
	if o.SigningKeysDir == "" {
		s.signingKeys, err = identity.NewSigningKeys()
		return err
	}
	keys, source, err := identity.LoadSigningKeys(o.SigningKeysDir)
	s.signingKeys, s.signingKeysFromFiles = keys, true
	return s.addKeySource(source, "--signing-keys-dir", err)
}

func (s *settings) loadKeysets(o options) error {
	dir := o.KeysetsDir
	if dir == "" {
		dir = filepath.Join(o.DataDir, "keysets")
		if err := encryption.GenerateKeysetFiles(dir); err != nil {
			return err
		}
	}
	keys, source, err := encryption.LoadKeyring(dir)
	s.encryptionKeys = keys
	return s.addKeySource(source, "--keysets-dir", err)
}

// trySend sends a signal unless one is already pending.
func trySend(channel chan<- struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

func (s *settings) loadConfig(o options) error {
	if o.Config == "" {
		defaults, _, err := parseConfig(nil, true)
		s.config.Store(defaults)
		return err
	}
	source := &reload.Source{Name: "config", Paths: []string{o.Config}, Apply: func(files reload.Files) error {
		parsed, unknown, err := parseConfig(files[o.Config], o.Dev)
		if err != nil {
			return err
		}
		if len(unknown) > 0 {
			o.log.Warn("ignored unknown configuration fields", "file", o.Config, "fields", unknown)
		}
		s.config.Store(parsed)
		return nil
	}}
	return s.addSource(source, "--config", source.Load())
}

// newNotifier reads the email and text message settings. Invalid settings are logged and
// ignored: assessments do not depend on the tenant's mail server.
func (p *process) newNotifier() *notify.Notifier {
	notifier := notify.New(notify.Options{
		SettingsDir: p.NotificationsDir, DevMode: p.Dev, OnOutcome: p.metrics.RecordNotification, Log: p.log,
	})
	for _, source := range notifier.Sources() {
		if err := source.Load(); err != nil {
			p.metrics.RecordReload(source.Name, err)
			p.log.Error("failed to load notification settings; messages on this channel are dropped", "channel", source.Name, "flag", "--notifications-dir", "error", err)
		}
		p.settings.sources = append(p.settings.sources, source)
	}
	return notifier
}

// allowsOrigin reports whether a web origin may call the APIs.
func (s *settings) allowsOrigin(origin string) bool {
	return s.config.Load().origins.allows(origin) || s.devMode && isLoopbackOrigin(origin)
}

// owner returns the Instance that storage must belong to.
func (s *settings) owner() storage.Owner { return s.config.Load().owner }

// trustsProxy reports whether forwarding headers from an address are trusted.
func (s *settings) trustsProxy(address netip.Addr) bool {
	return s.config.Load().proxies.trusts(address)
}

// plan returns the name and the limits of an application's plan.
func (s *settings) plan(application string) (name string, limits quota.Limits) {
	found, _ := s.applications.Lookup(application)
	return found.Plan, s.config.Load().plans[found.Plan]
}

// certificateExpiry returns when the current certificate expires, or zero without one.
func (s *settings) certificateExpiry() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.notAfter()
}
