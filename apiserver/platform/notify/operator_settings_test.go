// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSettingsMatchOperatorValidation verifies that the server accepts the settings
// that the operator reports as valid.
func TestSettingsMatchOperatorValidation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../controllers/instance/resources/testdata/senders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]map[string]struct {
		Good    bool
		Content map[string]string
	}
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for name, parse := range map[string]func(map[string]string) (bool, error){
		"smtp": func(content map[string]string) (bool, error) {
			mailer, err := parseMailFiles(content)
			return mailer != nil, err
		},
		"sms": func(content map[string]string) (bool, error) {
			gateway, err := parseGatewayFiles(content, false)
			return gateway != nil, err
		},
	} {
		for what, test := range cases[name] {
			files := map[string]string{}
			for key, value := range test.Content {
				files[name+"."+key] = value
			}
			if sends, err := parse(files); sends != test.Good || (err == nil) != test.Good {
				t.Errorf("%s, %s: sends %v, %v", name, what, sends, err)
			}
		}
	}
}
