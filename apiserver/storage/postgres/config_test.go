// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"testing"
	"time"
)

// TestParseConfigDefaults checks the defaults that detect a dead server and identify the
// client to its administrator.
func TestParseConfigDefaults(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		timeout time.Duration
		name    string
		conns   int32
	}{
		"postgres://user:pass@localhost/x?pool_max_conns=7":                                         {5 * time.Second, "anamnesis", 7},
		"postgresql://localhost?pool_max_conns=2&connect_timeout=30&application_name=acme-survey-1": {30 * time.Second, "acme-survey-1", 2},
	} {
		config, err := parseConfig(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		got := config.ConnConfig
		if got.ConnectTimeout != want.timeout || got.RuntimeParams["application_name"] != want.name || config.MaxConns != want.conns {
			t.Errorf("%s: got connect timeout %v, application name %s, %d connections", url, got.ConnectTimeout, got.RuntimeParams["application_name"], config.MaxConns)
		}
	}
}
