// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// Keys of an application's own Secret.
const (
	ApplicationIDKey  = "id"
	ApplicationKeyKey = "key"
	ApplicationURLKey = "url"
)

// TLSAuthorityKey is the key of a TLS Secret whose value is the certificate of
// the authority that clients must trust.
const TLSAuthorityKey = corev1.ServiceAccountRootCAKey

// allScopes is what an application may do that names no scopes. They are
// written out, so that the server never has to guess what an empty list means.
var allScopes = []v1alpha1.Scope{
	"knowledge:read",
	"question:read", "question:write",
	"survey:read", "survey:write",
	"config:read", "config:write",
	"user:read", "user:write",
	"patient:read", "patient:write",
}

// Applications are those of the spec, or the one that an Instance has when its
// spec names none. Scopes that are left out are filled in.
func Applications(instance *v1alpha1.Instance) []v1alpha1.Application {
	if len(instance.Spec.Applications) == 0 {
		return []v1alpha1.Application{withScopes(v1alpha1.Application{Name: "default"})}
	}
	applications := make([]v1alpha1.Application, len(instance.Spec.Applications))
	for i, application := range instance.Spec.Applications {
		applications[i] = withScopes(application)
	}
	return applications
}

// OperatorName is the id of the application by which the server knows the operator.
// No application of a spec is called so.
const OperatorName = "operator"

// KnownApplications are those that the server is told of: the Instance's, and the
// operator itself, which may look after configurations and do nothing else.
func KnownApplications(in Input) []v1alpha1.Application {
	applications := Applications(in.Instance)
	if !in.has(sendsWebhooks) {
		return applications
	}
	return append(applications, v1alpha1.Application{Name: OperatorName, Scopes: []v1alpha1.Scope{"config:read", "config:write"}})
}

func withScopes(application v1alpha1.Application) v1alpha1.Application {
	if len(application.Scopes) == 0 {
		application.Scopes = allScopes
	}
	return application
}

// defaultKeyOverlap is how long a key stays good after another one is shown, where
// the spec says nothing else: clients read their Secret again once a day.
const defaultKeyOverlap = 24 * time.Hour

// KeyOverlap is how long a key of an application stays good after another one is
// shown in its place; zero revokes it at once.
func KeyOverlap(instance *v1alpha1.Instance) time.Duration {
	if instance.Spec.KeyOverlap == nil {
		return defaultKeyOverlap
	}
	return instance.Spec.KeyOverlap.Duration
}

// BuildApplicationSecret tells the people and clients behind one application
// its id and key, where the Instance is, and by which authority it proves itself,
// where that is none of the public ones.
func BuildApplicationSecret(in Input, application v1alpha1.Application, key string) *coreapply.SecretApplyConfiguration {
	content := map[string][]byte{
		ApplicationIDKey:  []byte(application.Name),
		ApplicationKeyKey: []byte(key),
	}
	if in.has(tellsClients) {
		content[ApplicationURLKey] = []byte(PublicURL(in.Instance))
		if len(in.Authority) > 0 {
			content[TLSAuthorityKey] = in.Authority
		}
	}
	return secret(in, ApplicationSecretName(in.Instance, application.Name), corev1.SecretTypeOpaque, content)
}

// credentialFile is one file of the server's --credentials-dir.
type credentialFile struct {
	ID  string `json:"id"`
	Key string `json:"key"`
	// Keys are further ones that are good.
	Keys   []string         `json:"keys,omitempty"`
	Scopes []v1alpha1.Scope `json:"scopes"`
	Plan   string           `json:"plan,omitempty"`
	// DevMode is left out unless it is set: what is written to tenants that do not
	// use it stays as it was.
	DevMode bool `json:"devMode,omitempty"`
}

// BuildCredentialsSecret tells the server who may call it: one file for each of
// KnownApplications, with its keys by application name. An application
// without a key is left out, since an empty key must never open anything. notes are
// annotations, which must hold no key.
func BuildCredentialsSecret(in Input, keys map[string]pki.ApplicationKeys, notes map[string]string) *coreapply.SecretApplyConfiguration {
	files := make(map[string][]byte, len(keys))
	for _, application := range KnownApplications(in) {
		if known := keys[application.Name]; known.Key != "" {
			files[application.Name+".json"] = encodeCredential(application, known)
		}
	}
	return noted(asData(in, secret(in, CredentialsName(in.Instance), corev1.SecretTypeOpaque, files)), notes)
}

// KeysIn are the keys of an application in the content of the credentials Secret;
// empty for none.
func KeysIn(content map[string][]byte, application string) pki.ApplicationKeys {
	var credential credentialFile
	if json.Unmarshal(content[application+".json"], &credential) != nil {
		return pki.ApplicationKeys{}
	}
	return pki.ApplicationKeys{Key: credential.Key, Others: credential.Keys}
}

// noted is a Secret with annotations, leaving out those without a value.
func noted(secret *coreapply.SecretApplyConfiguration, notes map[string]string) *coreapply.SecretApplyConfiguration {
	if notes = annotations(maps.Clone(notes)); len(notes) == 0 {
		return secret
	}
	return secret.WithAnnotations(notes)
}

func encodeCredential(application v1alpha1.Application, known pki.ApplicationKeys) []byte {
	encoded, err := json.Marshal(credentialFile{
		ID:      application.Name,
		Key:     known.Key,
		Keys:    known.Others,
		Scopes:  application.Scopes,
		Plan:    application.Plan,
		DevMode: application.DevMode,
	})
	if err != nil {
		panic(fmt.Sprintf("strings can always be encoded: %v", err))
	}
	return encoded
}

// BuildSigningKeysSecret holds the keys that sign tokens: PKCS#8 in PEM, by
// file name <kid>.pem. All verify; which of several signs, their headers say, else
// their names. notes are annotations.
func BuildSigningKeysSecret(in Input, files map[string][]byte, notes map[string]string) *coreapply.SecretApplyConfiguration {
	return noted(asData(in, secret(in, SigningKeysName(in.Instance), corev1.SecretTypeOpaque, files)), notes)
}

// BuildTLSSecret holds what the server proves itself by, in PEM: certificate
// chain, private key, and the authority that clients must trust, which is left
// out when there is none.
func BuildTLSSecret(in Input, certificate, key, authority []byte) *coreapply.SecretApplyConfiguration {
	files := map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	if len(authority) > 0 {
		files[TLSAuthorityKey] = authority
	}
	return secret(in, TLSName(in.Instance), corev1.SecretTypeTLS, files)
}

func secret(in Input, name string, kind corev1.SecretType, data map[string][]byte) *coreapply.SecretApplyConfiguration {
	return coreapply.Secret(name, in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithType(kind).
		WithData(data)
}
