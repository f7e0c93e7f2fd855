// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// configFile is the server's --config: what it reads again when it changes.
type configFile struct {
	CORS  corsConfig                       `json:"cors"`
	Plans map[string]v1alpha1.MonthlyCalls `json:"plans,omitempty"`
	// What follows is left out unless it is set: servers that are older than it
	// would warn of it.
	URL       v1alpha1.PublicURL  `json:"url,omitempty"`
	Proxies   []v1alpha1.CIDR     `json:"proxies,omitempty"`
	Features  *v1alpha1.Features  `json:"features,omitempty"`
	Instance  *instanceConfig     `json:"instance,omitempty"`
	Webhooks  *webhooksConfig     `json:"webhooks,omitempty"`
	Retention *v1alpha1.Retention `json:"retention,omitempty"`
	Page      *pageConfig         `json:"page,omitempty"`
}

// webhooksConfig tells the server where it may send webhooks, and by which
// authorities, in PEM, receivers prove themselves beside the public ones.
type webhooksConfig struct {
	AllowPrivateAddresses bool    `json:"allowPrivateAddresses,omitempty"`
	AllowedPorts          []int32 `json:"allowedPorts,omitempty"`
	CA                    string  `json:"ca,omitempty"`
}

// instanceConfig tells the server whose database it may open: one that is new,
// its own, or one that it is to take up.
type instanceConfig struct {
	UID    types.UID `json:"uid"`
	Adopts []string  `json:"adopts,omitempty"`
}

type corsConfig struct {
	AllowedOrigins []string `json:"allowedOrigins"`
}

// BuildConfigMap holds what the server reads again without a restart.
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
		config.Webhooks = &webhooksConfig{wanted.AllowPrivateAddresses, wanted.AllowedPorts, in.WebhookAuthorities}
	}
	config.Page = pageOf(in)
	if in.has(tellsClients) {
		config.Instance = instanceOf(in.Instance)
	}
	return coreapply.ConfigMap(ConfigName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{configFileName: config.encode()})
}

// WebhookAuthoritiesIn are the authorities of receivers in the content of the
// ConfigMap; none when it says none.
func WebhookAuthoritiesIn(content map[string]string) string {
	config, err := decodeConfig(content[configFileName])
	if err != nil || config.Webhooks == nil {
		return ""
	}
	return config.Webhooks.CA
}

func instanceOf(instance *v1alpha1.Instance) *instanceConfig {
	config := &instanceConfig{UID: instance.UID}
	if earlier := instance.Annotations[v1alpha1.AdoptAnnotation]; earlier != "" {
		config.Adopts = []string{earlier}
	}
	return config
}
