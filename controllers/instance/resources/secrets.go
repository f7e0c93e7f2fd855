// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Keys of an application's own Secret.
const (
	ApplicationIDKey  = "id"
	ApplicationKeyKey = "key"
)

// Keys of a TLS Secret; the authority is optional in one that is referred to.
const (
	TLSCertificateKey = corev1.TLSCertKey
	TLSPrivateKeyKey  = corev1.TLSPrivateKeyKey
	TLSAuthorityKey   = corev1.ServiceAccountRootCAKey
)

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
// spec names none.
func Applications(instance *v1alpha1.Instance) []v1alpha1.Application {
	if len(instance.Spec.Applications) == 0 {
		return []v1alpha1.Application{{Name: "default"}}
	}
	return instance.Spec.Applications
}

// Credential is an application with the key that it proves itself by.
type Credential struct {
	Application v1alpha1.Application
	Key         string
}

// BuildApplicationSecret tells the people and clients behind one application
// its id and key.
func BuildApplicationSecret(instance *v1alpha1.Instance, credential Credential) *coreapply.SecretApplyConfiguration {
	name := ApplicationSecretName(instance, credential.Application.Name)
	return own(coreapply.Secret(name, instance.Namespace), instance).
		WithType(corev1.SecretTypeOpaque).
		WithData(map[string][]byte{
			ApplicationIDKey:  []byte(credential.Application.Name),
			ApplicationKeyKey: []byte(credential.Key),
		})
}

// credentialFile is one file of the server's --credentials-dir.
type credentialFile struct {
	ID     string           `json:"id"`
	Key    string           `json:"key"`
	Scopes []v1alpha1.Scope `json:"scopes"`
	Plan   string           `json:"plan,omitempty"`
}

// BuildCredentialsSecret tells the server who may call it: one file for each
// application. The server reads them again when they change, so that adding or
// rotating an application restarts nothing.
func BuildCredentialsSecret(instance *v1alpha1.Instance, credentials []Credential) *coreapply.SecretApplyConfiguration {
	files := make(map[string][]byte, len(credentials))
	for _, credential := range credentials {
		files[credential.Application.Name+".json"] = encodeCredential(credential)
	}
	return own(coreapply.Secret(CredentialsSecretName(instance), instance.Namespace), instance).
		WithType(corev1.SecretTypeOpaque).
		WithData(files)
}

func encodeCredential(credential Credential) []byte {
	file := credentialFile{
		ID:     credential.Application.Name,
		Key:    credential.Key,
		Scopes: credential.Application.Scopes,
		Plan:   credential.Application.Plan,
	}
	if len(file.Scopes) == 0 {
		file.Scopes = allScopes
	}
	encoded, err := json.Marshal(file)
	if err != nil {
		panic(fmt.Sprintf("strings can always be encoded: %v", err))
	}
	return encoded
}

// BuildSigningKeysSecret holds the keys that sign tokens, PKCS#8 in PEM, by key
// id. Of several the last by name signs, and all verify.
func BuildSigningKeysSecret(instance *v1alpha1.Instance, keys map[string][]byte) *coreapply.SecretApplyConfiguration {
	files := make(map[string][]byte, len(keys))
	for id, key := range keys {
		files[id+".pem"] = key
	}
	return own(coreapply.Secret(SigningKeysSecretName(instance), instance.Namespace), instance).
		WithType(corev1.SecretTypeOpaque).
		WithData(files)
}

// Certificate is what the server proves itself by, in PEM.
type Certificate struct {
	Chain      []byte
	PrivateKey []byte
	// Authority that clients must trust.
	Authority []byte
}

// BuildTLSSecret holds the certificate that the operator made; nil when the
// spec refers to one that somebody else makes.
func BuildTLSSecret(instance *v1alpha1.Instance, certificate Certificate) *coreapply.SecretApplyConfiguration {
	if instance.Spec.TLS != nil {
		return nil
	}
	return own(coreapply.Secret(TLSSecretName(instance), instance.Namespace), instance).
		WithType(corev1.SecretTypeTLS).
		WithData(map[string][]byte{
			TLSCertificateKey: certificate.Chain,
			TLSPrivateKeyKey:  certificate.PrivateKey,
			TLSAuthorityKey:   certificate.Authority,
		})
}
