// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Input is the complete input of the builders. Builders are pure: the same input yields
// the same object, without reading from a cluster, a clock or a random source.
//
// Builders set the name, namespace, labels, and the fields derived from the spec. The
// reconciler sets owner references.
type Input struct {
	// Instance is the Instance as defaulted by the API server.
	Instance *v1alpha1.Instance

	// Server is the server build pinned for the Instance.
	Server v1alpha1.ServerBuild

	// Models are the models to serve, in the order of the spec, at the versions from the
	// preflight check. The preflight Job itself is built from the spec's models, whose
	// versions are optional.
	Models []v1alpha1.Model

	// DatabaseChecksum changes when the URL of the external database changes, or the CA
	// bundle that spec.storage.external.caRef references. Pods read both only at startup.
	// Without caRef, the checksum covers only the URL, as in earlier versions. It is empty
	// with embedded storage.
	DatabaseChecksum string

	// DatabasePorts are the ports in the external database's URL, from DatabasePortsFromURL.
	// If empty with external storage, PostgreSQL's default port applies.
	DatabasePorts []int32

	// CABundle is the CA bundle (PEM) that clients must trust. It is empty for a certificate
	// from a public CA.
	CABundle []byte

	// Encrypted reports whether the server's data is encrypted, that is, whether keysets
	// exist or existed.
	Encrypted bool

	// NotificationPorts are the ports that the server connects to when it sends messages.
	NotificationPorts []int32

	// WebhookCABundle is the CA bundle (PEM) that spec.webhooks.caRef references. It is
	// empty if unset.
	WebhookCABundle string

	// Branding is the last valid branding of spec.page.
	Branding Branding

	// WebhookBlockedNetworks are the addresses of the Kubernetes API that serve on a webhook
	// port. Webhooks must not reach them.
	WebhookBlockedNetworks []netip.Prefix

	// AppliedSpec is the value of the Deployment's AppliedSpecAnnotation, which is omitted
	// if empty.
	AppliedSpec string

	// Rollout is the value of the Deployment's RolloutAnnotation, which is omitted if empty.
	Rollout string

	// RollbackPorts are the database ports of pods of an earlier template, which were
	// restored or keep serving because the desired template failed. They come from
	// ParseDatabasePorts.
	RollbackPorts []int32

	// DNSResolvers are additional addresses of the cluster's DNS resolver, from a flag of
	// the operator.
	DNSResolvers []netip.Prefix

	// KubernetesAPINetworks are the addresses of the kubernetes Service and its endpoints
	// that serve on a port of the database URL. Database connections must not reach them.
	KubernetesAPINetworks []netip.Prefix

	// TemplateHash and PreflightHash are the values of TemplateHashAnnotation on the pod
	// template and PreflightHashAnnotation on the Deployment, each omitted if empty.
	// PreflightHash is also the suffix of the preflight Job's name.
	TemplateHash, PreflightHash string
}
