// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
)

// config is the parsed --config file, in the types of the packages that use it.
type config struct {
	// origins are the web origins that may call the server.
	origins originSet
	plans   quota.Plans
	proxies proxies
	// url is the public URL without a trailing slash. It is empty if unset.
	url      string
	features section.Features
	delivery delivery.Settings
	// deliveryRetention is how long delivery attempts are kept.
	deliveryRetention time.Duration
	page              page.Branding
	// owner is the Instance that storage must belong to. It is empty outside a cluster.
	owner storage.Owner
}

// parseConfig parses the --config file, which may be empty. If strict is set, unknown
// fields are an error; otherwise they are ignored and returned.
func parseConfig(file []byte, strict bool) (parsed *config, unknown []string, err error) {
	decode := configv1alpha1.Decode
	if strict {
		decode = func(file []byte) (*configv1alpha1.ServerConfiguration, []string, error) {
			c, err := configv1alpha1.DecodeStrict(file)
			return c, nil, err
		}
	}
	c, unknown, err := decode(file)
	if err != nil {
		return nil, nil, err
	}
	c.SetDefaults()
	if err := c.Validate(); err != nil {
		return nil, unknown, err
	}
	parsed, err = newConfig(c)
	return parsed, unknown, err
}

// newConfig converts a valid configuration with defaults.
func newConfig(c *configv1alpha1.ServerConfiguration) (*config, error) {
	converted := &config{
		plans: newPlans(c.Plans), features: newFeatures(c.Features), delivery: newDeliverySettings(c.Webhooks), page: newBranding(c.Page),
		owner: newOwner(c.Instance),
	}
	var errs [5]error
	converted.origins, errs[0] = newOriginSet(c.CORS.AllowedOrigins)
	converted.proxies, errs[1] = newProxies(c.Proxies)
	converted.url, errs[2] = configv1alpha1.ParseURL(c.URL)
	converted.deliveryRetention, errs[3] = c.Retention.Deliveries.Duration()
	converted.page.Logo, errs[4] = branding.ParseLogo(c.Page.Logo)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return converted, nil
}

func newPlans(plans map[string]configv1alpha1.MonthlyCalls) quota.Plans {
	converted := quota.Plans{}
	for name, calls := range plans {
		converted[name] = quota.Limits{Explain: calls.Explain, Suggest: calls.Suggest, Rationale: calls.Rationale, Triage: calls.Triage}
	}
	return converted
}

func newFeatures(features *configv1alpha1.Features) section.Features {
	return section.Features{
		Prefill: features.Prefill.Enabled, PrefillConfirmation: features.Prefill.Confirm, PatientResults: *features.PatientResults,
	}
}

func newDeliverySettings(webhooks *configv1alpha1.Webhooks) delivery.Settings {
	settings := delivery.Settings{
		AddressPolicy: delivery.AddressPolicy{AllowPrivate: webhooks.AllowPrivateAddresses}, CABundle: string(webhooks.CA),
	}
	for _, port := range webhooks.AllowedPorts {
		settings.AddressPolicy.AllowedPorts = append(settings.AddressPolicy.AllowedPorts, uint16(port))
	}
	return settings
}

// newBranding returns the branding without its logo.
func newBranding(settings *configv1alpha1.Page) page.Branding {
	return page.Branding{
		Name:            settings.Name,
		Primary:         strings.ToLower(settings.Colors.Primary),
		Accent:          strings.ToLower(settings.Colors.Accent),
		PrivacyURL:      settings.PrivacyURL,
		HelpURL:         settings.HelpURL,
		EmergencyNumber: settings.EmergencyNumber,
		CrisisLine:      settings.CrisisLine,
	}
}

func newOwner(instance *configv1alpha1.Instance) storage.Owner {
	if instance == nil {
		return storage.Owner{}
	}
	owner := storage.Owner{UID: instance.UID}
	for _, uid := range instance.Adopts {
		owner.AdoptUIDs = append(owner.AdoptUIDs, string(uid))
	}
	return owner
}
