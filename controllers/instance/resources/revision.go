// SPDX-License-Identifier: Apache-2.0

package resources

import "github.com/anamnesis-dev/anamnesis/api/v1alpha1"

// Revision is the current revision of the objects that the operator builds for a server
// image. An Instance keeps its pinned revision until it moves to another server image,
// so that an operator upgrade restarts no pods: the operator still builds every revision
// that an Instance may be pinned to unchanged.
const Revision int32 = 5

// A feature is a change of the builders' output since some revision that does not depend
// on the Instance. Its value is that revision.
//
// To add a feature, raise Revision unless its objects are not released yet, add a line
// here, and check Input.has wherever the objects differ, so that the old output is still
// built next to the new one. Then record the objects with `go test
// ./controllers/instance/resources -run TestRevisions -update`. A new field of the spec
// needs no feature: unset, it changes nothing, and set, it applies in every revision.
//
// To drop a revision that no Instance is pinned to any more, delete the features of the
// following revision, which is then the oldest. Code that checks for them no longer
// compiles, which shows what to remove.
type feature int32

const (
	// featureMemoryLimit sets the server's memory limit.
	featureMemoryLimit feature = 2

	// featurePreflightInputs identifies a preflight check by its inputs rather than its pod
	// template.
	featurePreflightInputs feature = 3
	// featureArgoCDAnnotations excludes volume claims from Argo CD's pruning.
	featureArgoCDAnnotations feature = 3
	// featureRestrictedEgress limits pods to the cluster's DNS resolver, blocks webhooks,
	// and blocks database connections to the Kubernetes API and cloud metadata services.
	featureRestrictedEgress feature = 3
	// featureDatabasePortsAnnotation records the database ports of the pods in the pod
	// template.
	featureDatabasePortsAnnotation feature = 3

	// featureRetainedKeys keeps keys that the data or clients depend on together with the
	// data when the Instance is deleted.
	featureRetainedKeys feature = 4
	// featureClientInfo publishes the Instance's URL and CA bundle to applications, and
	// tells the server which database it may open.
	featureClientInfo feature = 4
	// featureKeyRotation adds several keys per application, and a start time of signing keys.
	featureKeyRotation feature = 4
	// featureEncryption mounts keysets, and adds the location of the senders' Secrets.
	featureEncryption feature = 4

	// featureWebhooks lets pods reach webhook receivers, and registers the operator with the
	// server as an application that manages webhook subscriptions.
	featureWebhooks feature = 5
	// featurePages enables pages for patients and configures their branding.
	featurePages feature = 5
)

// has reports whether a feature is part of the revision that the Instance is pinned to.
// An operator older than the pinned revision builds the newest revision that it knows.
func (in Input) has(c feature) bool { return in.Server.Revision >= int32(c) }

// SupportsKeyRotation reports whether the server accepts several keys for one purpose.
func (in Input) SupportsKeyRotation() bool { return in.has(featureKeyRotation) }

// SupportsWebhooks reports whether a server build supports webhooks and the operator's
// own application.
func SupportsWebhooks(server v1alpha1.ServerBuild) bool {
	return Input{Server: server}.has(featureWebhooks)
}
