// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newConfig(uid, url string, age time.Duration) v1alpha1.WebhookConfig {
	return v1alpha1.WebhookConfig{
		ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(noon.Add(-age))},
		Spec:       v1alpha1.WebhookConfigSpec{URL: v1alpha1.ReceiverURL(url)},
	}
}

func TestOlderDuplicate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		one, other v1alpha1.WebhookConfig
		want       string
	}{
		"an older one counts":            {newConfig("b", receiverURL, 0), newConfig("a", receiverURL, time.Hour), "a"},
		"a younger one does not":         {newConfig("a", receiverURL, time.Hour), newConfig("b", receiverURL, 0), ""},
		"of one second, one counts":      {newConfig("b", receiverURL, 0), newConfig("a", receiverURL, 0), "a"},
		"and the other does not":         {newConfig("a", receiverURL, 0), newConfig("b", receiverURL, 0), ""},
		"itself is no other":             {newConfig("a", receiverURL, 0), newConfig("a", receiverURL, 0), ""},
		"another receiver":               {newConfig("b", receiverURL, 0), newConfig("a", receiverURL+"/x", time.Hour), ""},
		"another query":                  {newConfig("b", receiverURL+"?a=1", 0), newConfig("a", receiverURL+"?a=2", time.Hour), ""},
		"the same receiver in capitals":  {newConfig("b", "https://portal.example/events", 0), newConfig("a", "https://Portal.Example/events", time.Hour), "a"},
		"the same receiver with a port":  {newConfig("b", receiverURL, 0), newConfig("a", "https://portal.example:443/events", time.Hour), "a"},
		"another port":                   {newConfig("b", receiverURL, 0), newConfig("a", "https://portal.example:8443/events", time.Hour), ""},
		"the same receiver with a slash": {newConfig("b", "https://portal.example", 0), newConfig("a", "https://portal.example/", time.Hour), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if older := olderDuplicate(&test.one, []v1alpha1.WebhookConfig{test.one, test.other}); older != nil {
				got = older.Name
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
