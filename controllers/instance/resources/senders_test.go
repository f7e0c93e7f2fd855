// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSendersAsTheServer: what the operator says of a Secret is what the server does.
func TestSendersAsTheServer(t *testing.T) {
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
	for name, sender := range map[string]Sender{"smtp": smtp("s"), "sms": sms("s")} {
		if len(cases[name]) == 0 {
			t.Errorf("there are no cases of %s", name)
		}
		for what, test := range cases[name] {
			given := content(test.Content)
			if err := sender.Check(given); (err == nil) != test.Good {
				t.Errorf("%s, %s: %v", name, what, err)
			} else if err == nil && sender.Port(given) == 0 {
				t.Errorf("%s, %s: there is no port", name, what)
			}
		}
	}
}
