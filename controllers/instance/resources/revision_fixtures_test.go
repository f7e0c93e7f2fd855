// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// fixtureInputs maps file names in testdata to the inputs whose objects are recorded
// there.
func fixtureInputs() map[string]Input {
	return map[string]Input{
		"embedded":           embeddedInput(),
		"external":           externalInput(),
		"hibernated":         embeddedInput(withHibernate, withFastVolume),
		"everything":         fullInput(),
		"embedded-placed":    embeddedInput(withReadWriteOncePod, withPods(fullPodsYAML)),
		"external-placed":    fullPlacementInput(),
		"embedded-encrypted": withEncryption(embeddedInput()),
		"external-public":    withNotificationPorts(withEncryption(externalInput(withPublicURL))),
		"embedded-webhooks":  embeddedInput(withWebhooks(&v1alpha1.Webhooks{AllowedPorts: []int32{8443, 443}, CARef: &v1alpha1.CABundleReference{Name: "receivers-ca"}})),
		"embedded-page":      withBranding(embeddedInput(withPage)),
		"external-webhooks":  withBlockedWebhookAPI(withNotificationPorts(externalInputWithBlockedAPI(withWebhooks(&v1alpha1.Webhooks{AllowPrivateAddresses: true})))),
	}
}

// withPublicURL sets a public URL and adopts the data of another Instance.
func withPublicURL(instance *v1alpha1.Instance) {
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "0d7c1e52"}
	instance.Spec.URL = "https://acme.example"
	instance.Spec.Notifications = &v1alpha1.Notifications{
		SMTP: &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: "acme-smtp"}},
		SMS:  &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: "acme-sms"}},
	}
	instance.Spec.TrustedProxies = []v1alpha1.CIDR{"10.0.0.0/8", "2001:db8::/32"}
}

// withWebhooks sets the webhook settings, and a retention of one week for deliveries.
func withWebhooks(webhooks *v1alpha1.Webhooks) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) {
		instance.Spec.Webhooks = webhooks
		instance.Spec.Retention = &v1alpha1.Retention{Deliveries: "7d"}
	}
}

// withPage sets every page field.
func withPage(instance *v1alpha1.Instance) {
	instance.Spec.Page = &v1alpha1.Page{
		Name:            "Acme Health",
		Logo:            &v1alpha1.PageLogo{ConfigMapRef: v1alpha1.ConfigMapKeyReference{Name: "acme-logo"}},
		Colors:          &v1alpha1.PageColors{Primary: "#1d1d1d", Accent: "#767676"},
		PrivacyURL:      "https://acme.example/privacy",
		HelpURL:         "tel:+49-30-1234567",
		EmergencyNumber: "112",
		CrisisLine:      "116 123",
	}
}

// withBranding sets valid colors and a valid logo from the spec.
func withBranding(in Input) Input {
	in.Branding = Branding{Logo: "data:image/png;base64,iVBORw0KGgo=", Colors: in.Instance.Spec.Page.Colors}
	return in
}

// withBlockedWebhookAPI makes the Kubernetes API serve on a webhook port.
func withBlockedWebhookAPI(in Input) Input {
	in.WebhookBlockedNetworks = []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}
	in.WebhookCABundle = "-----BEGIN CERTIFICATE-----\n"
	return in
}

func withNotificationPorts(in Input) Input {
	in.NotificationPorts = []int32{443, 587}
	return in
}

func withEncryption(in Input) Input {
	in.Encrypted = true
	return in
}

func withFastVolume(instance *v1alpha1.Instance) {
	instance.Spec.Storage.Embedded.Size = resource.MustParse("20Gi")
	instance.Spec.Storage.Embedded.StorageClassName = new("fast")
}

// fullInput sets all fields that are not covered by a fixture of their own.
func fullInput() Input {
	in := externalInput(func(instance *v1alpha1.Instance) {
		spec := &instance.Spec
		spec.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-10-01T00:00:00Z"}, {ID: "service-en"}}
		spec.Replicas = 5
		spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}}
		spec.Applications = []v1alpha1.Application{{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}, Plan: "gold"}, {Name: "partner"}}
		spec.Plans = []v1alpha1.Plan{{Name: "gold", MonthlyCalls: v1alpha1.MonthlyCalls{Explain: new(int64(500))}}}
		spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}
		spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	})
	in.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-10-01T00:00:00Z"}, {ID: "service-en", Version: "2026-11-21T00:00:00Z"}}
	in.DatabasePorts = []int32{5432, 6432}
	return in
}

func withReadWriteOncePod(instance *v1alpha1.Instance) {
	instance.Spec.Storage.Embedded.AccessMode = corev1.ReadWriteOncePod
}

// fullPlacementInput sets every field of pods, of the database and of rollouts.
func fullPlacementInput() Input {
	in := externalInputWithBlockedAPI(
		withPods(fullPodsYAML),
		withCIDRs("10.20.0.0/16", "10.96.0.0/12", "2001:db8::/32"),
		withCARef(v1alpha1.CABundleReference{Kind: "ConfigMap", Name: "rds", Key: "global-bundle.pem"}),
		func(instance *v1alpha1.Instance) {
			instance.Spec.Storage.External.SecretRef.Key = "uri"
			instance.Spec.Storage.External.AllowInsecure = true
			instance.Spec.Rollout = &v1alpha1.RolloutSpec{
				Deadline: metav1.Duration{Duration: 20 * time.Minute},
				Pause:    true,
				Image:    "registry.example/apiserver:1",
				Window:   &v1alpha1.MaintenanceWindow{Start: "22:00", End: "05:00", TimeZone: "Europe/Berlin"},
			}
		})
	in.RollbackPorts = []int32{6432}
	return in
}
