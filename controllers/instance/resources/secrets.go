// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// Keys of an application's own Secret.
const (
	ApplicationIDKey  = "id"
	ApplicationKeyKey = "key"
	ApplicationURLKey = "url"
)

// TLSCAKey is the key of the CA bundle in a TLS Secret.
const TLSCAKey = corev1.ServiceAccountRootCAKey

// defaultScopes are the scopes of an application without scopes in the spec. They are
// explicit, so that the server never has to interpret an empty list.
var defaultScopes = []v1alpha1.Scope{
	"knowledge:read",
	"question:read", "question:write",
	"survey:read", "survey:write",
	"config:read", "config:write",
	"user:read", "user:write",
	"patient:read", "patient:write",
}

// Applications returns the applications of the spec with default scopes filled in. If the
// spec has none, it returns the default application.
func Applications(instance *v1alpha1.Instance) []v1alpha1.Application {
	if len(instance.Spec.Applications) == 0 {
		return []v1alpha1.Application{withDefaultScopes(v1alpha1.Application{Name: "default"})}
	}
	applications := make([]v1alpha1.Application, len(instance.Spec.Applications))
	for i, application := range instance.Spec.Applications {
		applications[i] = withDefaultScopes(application)
	}
	return applications
}

// OperatorApplicationName is the application id of the operator on the server. Applications
// in a spec must not use it.
const OperatorApplicationName = "operator"

// ServerApplications returns the applications configured on the server: the Instance's
// applications, and the operator itself, which may only manage configurations.
func ServerApplications(instance *v1alpha1.Instance) []v1alpha1.Application {
	return append(Applications(instance), v1alpha1.Application{Name: OperatorApplicationName, Scopes: []v1alpha1.Scope{"config:read", "config:write"}})
}

func withDefaultScopes(application v1alpha1.Application) v1alpha1.Application {
	if len(application.Scopes) == 0 {
		application.Scopes = defaultScopes
	}
	return application
}

// defaultKeyOverlap is how long a key stays valid after its replacement is published,
// unless the spec sets a duration. Clients are expected to reread their Secret once a
// day.
const defaultKeyOverlap = 24 * time.Hour

// KeyOverlap returns how long an application's key stays valid after its replacement is
// published. Zero revokes the old key immediately.
func KeyOverlap(instance *v1alpha1.Instance) time.Duration {
	if instance.Spec.KeyOverlap == nil {
		return defaultKeyOverlap
	}
	return instance.Spec.KeyOverlap.Duration
}

// BuildApplicationSecret returns the Secret with an application's id and key for its users
// and clients, the Instance's URL and, unless a public CA issued the certificate, the CA
// bundle.
func BuildApplicationSecret(in Input, application v1alpha1.Application, key string) *coreapply.SecretApplyConfiguration {
	content := map[string][]byte{
		ApplicationIDKey:  []byte(application.Name),
		ApplicationKeyKey: []byte(key),
		ApplicationURLKey: []byte(PublicURL(in.Instance)),
	}
	if len(in.CABundle) > 0 {
		content[TLSCAKey] = in.CABundle
	}
	return newSecret(in, ApplicationSecretName(in.Instance, application.Name), corev1.SecretTypeOpaque, content)
}

// BuildCredentialsSecret returns the Secret with the server's credentials: one file for
// each of ServerApplications. keys maps application names to keys. Applications without a
// key are omitted, because an empty key must never grant access. annotations must not
// contain keys.
func BuildCredentialsSecret(in Input, keys map[string]pki.ApplicationKeys, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	files := make(map[string][]byte, len(keys))
	for _, application := range ServerApplications(in.Instance) {
		if applicationKeys := keys[application.Name]; applicationKeys.Current != "" {
			files[credentialsFileName(application.Name)] = encodeCredentials(application, applicationKeys)
		}
	}
	return withAnnotations(markRetained(in, newSecret(in, CredentialsSecretName(in.Instance), corev1.SecretTypeOpaque, files)), annotations)
}

// credentialsFileName returns the name of the file with an application's credentials.
func credentialsFileName(application string) string {
	return application + configv1alpha1.CredentialsExtension
}

// ParseApplicationKeys returns an application's keys from the content of the credentials
// Secret, or the zero value.
func ParseApplicationKeys(content map[string][]byte, application string) pki.ApplicationKeys {
	credentials, err := configv1alpha1.DecodeApplicationCredentials(content[credentialsFileName(application)])
	if err != nil {
		return pki.ApplicationKeys{}
	}
	return pki.ApplicationKeys{Current: credentials.Key, Additional: credentials.Keys}
}

// withAnnotations returns a Secret with annotations, omitting those without a value.
func withAnnotations(secret *coreapply.SecretApplyConfiguration, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	if annotations = dropEmpty(maps.Clone(annotations)); len(annotations) == 0 {
		return secret
	}
	return secret.WithAnnotations(annotations)
}

func encodeCredentials(application v1alpha1.Application, keys pki.ApplicationKeys) []byte {
	return configv1alpha1.EncodeApplicationCredentials(configv1alpha1.ApplicationCredentials{
		ID:      application.Name,
		Key:     keys.Current,
		Keys:    keys.Additional,
		Scopes:  toStringSlice(application.Scopes),
		Plan:    application.Plan,
		DevMode: application.DevMode,
	})
}

// BuildSigningKeysSecret returns the Secret with the token signing keys, as PKCS#8 in PEM,
// in files named <kid>.pem. The server verifies tokens with all keys. The PEM headers, or
// else the file names, determine the key that signs.
func BuildSigningKeysSecret(in Input, files map[string][]byte, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	return withAnnotations(markRetained(in, newSecret(in, SigningKeysSecretName(in.Instance), corev1.SecretTypeOpaque, files)), annotations)
}

// BuildTLSSecret returns the Secret with the server's TLS files in PEM: the certificate
// chain, the private key and, unless empty, the CA bundle.
func BuildTLSSecret(in Input, certificate, key, caBundle []byte) *coreapply.SecretApplyConfiguration {
	files := map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	if len(caBundle) > 0 {
		files[TLSCAKey] = caBundle
	}
	return newSecret(in, TLSSecretName(in.Instance), corev1.SecretTypeTLS, files)
}

func newSecret(in Input, name string, secretType corev1.SecretType, data map[string][]byte) *coreapply.SecretApplyConfiguration {
	return coreapply.Secret(name, in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithType(secretType).
		WithData(data)
}
