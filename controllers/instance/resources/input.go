// SPDX-License-Identifier: Apache-2.0

package resources

import (
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

	// Models to serve, in the order of the spec. The preflight Job is built from
	// the spec's, where a version may be left out; the Deployment from what the
	// preflight answered.
	Models []v1alpha1.Model

	// DatabaseChecksum changes when the URL of the external database does, which
	// pods read only when they start; empty with embedded storage.
	DatabaseChecksum string

	// TemplateHash and PreflightHash are written into the pod template's
	// annotations TemplateHashAnnotation and PreflightHashAnnotation, each left
	// out when empty. They say which wish the template fulfils and which
	// preflight vouched for it.
	TemplateHash, PreflightHash string
}
