// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// AdoptAnnotation on an Instance holds the UID of a deleted Instance whose retained
	// data it adopts.
	AdoptAnnotation = "anamnesis.dev/adopt"

	// RetryAnnotation on an Instance retries a failed rollout when its value changes.
	RetryAnnotation = "anamnesis.dev/retry"

	// WatchLabel set to "true" on a referenced Secret or ConfigMap makes the operator
	// watch the object. Without the label, the operator reads changes at the next resync.
	WatchLabel = "anamnesis.dev/watch"

	// InstanceUIDLabel marks an object that outlives an Instance, such as a retained
	// volume claim, with the UID of the Instance that created it.
	InstanceUIDLabel = "anamnesis.dev/instance-uid"

	// EncryptedAnnotation set to "true" on a volume claim records that its data is
	// encrypted with keysets. The operator must never recreate these keysets.
	EncryptedAnnotation = "anamnesis.dev/encrypted"

	// DataFinalizer lets the operator apply the deletion policy to an Instance's data
	// before the Instance is removed.
	DataFinalizer = "anamnesis.dev/data"

	// SubscriptionFinalizer lets the operator delete the subscription of a
	// WebhookConfig before the WebhookConfig is removed.
	SubscriptionFinalizer = "anamnesis.dev/subscription"
)
