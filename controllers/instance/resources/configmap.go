// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"
)

// configFile is the server's --config: what it reads again when it changes.
type configFile struct {
	CORS corsConfig `json:"cors"`
}

type corsConfig struct {
	AllowedOrigins []string `json:"allowedOrigins"`
}

// BuildConfigMap holds what the server reads again without a restart.
func BuildConfigMap(in Input) *coreapply.ConfigMapApplyConfiguration {
	config := configFile{CORS: corsConfig{AllowedOrigins: []string{}}}
	if in.Instance.Spec.CORS != nil {
		config.CORS.AllowedOrigins = in.Instance.Spec.CORS.AllowedOrigins
	}
	encoded, err := yaml.Marshal(config)
	if err != nil {
		panic(fmt.Sprintf("a list of strings can always be encoded: %v", err))
	}
	return coreapply.ConfigMap(ConfigName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{configFileName: string(encoded)})
}
