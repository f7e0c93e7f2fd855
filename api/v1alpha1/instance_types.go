// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types of an Instance. Ready, Reconciling and Stalled follow the
// kstatus convention; the others report the state of one part.
const (
	// ConditionReady is True when the Instance is in the state that its spec requests.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator is bringing the Instance to the
	// state that its spec requests. It is absent otherwise.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the operator cannot proceed until the spec or the
	// cluster changes; its message names the required change. It is absent otherwise.
	ConditionStalled = "Stalled"
	// ConditionStorageReady is True when the Instance's storage is available.
	ConditionStorageReady = "StorageReady"
	// ConditionModelsReady is True when the image contains the models of the spec
	// and their versions are pinned.
	ConditionModelsReady = "ModelsReady"
	// ConditionAvailable is True while at least one pod serves requests, even if the pod
	// does not match the spec yet.
	ConditionAvailable = "Available"
	// ConditionDrifted is True while another writer, such as a mutating policy,
	// overrides fields that the operator sends. It is absent otherwise. The operator
	// does not overwrite them again.
	ConditionDrifted = "Drifted"
	// ConditionKeysRotating is True while a requested or scheduled key rotation is in
	// progress or pending; its message states the end of the current step, or what the
	// rotation waits for. It is absent otherwise and does not affect Ready.
	ConditionKeysRotating = "KeysRotating"
	// ConditionNotificationsReady is True when the server can send messages to users.
	// It does not affect Ready.
	ConditionNotificationsReady = "NotificationsReady"
	// ConditionWebhooksReady is True when the CA bundle for webhook receivers is
	// loaded. It is absent if spec.webhooks.caRef is unset and does not affect Ready.
	ConditionWebhooksReady = "WebhooksReady"
	// ConditionPageReady is True when the patient page has the branding of spec.page.
	// It is absent if spec.page is unset and does not affect Ready.
	ConditionPageReady = "PageReady"
	// ConditionServerCurrent is True when the Instance is healthy on the target
	// server image; its reason reports the progress or the obstacle. It does not
	// affect Ready.
	ConditionServerCurrent = "ServerCurrent"
)

// DeletionPolicy determines whether an Instance's data is retained or deleted when
// the Instance is deleted.
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionPolicyRetain keeps the data. Another Instance can adopt it with
	// AdoptAnnotation.
	DeletionPolicyRetain DeletionPolicy = "Retain"
	// DeletionPolicyDelete deletes the data together with the Instance.
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// Scope is a permission granted to an application.
// +kubebuilder:validation:Enum="knowledge:read";"question:read";"question:write";"survey:read";"survey:write";"config:read";"config:write";"user:read";"user:write";"patient:read";"patient:write"
type Scope string

// InstanceSpec defines the desired state of an Instance.
// +kubebuilder:validation:XValidation:rule="!has(self.applications) || self.applications.all(a, !has(a.plan) || a.plan == 'trial' || (has(self.plans) && self.plans.exists(p, p.name == a.plan)))",message="unknown plan: use one of spec.plans, or trial"
// +kubebuilder:validation:XValidation:rule="!has(self.storage.embedded) || self.replicas <= 1",message="embedded storage supports one replica: set replicas to 1, or use external storage"
type InstanceSpec struct {
	// Models lists the models that the Instance serves. The first is the default.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=id
	Models []Model `json:"models"`

	// Storage configures where the Instance's data is stored. The choice between embedded and external is immutable.
	Storage Storage `json:"storage"`

	// Replicas is the number of serving pods. Must be at most 1 with embedded storage.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`

	// TLS configures the serving certificate. If unset, the operator's CA issues and
	// renews the certificate.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// Applications lists the API clients of the Instance. For each application, the
	// operator creates a Secret <instance>-app-<name> with its ID and key. If unset, one
	// application named default with all scopes is created.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Applications []Application `json:"applications,omitempty"`

	// KeyOverlap is how long an application key stays valid after its replacement is
	// published, such as 24h or 1h30m, at most 720h. 0s revokes the old key immediately.
	// Defaults to 24h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]{1,4}(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('720h')",message="must be at most 720h"
	KeyOverlap *metav1.Duration `json:"keyOverlap,omitempty"`

	// Plans lists the plans, with monthly call limits, that applications can refer to. A
	// plan named trial always exists: if it is not listed, it allows 100 calls per month
	// to each service. Changes apply without a restart.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Plans []Plan `json:"plans,omitempty"`

	// URL is the public address of the Instance, such as https://acme.example, used in
	// links, tokens and the Secrets of applications. Defaults to the address of the
	// Instance's Service. Changes apply without a restart.
	// +optional
	URL PublicURL `json:"url,omitempty"`

	// TrustedProxies lists the CIDRs of reverse proxies whose X-Forwarded-For header is
	// trusted. If unset, no proxy is trusted. Changes apply without a restart.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	TrustedProxies []CIDR `json:"trustedProxies,omitempty"`

	// CORS configures cross-origin requests from browsers. If unset, browsers cannot
	// call the Instance from other origins.
	// +optional
	CORS *CORS `json:"cors,omitempty"`

	// Notifications configures the channels, such as SMTP, through which the server sends
	// messages to users, for example sign-in codes. If unset, no messages are sent.
	// +optional
	Notifications *Notifications `json:"notifications,omitempty"`

	// Features configures optional survey features. Changes apply without a restart.
	// +optional
	Features *Features `json:"features,omitempty"`

	// Webhooks restricts the destinations of webhooks. Defaults to port 443 of public
	// addresses. Changes apply without a restart.
	// +optional
	Webhooks *Webhooks `json:"webhooks,omitempty"`

	// Retention configures how long the server keeps records. Changes apply without a
	// restart.
	// +optional
	Retention *Retention `json:"retention,omitempty"`

	// Page configures the branding and links of the patient page. Changes apply without
	// a restart.
	// +optional
	Page *Page `json:"page,omitempty"`

	// Resources are the compute resources of the server container. Defaults suit a small
	// tenant.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Rollout configures how and when changes replace pods. If unset, changes apply
	// immediately, with a deadline of 10 minutes.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// Pods configures the scheduling, user, labels, annotations and log level of the
	// pods. If unset, pods can be scheduled on any node and run as UID 65532.
	// +optional
	Pods *Pods `json:"pods,omitempty"`

	// Suspend stops the operator from applying changes to the spec. Maintenance continues:
	// the operator renews certificates, rotates keys, applies changed notification Secrets
	// and updates the status.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Hibernate scales the Instance to zero pods and keeps its data. While the Instance is
	// hibernated, its Ready condition is True with reason Hibernated, because it matches
	// its spec, and its Available condition is False, because it serves no requests.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// DeletionPolicy determines whether the data is retained or deleted when the
	// Instance is deleted. Defaults to Retain.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Model is a medical model in one language and version.
type Model struct {
	// ID of the model, such as service-en.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(-[a-z0-9]+)*$`
	ID string `json:"id"`

	// Version of the model, a UTC timestamp such as 2026-11-21T00:00:00Z. If unset in the
	// spec, the operator pins the newest version in the server image until the image or
	// this field changes.
	// +optional
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Version string `json:"version,omitempty"`
}

// Storage selects exactly one storage backend.
// +kubebuilder:validation:XValidation:rule="has(self.embedded) != has(self.external)",message="choose exactly one kind of storage: embedded or external"
// +kubebuilder:validation:XValidation:rule="has(self.embedded) == has(oldSelf.embedded)",message="storage kind is immutable: create a new Instance and migrate the data"
type Storage struct {
	// Embedded stores the data in a SQLite database on a dedicated volume.
	// +optional
	Embedded *EmbeddedStorage `json:"embedded,omitempty"`

	// External stores the data in a PostgreSQL database managed outside the operator.
	// +optional
	External *ExternalStorage `json:"external,omitempty"`
}

// EmbeddedStorage configures the volume that the operator claims.
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="storageClassName is immutable: create a new Instance and migrate the data"
type EmbeddedStorage struct {
	// Size of the volume. It can be increased if the storage class supports volume
	// expansion, and cannot be decreased. Defaults to 1Gi.
	// +optional
	// +kubebuilder:default="1Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="size must be greater than zero"
	Size resource.Quantity `json:"size,omitzero"`

	// StorageClassName is the storage class of the volume. Defaults to the cluster's
	// default storage class. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`

	// AccessMode of the volume: ReadWriteOnce or ReadWriteOncePod. ReadWriteOncePod
	// guarantees a single writer, but the storage class must support it. Defaults to
	// ReadWriteOnce. Immutable.
	// +optional
	// +kubebuilder:default=ReadWriteOnce
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteOncePod
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="accessMode is immutable: create a new Instance and migrate the data"
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
}

// ExternalStorage configures a PostgreSQL database that is managed outside the
// operator.
type ExternalStorage struct {
	// SecretRef refers to the key of a Secret in the Instance's namespace that contains
	// a postgres:// URL, such as
	// postgres://user:password@host:5432/database?sslmode=verify-full. Changing the URL
	// replaces the pods.
	SecretRef SecretKeyReference `json:"secretRef"`

	// CARef refers to a PEM-encoded CA bundle used to verify the database's certificate.
	// Defaults to the public CAs in the server image. An sslrootcert in the URL takes
	// precedence over both. Changing the bundle replaces the pods.
	// +optional
	CARef *CABundleReference `json:"caRef,omitempty"`

	// CIDRs restricts database connections to these networks. For a database in this
	// cluster, list pod addresses rather than Service addresses. If unset, the database
	// may have any address. Addresses of the Kubernetes API and of cloud metadata
	// services are always excluded.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	CIDRs []CIDR `json:"cidrs,omitempty"`

	// AllowInsecure permits a URL whose sslmode is weaker than verify-full, such as
	// PostgreSQL's default, prefer. Such a mode does not verify the database's identity
	// and may not encrypt the connection.
	// +optional
	AllowInsecure bool `json:"allowInsecure,omitempty"`
}

// CIDR is a network in CIDR notation, such as 10.20.0.0/16 or 2001:db8::/32.
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a CIDR without host bits, such as 10.20.0.0/16, or 10.20.30.40/32 for one address"
type CIDR string

// PublicURL is an https URL without a path, such as https://acme.example.
// +kubebuilder:validation:MaxLength=261
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname().size() > 0 && self.matches('^https://[^/?#@]+$')",message="must be an https URL without user info or path, such as https://acme.example"
type PublicURL string

// TLS configures the serving certificate.
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || !has(self.extraNames) || self.extraNames.size() == 0",message="extraNames and secretRef are mutually exclusive: extraNames applies only to certificates issued by the operator"
type TLS struct {
	// SecretRef refers to a Secret in the Instance's namespace with the keys tls.crt,
	// tls.key and optionally ca.crt, the CA bundle for clients. If unset, the operator
	// issues the certificate.
	// +optional
	SecretRef SecretReference `json:"secretRef,omitzero"`

	// ExtraNames lists additional DNS names for the issued certificate. The names of the
	// Service, <instance>.<namespace>.svc with and without the cluster domain, are always
	// included. A leading "*." matches one label. If set, the certificate is issued by a
	// dedicated CA of this Instance, whose name constraints permit only the names of the
	// certificate. Names added later take effect one day after the new ca.crt is
	// published, so that clients have time to load it.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`
	// +listType=set
	ExtraNames []string `json:"extraNames,omitempty"`
}

// SecretReference refers to a Secret in the Instance's namespace.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretKeyReference refers to a key of a Secret in the Instance's namespace.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key within the Secret. Defaults to url.
	// +optional
	// +kubebuilder:default=url
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// CABundleReference refers to a CA bundle in a Secret or ConfigMap in the Instance's
// namespace.
type CABundleReference struct {
	// Kind of the object: Secret or ConfigMap. Defaults to Secret.
	// +optional
	// +kubebuilder:default=Secret
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind,omitempty"`

	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key within the object that contains the PEM-encoded certificates. Defaults to
	// ca.crt.
	// +optional
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// Application is an API client that authenticates with an ID and a key.
type Application struct {
	// Name of the application, which it also uses as its ID for authentication. The name
	// "operator" is reserved.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self != 'operator'",message=`"operator" is a reserved name: choose another name`
	Name string `json:"name"`

	// Scopes granted to the application. Defaults to all scopes.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Scopes []Scope `json:"scopes,omitempty"`

	// Plan is the name of the plan that limits the application's calls: an entry of
	// spec.plans, or trial. If unset, calls are unlimited.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Plan string `json:"plan,omitempty"`

	// DevMode allows the application to send the header Dev-Mode: true. Requests with the
	// header are excluded from usage counts, and their feedback is discarded. The server
	// ignores the header from other applications.
	// +optional
	DevMode bool `json:"devMode,omitempty"`
}

// Plan defines call limits, which apply to each application separately.
type Plan struct {
	// Name of the plan. Applications refer to the plan by this name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// MonthlyCalls are the monthly limits of each application. If unset, calls are
	// unlimited.
	// +optional
	MonthlyCalls MonthlyCalls `json:"monthlyCalls,omitzero"`
}

// MonthlyCalls limits the calls of an application to each service per calendar month
// in UTC. If a service is unset, its calls are unlimited; 0 forbids all calls.
type MonthlyCalls struct {
	// Explain limits calls to /v3/explain.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Explain *int64 `json:"explain,omitempty"`

	// Suggest limits calls to /v3/suggest and /v3/red_flags combined.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Suggest *int64 `json:"suggest,omitempty"`

	// Rationale limits calls to /v3/rationale.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rationale *int64 `json:"rationale,omitempty"`

	// Triage limits calls to /v3/triage.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Triage *int64 `json:"triage,omitempty"`
}

// CORS configures cross-origin requests from browsers.
type CORS struct {
	// AllowedOrigins lists the origins that may call the Instance, each a scheme, a host
	// and an optional port, such as https://portal.example. "*" allows every origin.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*|https?://[a-zA-Z0-9.\-\[\]:]+)$`
	// +listType=set
	AllowedOrigins []string `json:"allowedOrigins"`
}

// Notifications configures the channels through which the server sends messages to
// users. At least one channel is required.
// +kubebuilder:validation:XValidation:rule="has(self.smtp) || has(self.sms)",message="at least one of smtp and sms is required"
type Notifications struct {
	// SMTP configures a mail server. The Secret must have the keys host and from, and may
	// have port, username, password, tls and ca.crt. tls is starttls, the default, or tls
	// for implicit TLS. port defaults to 587, or to 465 for implicit TLS.
	// +optional
	SMTP *NotificationSender `json:"smtp,omitempty"`

	// SMS configures an HTTP gateway for text messages. The Secret must have the keys url
	// (https) and body, which together contain the placeholders {to} and {text}. It may
	// have headers (one "Name: value" per line), contentType (application/json, the
	// default, or application/x-www-form-urlencoded) and ca.crt.
	// +optional
	SMS *NotificationSender `json:"sms,omitempty"`
}

// NotificationSender refers to the Secret with the settings of a channel.
type NotificationSender struct {
	// SecretRef refers to a Secret in the Instance's namespace. Changes apply without a
	// restart.
	SecretRef SecretReference `json:"secretRef"`
}

// Features configures optional survey features.
type Features struct {
	// Prefill configures surveys that start with evidence supplied by the application. If
	// unset, prefilling is disabled.
	// +optional
	Prefill *Prefill `json:"prefill,omitempty"`

	// PatientResults controls whether end users see the results of their surveys.
	// Defaults to true.
	// +optional
	PatientResults *bool `json:"patientResults,omitempty"`
}

// Prefill configures surveys that start with evidence supplied by the application.
// +kubebuilder:validation:XValidation:rule="self.enabled || !has(self.confirm) || !self.confirm",message="confirm requires enabled: set enabled to true"
type Prefill struct {
	// Enabled allows applications to create surveys with evidence.
	Enabled bool `json:"enabled"`

	// Confirm asks patients to confirm prefilled evidence. Requires enabled. Defaults to
	// false.
	// +optional
	Confirm bool `json:"confirm,omitempty"`
}

// InstanceStatus is the observed state of an Instance.
type InstanceStatus struct {
	// ObservedGeneration is the most recent generation that the operator has processed,
	// or -1 before it has processed the Instance.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the Instance. The types are Ready, Reconciling, Stalled,
	// StorageReady, ModelsReady, Available, Drifted, KeysRotating, NotificationsReady,
	// WebhooksReady, PageReady and ServerCurrent.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// URL of the Instance: spec.url if set, otherwise its address inside the cluster.
	// +optional
	URL string `json:"url,omitempty"`

	// Server is the server build pinned for this Instance.
	// +optional
	Server ServerBuild `json:"server,omitzero"`

	// Models found by the preflight check, at the pinned versions.
	// +optional
	// +listType=map
	// +listMapKey=id
	Models []Model `json:"models,omitempty"`

	// ModelIDs lists the model IDs on one line, for kubectl get.
	// +optional
	ModelIDs string `json:"modelIDs,omitempty"`

	// Storage is the kind of storage in use, for kubectl get.
	// +optional
	Storage string `json:"storage,omitempty"`

	// Encrypted reports whether the server has received encryption keysets. Its data
	// cannot be read without them.
	// +optional
	Encrypted bool `json:"encrypted,omitempty"`

	// Replicas is the total number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of ready pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Rollout records the last ready and the last failed pod template.
	// +optional
	Rollout RolloutStatus `json:"rollout,omitzero"`

	// Inventory lists the objects in the Instance's namespace that the Instance owns.
	// +optional
	// +listType=atomic
	Inventory []InventoryEntry `json:"inventory,omitempty"`
}

// ServerBuild is a server image and the revision of the manifests that the operator
// generates for it. An Instance keeps its build until the rollout of a new build
// reaches it.
type ServerBuild struct {
	// Image of the server.
	Image string `json:"image"`
	// Revision of the manifests that the operator generates for the image. An operator
	// upgrade that changes the manifests increases the revision.
	Revision int32 `json:"revision"`
}

// RolloutStatus records which pod templates, identified by hash, became ready or
// failed.
type RolloutStatus struct {
	// LastReadyTemplateHash is the hash of the pod template that most recently became ready.
	// +optional
	LastReadyTemplateHash string `json:"lastReadyTemplateHash,omitempty"`
	// LastHealthyServer is the server build that most recently became ready on the desired pod
	// template.
	// +optional
	LastHealthyServer ServerBuild `json:"lastHealthyServer,omitzero"`
	// FailedTemplateHash is the hash of the pod template that did not become ready before
	// the deadline. The operator retries it when the spec or the annotation
	// anamnesis.dev/retry changes. Unless failureReason is Server, it also retries
	// automatically, with backoff. Unset during a retry.
	// +optional
	FailedTemplateHash string `json:"failedTemplateHash,omitempty"`
	// FailedGeneration is the generation of the spec from which the failed template was
	// created.
	// +optional
	FailedGeneration int64 `json:"failedGeneration,omitempty"`
	// FailureMessage describes why the pods did not become ready.
	// +optional
	FailureMessage string `json:"failureMessage,omitempty"`
	// FailedServer is the server build of the failed template.
	// +optional
	FailedServer ServerBuild `json:"failedServer,omitzero"`
	// FailedAt is when the operator declared the template failed.
	// +optional
	FailedAt *metav1.Time `json:"failedAt,omitempty"`
	// FailureReason classifies the failure.
	// +optional
	FailureReason FailureReason `json:"failureReason,omitempty"`
	// LastHealthyAt is when the Instance became healthy on lastHealthyServer.
	// +optional
	LastHealthyAt *metav1.Time `json:"lastHealthyAt,omitempty"`
	// Attempts is the number of consecutive automatic retries of a failed template.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// LastHandledRetry is the most recent value of the annotation anamnesis.dev/retry that
	// the operator has handled.
	// +optional
	LastHandledRetry string `json:"lastHandledRetry,omitempty"`
}

// FailureReason classifies a failed rollout.
// +kubebuilder:validation:Enum=Server;Instance;Database;ForeignDatabase
type FailureReason string

const (
	// FailureReasonServer means that the server build failed and would fail for other
	// Instances as well.
	FailureReasonServer FailureReason = "Server"
	// FailureReasonInstance means that the cause is specific to the Instance, such as its
	// volume, quota or nodes.
	FailureReasonInstance FailureReason = "Instance"
	// FailureReasonDatabase means that the Instance's pods cannot reach the database.
	FailureReasonDatabase FailureReason = "Database"
	// FailureReasonDatabaseOwnership means that the Instance's database holds the data of
	// another Instance.
	FailureReasonDatabaseOwnership FailureReason = "ForeignDatabase"
)

// IsInstanceSpecific reports whether the failure affects only this Instance and may be
// transient.
func (r FailureReason) IsInstanceSpecific() bool {
	return r == FailureReasonInstance || r == FailureReasonDatabase || r == FailureReasonDatabaseOwnership
}

// InventoryEntry identifies an object that an Instance owns.
type InventoryEntry struct {
	// Kind of the object, such as Deployment.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
}

// Instance is a tenant: a dedicated API server with its own models, storage,
// credentials and address.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=inst
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Models",type=string,JSONPath=`.status.modelIDs`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Storage",type=string,JSONPath=`.status.storage`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Server",type=string,priority=1,JSONPath=`.status.server.image`
// +kubebuilder:printcolumn:name="Rollout",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="ServerCurrent")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="name must be at most 40 characters"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.tls) || !has(self.spec.tls.extraNames) || self.spec.tls.extraNames.all(n, !n.endsWith('.svc') && !n.endsWith('.cluster.local') || n.split('.', 2)[0] == self.metadata.name)",message="spec.tls.extraNames must not contain cluster-internal names of other Services: the names of the Instance's own Service are always included"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="name must be a valid Service name: lowercase letters, digits and dashes, starting with a letter"
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the Instance.
	Spec InstanceSpec `json:"spec"`

	// Status is the observed state of the Instance.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status InstanceStatus `json:"status,omitempty"`
}

// InstanceList is a list of Instances.
//
// +kubebuilder:object:root=true
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []Instance `json:"items"`
}
