// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildConfigMap returns the ConfigMap with the configuration that the server reloads
// without a restart.
func BuildConfigMap(in Input) *coreapply.ConfigMapApplyConfiguration {
	return coreapply.ConfigMap(ConfigMapName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{configFileName: string(configv1alpha1.Encode(newServerConfiguration(in)))})
}

// newServerConfiguration returns the server's configuration. It omits sections that are
// unset in the spec, because servers that predate a section would log a warning.
func newServerConfiguration(in Input) *configv1alpha1.ServerConfiguration {
	spec := &in.Instance.Spec
	config := &configv1alpha1.ServerConfiguration{
		CORS:     configv1alpha1.CORS{AllowedOrigins: []string{}},
		Features: newFeaturesConfig(spec.Features),
		Page:     newPageConfig(in),
		Plans:    map[string]configv1alpha1.MonthlyCalls{},
		Proxies:  toStringSlice(spec.TrustedProxies),
		URL:      string(spec.URL),
	}
	if spec.CORS != nil {
		config.CORS.AllowedOrigins = spec.CORS.AllowedOrigins
	}
	for _, plan := range spec.Plans {
		config.Plans[plan.Name] = newMonthlyCalls(plan.MonthlyCalls)
	}
	if spec.Retention != nil {
		config.Retention = &configv1alpha1.Retention{Deliveries: configv1alpha1.Days(spec.Retention.Deliveries)}
	}
	if webhooks := spec.Webhooks; webhooks != nil {
		config.Webhooks = &configv1alpha1.Webhooks{
			AllowPrivateAddresses: webhooks.AllowPrivateAddresses, AllowedPorts: webhooks.AllowedPorts, CA: configv1alpha1.Text(in.WebhookCABundle),
		}
	}
	config.Instance = newInstanceConfig(in.Instance)
	return config
}

func newFeaturesConfig(features *v1alpha1.Features) *configv1alpha1.Features {
	if features == nil {
		return nil
	}
	config := &configv1alpha1.Features{PatientResults: features.PatientResults}
	if features.Prefill != nil {
		config.Prefill = &configv1alpha1.Prefill{Confirm: features.Prefill.Confirm, Enabled: features.Prefill.Enabled}
	}
	return config
}

func newMonthlyCalls(calls v1alpha1.MonthlyCalls) configv1alpha1.MonthlyCalls {
	return configv1alpha1.MonthlyCalls{
		Explain: calls.Explain, Rationale: calls.Rationale, Suggest: calls.Suggest, Triage: calls.Triage,
	}
}

func newInstanceConfig(instance *v1alpha1.Instance) *configv1alpha1.Instance {
	config := &configv1alpha1.Instance{UID: string(instance.UID)}
	if adopted := instance.Annotations[v1alpha1.AdoptAnnotation]; adopted != "" {
		config.Adopts = []configv1alpha1.Text{configv1alpha1.Text(adopted)}
	}
	return config
}

// toStringSlice converts a slice of a string type.
func toStringSlice[T ~string](values []T) []string {
	if values == nil {
		return nil
	}
	converted := make([]string, len(values))
	for i, value := range values {
		converted[i] = string(value)
	}
	return converted
}

// decodeConfig decodes the server's configuration from the ConfigMap's content. An invalid
// configuration, which may result from a manual edit, counts as an empty one.
func decodeConfig(content map[string]string) *configv1alpha1.ServerConfiguration {
	config, _, err := configv1alpha1.Decode([]byte(content[configFileName]))
	if err != nil {
		return &configv1alpha1.ServerConfiguration{}
	}
	return config
}

// ParseWebhookCABundle returns the webhook receivers' CAs from the ConfigMap's content,
// or an empty string.
func ParseWebhookCABundle(content map[string]string) string {
	if webhooks := decodeConfig(content).Webhooks; webhooks != nil {
		return string(webhooks.CA)
	}
	return ""
}
