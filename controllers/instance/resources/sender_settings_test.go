// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSenderValidationMatchesServer checks that the operator's validation of a Secret
// matches the server's.
func TestSenderValidationMatchesServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/senders.yaml")
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
	for name, sender := range map[string]Sender{"smtp": smtpSender("s"), "sms": smsSender("s")} {
		if len(cases[name]) == 0 {
			t.Errorf("there are no cases of %s", name)
		}
		for what, test := range cases[name] {
			given := withChanges(test.Content)
			if err := sender.Validate(given); (err == nil) != test.Good {
				t.Errorf("%s, %s: %v", name, what, err)
			} else if err == nil && sender.Port(given) == 0 {
				t.Errorf("%s, %s: there is no port", name, what)
			}
		}
	}
}
