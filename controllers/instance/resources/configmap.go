// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// configFile is the server's --config file, which the server reloads when it changes.
type configFile struct {
	CORS  corsConfig                       `json:"cors"`
	Plans map[string]v1alpha1.MonthlyCalls `json:"plans,omitempty"`
	// The fields below are omitted if unset, because servers that predate them would log a
	// warning.
	URL       v1alpha1.PublicURL  `json:"url,omitempty"`
	Proxies   []v1alpha1.CIDR     `json:"proxies,omitempty"`
	Features  *v1alpha1.Features  `json:"features,omitempty"`
	Instance  *instanceConfig     `json:"instance,omitempty"`
	Webhooks  *webhooksConfig     `json:"webhooks,omitempty"`
	Retention *v1alpha1.Retention `json:"retention,omitempty"`
	Page      *pageConfig         `json:"page,omitempty"`
}

// webhooksConfig configures where the server may send webhooks, and which CAs (PEM) it
// trusts for receivers in addition to the public ones.
type webhooksConfig struct {
	AllowPrivateAddresses bool    `json:"allowPrivateAddresses,omitempty"`
	AllowedPorts          []int32 `json:"allowedPorts,omitempty"`
	CA                    string  `json:"ca,omitempty"`
}

// instanceConfig identifies the databases that the server may open: a new one, its own,
// or one that it adopts.
type instanceConfig struct {
	UID    types.UID `json:"uid"`
	Adopts []string  `json:"adopts,omitempty"`
}

type corsConfig struct {
	AllowedOrigins []string `json:"allowedOrigins"`
}

// BuildConfigMap holds the configuration that the server reloads without a restart.
func BuildConfigMap(in Input) *coreapply.ConfigMapApplyConfiguration {
	config := configFile{CORS: corsConfig{AllowedOrigins: []string{}}, Plans: map[string]v1alpha1.MonthlyCalls{}}
	if in.Instance.Spec.CORS != nil {
		config.CORS.AllowedOrigins = in.Instance.Spec.CORS.AllowedOrigins
	}
	for _, plan := range in.Instance.Spec.Plans {
		config.Plans[plan.Name] = plan.MonthlyCalls
	}
	config.URL, config.Proxies = in.Instance.Spec.URL, in.Instance.Spec.TrustedProxies
	config.Features, config.Retention = in.Instance.Spec.Features, in.Instance.Spec.Retention
	if wanted := in.Instance.Spec.Webhooks; wanted != nil {
		config.Webhooks = &webhooksConfig{wanted.AllowPrivateAddresses, wanted.AllowedPorts, in.WebhookCABundle}
	}
	config.Page = newPageConfig(in)
	config.Instance = newInstanceConfig(in.Instance)
	return coreapply.ConfigMap(ConfigMapName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{configFileName: config.encode()})
}

// ParseWebhookCABundle returns the webhook receivers' CAs from the ConfigMap's content,
// or an empty string.
func ParseWebhookCABundle(content map[string]string) string {
	config, err := decodeConfig(content[configFileName])
	if err != nil || config.Webhooks == nil {
		return ""
	}
	return config.Webhooks.CA
}

func newInstanceConfig(instance *v1alpha1.Instance) *instanceConfig {
	config := &instanceConfig{UID: instance.UID}
	if earlier := instance.Annotations[v1alpha1.AdoptAnnotation]; earlier != "" {
		config.Adopts = []string{earlier}
	}
	return config
}
