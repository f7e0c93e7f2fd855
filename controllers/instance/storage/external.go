// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonDatabaseConfigured     = "DatabaseConfigured"
	reasonDatabaseSecretNotFound = "DatabaseSecretNotFound"
	reasonDatabaseSecretInvalid  = "DatabaseSecretInvalid"
	reasonDatabaseUnverified     = "DatabaseUnverified"
	reasonDatabaseCAInvalid      = "DatabaseCAInvalid"
	reasonDatabaseCANotFound     = "DatabaseCANotFound"
)

// external keeps the data in a PostgreSQL database that is managed outside the operator.
type external struct{}

// Prepare reads and validates the database URL. It does not connect to the database: the
// pods become ready only if they can.
func (external) Prepare(ctx context.Context, scope Scope) (Status, error) {
	spec := scope.Instance.Spec.Storage.External
	name, key := spec.SecretRef.Name, cmp.Or(spec.SecretRef.Key, resources.DatabaseURLKey)
	expected := "a postgres:// URL under the key " + key
	secret, err := scope.GetSecret(ctx, v1alpha1.ConditionStorageReady, reasonDatabaseSecretNotFound, name, expected)
	if err != nil {
		return Status{}, err
	}
	url := string(secret.Data[key])
	if url == "" {
		return Status{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid,
			"Secret %s: key %s is missing or empty: add %s", name, key, expected)
	}
	ports, err := resources.DatabasePortsFromURL(url)
	if err != nil {
		return Status{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid, "Secret %s: %v", name, err)
	}
	caBundle, err := databaseCABundle(ctx, scope, spec.CARef)
	if err != nil {
		return Status{}, err
	}
	status := Status{
		Reason:           reasonDatabaseConfigured,
		Message:          "the database URL is in Secret " + name,
		DatabasePorts:    ports,
		DatabaseChecksum: saltedChecksum(scope.Instance.UID, url+caBundle),
	}
	err = checkDatabaseTLS(scope, url, &status)
	return status, err
}

// checkDatabaseTLS rejects an unverified database connection for a new Instance, unless
// the spec allows it. An existing Instance keeps running, with a warning in its status.
func checkDatabaseTLS(scope Scope, url string, status *Status) error {
	spec := scope.Instance.Spec.Storage.External
	tlsErr := resources.ValidateDatabaseTLS(url)
	switch {
	case tlsErr == nil:
		return nil
	case spec.AllowInsecure:
		status.Message += "; accepted by allowInsecure: " + tlsErr.Error()
		return nil
	case scope.Objects.Deployment() == nil:
		return problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseUnverified, "Secret %s: %v", spec.SecretRef.Name, tlsErr)
	}
	status.Reason = reasonDatabaseUnverified
	status.Message += "; this URL would be rejected for a new Instance: " + tlsErr.Error()
	return nil
}

// databaseCABundle returns the CA bundle that spec.storage.external.caRef references, or
// an empty string if it is unset.
func databaseCABundle(ctx context.Context, scope Scope, reference *v1alpha1.CABundleReference) (string, error) {
	if reference == nil {
		return "", nil
	}
	return scope.GetCABundle(ctx, *reference, cluster.CABundleOptions{
		Condition:      v1alpha1.ConditionStorageReady,
		NotFoundReason: reasonDatabaseCANotFound,
		InvalidReason:  reasonDatabaseCAInvalid,
		Expected:       "the CA certificate of the database",
	})
}

// Release does nothing: the database is managed outside the operator.
func (external) Release(context.Context, Scope) error { return nil }

// saltedChecksum returns a checksum that detects changes of a Secret's content without
// revealing it. The Instance's UID salts it, so that two Instances with the same content
// have different checksums.
func saltedChecksum(instance types.UID, content string) string {
	sum := sha256.Sum256([]byte(string(instance) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}
