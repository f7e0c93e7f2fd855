// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The default values of fields.
const (
	DefaultPageName          = "Anamnesis"
	DefaultPrimaryColor      = "#005ea5"
	DefaultAccentColor       = "#00703c"
	DefaultDeliveries   Days = "30d"
	DefaultWebhookPort       = 443

	// TrialPlan is the plan whose limits default to DefaultTrialCalls for each service.
	TrialPlan         = "trial"
	DefaultTrialCalls = 100
)

// SetDefaults sets every field that is unset and has a default. Afterwards, no section is
// nil except Instance.
func (c *ServerConfiguration) SetDefaults() {
	setDefault(&c.Features, Features{})
	setDefault(&c.Features.PatientResults, true)
	setDefault(&c.Features.Prefill, Prefill{})
	setDefault(&c.Page, Page{})
	setDefault(&c.Page.Colors, Colors{})
	setDefault(&c.Retention, Retention{})
	setDefault(&c.Webhooks, Webhooks{})

	setDefaultValue(&c.Page.Name, DefaultPageName)
	setDefaultValue(&c.Page.Colors.Primary, DefaultPrimaryColor)
	setDefaultValue(&c.Page.Colors.Accent, DefaultAccentColor)
	setDefaultValue(&c.Retention.Deliveries, DefaultDeliveries)
	if len(c.Webhooks.AllowedPorts) == 0 {
		c.Webhooks.AllowedPorts = []int32{DefaultWebhookPort}
	}
	c.setDefaultPlans()
}

// setDefaultPlans adds the plan trial, unless the file defines it.
func (c *ServerConfiguration) setDefaultPlans() {
	if c.Plans == nil {
		c.Plans = map[string]MonthlyCalls{}
	}
	if _, defined := c.Plans[TrialPlan]; !defined {
		c.Plans[TrialPlan] = MonthlyCalls{
			Explain: new(int64(DefaultTrialCalls)), Rationale: new(int64(DefaultTrialCalls)),
			Suggest: new(int64(DefaultTrialCalls)), Triage: new(int64(DefaultTrialCalls)),
		}
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func setDefaultValue[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}
