// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// AdoptAnnotation on an Instance names the UID of the deleted Instance
	// whose retained data it takes up.
	AdoptAnnotation = "anamnesis.dev/adopt"

	// RetryAnnotation on an Instance tries a rollout that failed again when its
	// value changes; any new value does.
	RetryAnnotation = "anamnesis.dev/retry"

	// WatchLabel set to "true" on a Secret that an Instance or a WebhookConfig
	// refers to, or a ConfigMap that an Instance does, makes the operator react to its
	// changes at once. Without it the object is read again at the next resync.
	WatchLabel = "anamnesis.dev/watch"

	// InstanceUIDLabel marks what outlives an Instance, such as a retained
	// volume claim, with the UID of the Instance that made it.
	InstanceUIDLabel = "anamnesis.dev/instance-uid"

	// EncryptedAnnotation set to "true" on a volume claim says that its data is
	// encrypted by keysets, which must never be made anew then.
	EncryptedAnnotation = "anamnesis.dev/encrypted"

	// Finalizer lets the operator settle what becomes of an Instance's data
	// before the Instance is gone.
	Finalizer = "anamnesis.dev/data"

	// SubscriptionFinalizer lets the operator delete the subscription of a
	// WebhookConfig before the WebhookConfig is gone.
	SubscriptionFinalizer = "anamnesis.dev/subscription"
)
