// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
)

const (
	reasonDatabaseConfigured        = "DatabaseConfigured"
	reasonDatabaseSecretNotFound    = "DatabaseSecretNotFound"
	reasonDatabaseSecretInvalid     = "DatabaseSecretInvalid"
	reasonDatabaseNotVerified       = "DatabaseNotVerified"
	reasonDatabaseAuthorityInvalid  = "DatabaseAuthorityInvalid"
	reasonDatabaseAuthorityNotFound = "DatabaseAuthorityNotFound"
)

// external keeps the data in a PostgreSQL database that somebody else manages.
type external struct{}

// Prepare learns what the pods depend on of the database's URL. Whether the
// database answers, only the pods can tell, by becoming ready.
func (external) Prepare(ctx context.Context, on Ground) (Place, error) {
	spec := on.Instance.Spec.Storage.External
	name, key := spec.SecretRef.Name, cmp.Or(spec.SecretRef.Key, resources.DatabaseURLKey)
	want := "a postgres:// URL under the key " + key
	secret, err := on.Secret(ctx, v1alpha1.ConditionStorageReady, reasonDatabaseSecretNotFound, name, want)
	if err != nil {
		return Place{}, err
	}
	url := string(secret.Data[key])
	if url == "" {
		return Place{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid,
			"Secret %s has nothing under the key %s: put %s", name, key, want)
	}
	ports, err := resources.DatabasePorts(url)
	if err != nil {
		return Place{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid, "Secret %s: %v", name, err)
	}
	authorities, err := databaseAuthorities(ctx, on, spec.CARef)
	if err != nil {
		return Place{}, err
	}
	place := Place{
		Reason:           reasonDatabaseConfigured,
		Message:          "the database's URL is in Secret " + name,
		DatabasePorts:    ports,
		DatabaseChecksum: checksum(on.Instance.UID, url+authorities),
	}
	err = judgeTrust(on, url, &place)
	return place, err
}

// judgeTrust refuses a first start with a database that is not verified, unless
// the spec accepts that. One that serves already goes on, and is told of.
func judgeTrust(on Ground, url string, place *Place) error {
	spec := on.Instance.Spec.Storage.External
	weakness := resources.CheckDatabaseIsVerified(url)
	switch {
	case weakness == nil:
		return nil
	case spec.AllowInsecure:
		place.Message += "; allowInsecure accepts this: " + weakness.Error()
		return nil
	case on.Children.Deployment() == nil:
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseNotVerified, "Secret %s: %v", spec.SecretRef.Name, weakness)
	}
	place.Reason = reasonDatabaseNotVerified
	place.Message += ", and a new Instance would be refused it: " + weakness.Error()
	return nil
}

// databaseAuthorities gives the certificates that spec.storage.external.caRef
// names; none without it.
func databaseAuthorities(ctx context.Context, on Ground, reference *v1alpha1.CertificateReference) (string, error) {
	if reference == nil {
		return "", nil
	}
	return on.Certificates(ctx, *reference, surroundings.CertificateUse{
		Condition: v1alpha1.ConditionStorageReady,
		NotFound:  reasonDatabaseAuthorityNotFound,
		Invalid:   reasonDatabaseAuthorityInvalid,
		Want:      "the certificate of the database's authority",
	})
}

// Release leaves the database to those who manage it.
func (external) Release(context.Context, Ground) error { return nil }

// checksum tells contents of a Secret apart without giving them away; it is
// salted, so that two Instances with the same content do not show it.
func checksum(instance types.UID, content string) string {
	sum := sha256.Sum256([]byte(string(instance) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}
