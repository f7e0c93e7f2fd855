// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Input is all that a builder may know. Builders are pure: the same input gives
// the same object, and nothing is read from a cluster, a clock or chance.
//
// Builders set name, namespace, labels and what they mean of the spec. Owner
// references, where an object has one, are set by the reconciler.
type Input struct {
	// Instance as defaulted by the API server.
	Instance *v1alpha1.Instance

	// Server is the build of the server pinned for the Instance.
	Server v1alpha1.ServerPin

	// Models to serve, in the order of the spec, at the versions that the
	// preflight check found. The preflight Job itself is built from the spec's
	// models, where a version may be left out.
	Models []v1alpha1.Model

	// DatabaseChecksum changes when the URL of the external database does, or the
	// authorities that spec.storage.external.caRef names, which pods read only when
	// they start. Without caRef it is that of the URL alone, as it always was. The
	// step that reads both fills it in; empty with embedded storage.
	DatabaseChecksum string

	// DatabasePorts are the ports that the external database's URL names, as
	// DatabasePorts reads them. Empty with external storage: PostgreSQL's own.
	DatabasePorts []int32

	// Authority is the certificates, in PEM, of the authorities that clients trust;
	// empty where the certificate needs none but the public ones.
	Authority []byte

	// Encrypted says that there are keysets, or were, and that what the server keeps
	// is encrypted by them.
	Encrypted bool

	// NotificationPorts are where the server connects to for sending messages.
	NotificationPorts []int32

	// WebhookAuthorities are the certificates, in PEM, that spec.webhooks.caRef names;
	// empty without it.
	WebhookAuthorities string

	// Look is what is good of spec.page, or was last.
	Look Look

	// ClosedToWebhooks are the addresses of the Kubernetes API that serve it on a port
	// of webhooks. None is sent there.
	ClosedToWebhooks []netip.Prefix

	// AppliedSpec goes into the Deployment as AppliedSpecAnnotation says, left out
	// when empty.
	AppliedSpec string

	// Rollout goes into the Deployment as RolloutAnnotation says, left out when
	// empty.
	Rollout string

	// PutBackPorts are the ports of the database that the pods of another template
	// connect to: one that is put back, or goes on serving, because that of the
	// spec failed. They are what NotedPorts reads from its annotations.
	PutBackPorts []int32

	// Resolvers are addresses where the cluster's resolver is asked beside those
	// that every cluster has, from a flag of the operator.
	Resolvers []netip.Prefix

	// KubernetesAPI are the addresses of the Kubernetes API, of the Service
	// kubernetes and of its endpoints, that serve it on a port of the database's
	// URL. Databases are not reached there.
	KubernetesAPI []netip.Prefix

	// TemplateHash goes into the pod template and PreflightHash into the
	// Deployment, as TemplateHashAnnotation and PreflightHashAnnotation say, each
	// left out when empty. PreflightHash also ends the preflight Job's name.
	TemplateHash, PreflightHash string
}
