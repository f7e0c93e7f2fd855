// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types of an Instance. Ready, Reconciling and Stalled follow the
// kstatus convention; the others say which part is, or is not, as wished.
const (
	// ConditionReady is True when the Instance serves as its spec says.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator is working towards the
	// spec; it is absent otherwise.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when nothing goes on until somebody changes
	// something; its message says what. It is absent otherwise.
	ConditionStalled = "Stalled"
	// ConditionStorageReady is True when the Instance's data has a place.
	ConditionStorageReady = "StorageReady"
	// ConditionModelsReady is True when the image was found to hold the models
	// of the spec, and their versions are pinned.
	ConditionModelsReady = "ModelsReady"
	// ConditionAvailable is True while at least one pod serves, whether or not
	// it is as the spec says.
	ConditionAvailable = "Available"
	// ConditionDiverged is True while somebody, such as a mutating policy, holds
	// objects of the Instance otherwise than the operator sends them. It is absent
	// otherwise. The operator lets it be so.
	ConditionDiverged = "Diverged"
	// ConditionKeysTurning is True while keys that somebody asked to be turned, or
	// that are old, turn or wait to; its message says until when, or for what. It is
	// absent otherwise. Ready does not depend on it.
	ConditionKeysTurning = "KeysTurning"
	// ConditionNotificationsReady is True when the server can send messages to people.
	// Ready does not depend on it.
	ConditionNotificationsReady = "NotificationsReady"
	// ConditionWebhooksReady is True when the authorities are known that receivers of
	// webhooks prove themselves by. It is absent where the spec names none. Ready does
	// not depend on it.
	ConditionWebhooksReady = "WebhooksReady"
	// ConditionPageReady is True when the pages that patients see look as the spec
	// says. It is absent where the spec says nothing of them. Ready does not depend on
	// it.
	ConditionPageReady = "PageReady"
	// ConditionServerCurrent is True when the Instance is well with the build of
	// the server that all are to have; its reason says what keeps it from that,
	// or how far it has come. Ready does not depend on it.
	ConditionServerCurrent = "ServerCurrent"
)

// DeletionPolicy says what becomes of an Instance's data when it is deleted.
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionPolicyRetain leaves the data behind, to be taken up with
	// AdoptAnnotation.
	DeletionPolicyRetain DeletionPolicy = "Retain"
	// DeletionPolicyDelete deletes the data together with the Instance.
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// Scope is one kind of access that an application may have.
// +kubebuilder:validation:Enum="knowledge:read";"question:read";"question:write";"survey:read";"survey:write";"config:read";"config:write";"user:read";"user:write";"patient:read";"patient:write"
type Scope string

// InstanceSpec is what a tenant is meant to be.
// +kubebuilder:validation:XValidation:rule="!has(self.applications) || self.applications.all(a, !has(a.plan) || a.plan == 'trial' || (has(self.plans) && self.plans.exists(p, p.name == a.plan)))",message="an application has a plan that is not there: name one of plans, or trial"
// +kubebuilder:validation:XValidation:rule="!has(self.storage.embedded) || self.replicas <= 1",message="embedded storage has a single writer: set replicas to 1, or use external storage"
type InstanceSpec struct {
	// Models that the Instance serves. The first is the default.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=id
	Models []Model `json:"models"`

	// Storage says where the Instance's data lives. Its kind cannot change.
	Storage Storage `json:"storage"`

	// Replicas is the number of pods that serve. Embedded storage allows one.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`

	// TLS brings a certificate, or says what the one that the operator issues is
	// good for. Left out, the operator's own authority issues one and renews it.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// Applications that may call the Instance. Each gets a Secret
	// <instance>-app-<name> with its id and key. Left out: one, named default,
	// with all scopes.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Applications []Application `json:"applications,omitempty"`

	// KeyOverlap is how long a key of an application stays good after another one is
	// shown in its place, as 24h or 1h30m, up to 720h. With 0s it is revoked at once.
	// Left out: 24h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]{1,4}(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('720h')",message="a key that was replaced may stay good for 720h, and no longer"
	KeyOverlap *metav1.Duration `json:"keyOverlap,omitempty"`

	// Plans limit how often applications may call. The plan trial is always
	// there: left out, it allows 100 calls a month to each service. Limits reach
	// a running server without a restart.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Plans []Plan `json:"plans,omitempty"`

	// URL is the public address of the Instance, such as https://acme.example: in
	// links that people are sent, in tokens, and in the Secrets of applications. It
	// reaches a running server without a restart. Left out: the address of its
	// Service.
	// +optional
	URL PublicURL `json:"url,omitempty"`

	// TrustedProxies are the networks whose proxies are believed when they say for
	// whom they ask. Left out: nobody is. They reach a running server without a
	// restart.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	TrustedProxies []CIDR `json:"trustedProxies,omitempty"`

	// CORS says which web pages may call the Instance from a browser.
	// +optional
	CORS *CORS `json:"cors,omitempty"`

	// Notifications say by what the server sends messages to people, such as codes
	// to sign in with. Left out: it sends none.
	// +optional
	Notifications *Notifications `json:"notifications,omitempty"`

	// Features are what surveys may do. They reach a running server without a restart.
	// +optional
	Features *Features `json:"features,omitempty"`

	// Webhooks says where the server may send webhooks. Left out: to port 443 of
	// public addresses. It reaches a running server without a restart.
	// +optional
	Webhooks *Webhooks `json:"webhooks,omitempty"`

	// Retention says how long the server keeps what it need not keep for ever. It
	// reaches a running server without a restart.
	// +optional
	Retention *Retention `json:"retention,omitempty"`

	// Page is how the pages look that patients see, and where they lead. It reaches a
	// running server without a restart.
	// +optional
	Page *Page `json:"page,omitempty"`

	// Resources of the container that serves. Left out: defaults that suit a
	// small tenant.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported"
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Rollout says how and when changes replace the pods. Left out: at once, each
	// change within 10 minutes.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// Pods says where the pods run, under which user, and what they carry for
	// others in the cluster. Left out: anywhere, under the user of the image.
	// +optional
	Pods *Pods `json:"pods,omitempty"`

	// Suspend leaves everything as it is: nothing is reconciled.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Hibernate runs no pods and keeps the data.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// DeletionPolicy says what becomes of the data when the Instance is deleted.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Model is one medical model in one language, at one version.
type Model struct {
	// ID of the model, such as service-en.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(-[a-z0-9]+)*$`
	ID string `json:"id"`

	// Version of the model, a UTC time such as 2026-11-21T00:00:00Z. Left out:
	// the newest in the server image, pinned in the status until the image or
	// this field changes.
	// +optional
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Version string `json:"version,omitempty"`
}

// Storage names exactly one place for the data.
// +kubebuilder:validation:XValidation:rule="has(self.embedded) != has(self.external)",message="choose exactly one kind of storage: embedded or external"
// +kubebuilder:validation:XValidation:rule="has(self.embedded) == has(oldSelf.embedded)",message="the kind of storage cannot change: make a new Instance and move the data"
type Storage struct {
	// Embedded keeps the data in a database file on a volume of its own.
	// +optional
	Embedded *EmbeddedStorage `json:"embedded,omitempty"`

	// External keeps the data in a PostgreSQL database that somebody else
	// manages.
	// +optional
	External *ExternalStorage `json:"external,omitempty"`
}

// EmbeddedStorage is a volume that the operator claims.
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="the storage class of a volume cannot change: make a new Instance and move the data"
type EmbeddedStorage struct {
	// Size of the volume. It may grow where the storage class allows it, and
	// cannot shrink.
	// +optional
	// +kubebuilder:default="1Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="the size must be greater than zero"
	Size resource.Quantity `json:"size,omitzero"`

	// StorageClassName of the volume. Left out: the default class of the
	// cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`

	// AccessMode of the volume: ReadWriteOnce, or ReadWriteOncePod where the
	// storage class has it, by which Kubernetes itself never lets two pods write.
	// It is chosen when the Instance is made.
	// +optional
	// +kubebuilder:default=ReadWriteOnce
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteOncePod
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the access mode of a volume cannot change: make a new Instance and move the data"
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
}

// ExternalStorage is a database that somebody else manages.
type ExternalStorage struct {
	// SecretRef names a Secret in the Instance's namespace, and the key that
	// holds a postgres:// URL, such as
	// postgres://user:password@host:5432/database?sslmode=verify-full. The pods
	// are replaced when the URL changes.
	SecretRef SecretKeyReference `json:"secretRef"`

	// CARef names the certificates of the authorities that the database's
	// certificate is checked against, in PEM. Left out: those of the server image,
	// which are the public ones. A sslrootcert in the URL counts instead of either.
	// The pods are replaced when the certificates change.
	// +optional
	CARef *CertificateReference `json:"caRef,omitempty"`

	// CIDRs are the networks that the database is in. The pods reach its ports
	// there and nowhere else, so name the addresses of pods for a database in
	// this cluster. Left out: at any address. Those of the Kubernetes API and of
	// the cloud's metadata are never among them.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	CIDRs []CIDR `json:"cidrs,omitempty"`

	// AllowInsecure accepts a URL by which the database is not proven to be the
	// one that is meant, or by which others can read along: one whose sslmode is
	// weaker than verify-full. PostgreSQL's own default, prefer, is.
	// +optional
	AllowInsecure bool `json:"allowInsecure,omitempty"`
}

// CIDR is a network such as 10.20.0.0/16 or 2001:db8::/32.
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="a network is an address and the length of its prefix, with zeros behind that: such as 10.20.0.0/16, or 10.20.30.40/32 for one address"
type CIDR string

// PublicURL is an address such as https://acme.example, without a path.
// +kubebuilder:validation:MaxLength=261
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname().size() > 0 && self.matches('^https://[^/?#@]+$')",message="a public address is https:// and a host with, if any, its port: such as https://acme.example; people and their tokens would be read along over http"
type PublicURL string

// TLS is where the certificate comes from.
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || !has(self.extraNames) || self.extraNames.size() == 0",message="the certificate you bring has the names it has: leave extraNames out, or secretRef to have one issued for them"
type TLS struct {
	// SecretRef names a Secret in the Instance's namespace with tls.crt,
	// tls.key and, for clients, ca.crt. Left out, the operator issues the
	// certificate.
	// +optional
	SecretRef SecretReference `json:"secretRef,omitzero"`

	// ExtraNames are DNS names that the certificate is good for besides those of
	// the Service, <instance>.<namespace>.svc with and without the domain of the
	// cluster; "*." at the beginning stands for one label. An authority of the
	// Instance's own issues the certificate then, which clients trust for these
	// names and no others. Names that are added later wait until clients have had
	// the new ca.crt for a day.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`
	// +listType=set
	ExtraNames []string `json:"extraNames,omitempty"`
}

// SecretReference names a Secret in the Instance's namespace.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretKeyReference names one key of a Secret in the Instance's namespace.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key of the Secret whose value is meant.
	// +optional
	// +kubebuilder:default=url
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// CertificateReference names certificates in the Instance's namespace, which are
// no secret and may be in a ConfigMap too.
type CertificateReference struct {
	// Kind of the object: Secret or ConfigMap.
	// +optional
	// +kubebuilder:default=Secret
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Kind string `json:"kind,omitempty"`

	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key whose value is the certificates in PEM.
	// +optional
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// Application is a program that calls the Instance with an id and a key.
type Application struct {
	// Name of the application; it is also the id that it sends. The name operator
	// is reserved.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self != 'operator'",message="the name operator is reserved for the operator itself: name the application otherwise"
	Name string `json:"name"`

	// Scopes of the application. Left out: all.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Scopes []Scope `json:"scopes,omitempty"`

	// Plan whose limits hold for the application: one of the Instance's plans,
	// or trial. Left out: no limits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Plan string `json:"plan,omitempty"`

	// DevMode lets the application send Dev-Mode: true, with which a call counts in
	// no usage figure and its feedback is not kept. Of other applications the
	// header is ignored.
	// +optional
	DevMode bool `json:"devMode,omitempty"`
}

// Plan is what each of its applications may call.
type Plan struct {
	// Name of the plan, by which applications refer to it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// MonthlyCalls are the limits, for each application by itself. Left out: no
	// limits.
	// +optional
	MonthlyCalls MonthlyCalls `json:"monthlyCalls,omitzero"`
}

// MonthlyCalls are how many calls an application may make to each service in a
// calendar month of UTC. A service that is left out has no limit; one with 0 may
// not be called.
type MonthlyCalls struct {
	// Explain limits calls to /v3/explain.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Explain *int64 `json:"explain,omitempty"`

	// Suggest limits calls to /v3/suggest and /v3/red_flags, which count
	// together.
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

// CORS says which web pages may call the Instance from a browser.
type CORS struct {
	// AllowedOrigins are scheme, host and, if any, port, such as
	// https://portal.example; "*" allows every page.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*|https?://[a-zA-Z0-9.\-\[\]:]+)$`
	// +listType=set
	AllowedOrigins []string `json:"allowedOrigins"`
}

// Notifications are the ways by which people are sent messages.
// +kubebuilder:validation:XValidation:rule="has(self.smtp) || has(self.sms)",message="name a sender, smtp or sms or both, or leave notifications out"
type Notifications struct {
	// SMTP is a mail server, as a Secret describes it: host, from and, where needed,
	// port (587, or 465 with tls), username, password, tls (starttls or tls) and
	// ca.crt.
	// +optional
	SMTP *NotificationSender `json:"smtp,omitempty"`

	// SMS is a gateway for text messages, as a Secret describes it: url (https), body
	// with {to} and {text} in it and, where needed, headers (lines Name: value),
	// contentType (application/json or application/x-www-form-urlencoded) and ca.crt.
	// +optional
	SMS *NotificationSender `json:"sms,omitempty"`
}

// NotificationSender is described by a Secret.
type NotificationSender struct {
	// SecretRef names a Secret in the Instance's namespace. What it holds reaches a
	// running server without a restart.
	SecretRef SecretReference `json:"secretRef"`
}

// Features are what a tenant turns on and off.
type Features struct {
	// Prefill lets applications begin surveys with what is known of the patient.
	// Left out: they may not.
	// +optional
	Prefill *Prefill `json:"prefill,omitempty"`

	// PatientResults says whether end users see what their surveys come to. Left
	// out: they do.
	// +optional
	PatientResults *bool `json:"patientResults,omitempty"`
}

// Prefill is how surveys begin with what is known.
// +kubebuilder:validation:XValidation:rule="self.enabled || !has(self.confirm) || !self.confirm",message="there is nothing to confirm where prefilling is off: set enabled too"
type Prefill struct {
	// Enabled says whether surveys may be made with evidence.
	Enabled bool `json:"enabled"`

	// Confirm has patients confirm it; else it is not asked for.
	// +optional
	Confirm bool `json:"confirm,omitempty"`
}

// InstanceStatus is what the operator last saw of a tenant.
type InstanceStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks
	// of; -1 until the operator has seen the Instance.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, Reconciling, Stalled, StorageReady, ModelsReady,
	// Available, Diverged, KeysTurning, NotificationsReady, WebhooksReady, PageReady,
	// ServerCurrent.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// URL of the Instance: that of its spec, else its address inside the cluster.
	// +optional
	URL string `json:"url,omitempty"`

	// Server is the build of the server pinned for this Instance.
	// +optional
	Server ServerPin `json:"server,omitzero"`

	// Models that the preflight check found, at the versions pinned.
	// +optional
	// +listType=map
	// +listMapKey=id
	Models []Model `json:"models,omitempty"`

	// ModelIDs is the ids of Models in one line, for kubectl get.
	// +optional
	ModelIDs string `json:"modelIDs,omitempty"`

	// Storage is the kind of storage in use, for kubectl get.
	// +optional
	Storage string `json:"storage,omitempty"`

	// Encrypted says that the server was given keysets, without which nobody can
	// read what it encrypted.
	// +optional
	Encrypted bool `json:"encrypted,omitempty"`

	// Replicas is the number of pods there are.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of pods that serve.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Rollout remembers which pod template was good and which was not.
	// +optional
	Rollout Rollout `json:"rollout,omitzero"`

	// Inventory lists the objects in the Instance's namespace that belong to
	// it, as found there.
	// +optional
	// +listType=atomic
	Inventory []InventoryEntry `json:"inventory,omitempty"`
}

// ServerPin is the build of the server that an Instance keeps until it is its
// turn to move.
type ServerPin struct {
	// Image of the server.
	Image string `json:"image"`
	// Revision of the objects that the operator builds around the image.
	Revision int32 `json:"revision"`
}

// Rollout is the operator's memory of pod templates, by their hash.
type Rollout struct {
	// LastReady is the template that last became ready.
	// +optional
	LastReady string `json:"lastReady,omitempty"`
	// ProvenServer is the build of the server that the spec was last fulfilled
	// with.
	// +optional
	ProvenServer ServerPin `json:"provenServer,omitzero"`
	// Failed is the template that did not become ready in time. It is tried again
	// when the spec or RetryAnnotation changes, and by itself unless FailedCause is
	// Server; while it is tried again it is not failed.
	// +optional
	Failed string `json:"failed,omitempty"`
	// FailedGeneration is the generation of the spec that Failed was made from.
	// +optional
	FailedGeneration int64 `json:"failedGeneration,omitempty"`
	// FailedBecause is what kept the pods of Failed from becoming ready.
	// +optional
	FailedBecause string `json:"failedBecause,omitempty"`
	// FailedServer is the build of the server that Failed was made with.
	// +optional
	FailedServer ServerPin `json:"failedServer,omitzero"`
	// FailedAt is when Failed was given up.
	// +optional
	FailedAt *metav1.Time `json:"failedAt,omitempty"`
	// FailedCause says whose trouble it was that Failed did not become ready.
	// +optional
	FailedCause FailureCause `json:"failedCause,omitempty"`
	// ProvenAt is since when the spec is fulfilled with ProvenServer.
	// +optional
	ProvenAt *metav1.Time `json:"provenAt,omitempty"`
	// Tries is how many times in a row a template that failed was tried again by
	// itself.
	// +optional
	Tries int32 `json:"tries,omitempty"`
	// Retried is the value of RetryAnnotation that was last heeded.
	// +optional
	Retried string `json:"retried,omitempty"`
}

// FailureCause says whose trouble it was that a template did not become ready.
// +kubebuilder:validation:Enum=Server;Tenant;Database;ForeignDatabase
type FailureCause string

const (
	// FailureCauseServer is trouble of the build of the server: others would
	// have it too.
	FailureCauseServer FailureCause = "Server"
	// FailureCauseTenant is trouble of the Instance's own: its volume, its quota,
	// its nodes.
	FailureCauseTenant FailureCause = "Tenant"
	// FailureCauseDatabase is trouble of the Instance's own too: its database does
	// not answer its pods.
	FailureCauseDatabase FailureCause = "Database"
	// FailureCauseForeignDatabase is trouble of the Instance's own as well: its
	// database holds the data of another.
	FailureCauseForeignDatabase FailureCause = "ForeignDatabase"
)

// IsOwn says whether it was trouble of the Instance's own, and may pass by itself.
func (c FailureCause) IsOwn() bool {
	return c == FailureCauseTenant || c == FailureCauseDatabase || c == FailureCauseForeignDatabase
}

// InventoryEntry names one object that belongs to an Instance.
type InventoryEntry struct {
	// Kind of the object, such as Deployment.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
}

// Instance is one tenant: its own API server with its own models, storage,
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
// +kubebuilder:printcolumn:name="Wave",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="ServerCurrent")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="the name is too long for the objects that carry it: at most 40 characters"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.tls) || !has(self.spec.tls.extraNames) || self.spec.tls.extraNames.all(n, !n.endsWith('.svc') && !n.endsWith('.cluster.local') || n.split('.', 2)[0] == self.metadata.name)",message="spec.tls.extraNames has a name inside the cluster that is not this Instance's: leave it out; the certificate is good for the names of its own Service without being asked"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name must start with a letter and hold only lower-case letters, digits and dashes, as the name of a Service"
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the tenant is meant to be.
	Spec InstanceSpec `json:"spec"`

	// Status is what the operator last saw of it.
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
