// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// configFile is the server's --config: what it reads again when it changes.
type configFile struct {
	CORS  corsConfig                       `json:"cors"`
	Plans map[string]v1alpha1.MonthlyCalls `json:"plans,omitempty"`
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
	encoded, err := yaml.Marshal(config)
	if err != nil {
		panic(fmt.Sprintf("strings and numbers can always be encoded: %v", err))
	}
	return coreapply.ConfigMap(ConfigName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{configFileName: string(encoded)})
}
