// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

const (
	reasonDatabaseConfigured     = "DatabaseConfigured"
	reasonDatabaseSecretNotFound = "DatabaseSecretNotFound"
	reasonDatabaseSecretInvalid  = "DatabaseSecretInvalid"
)

// external keeps the data in a PostgreSQL database that somebody else manages.
type external struct{ spec v1alpha1.ExternalStorage }

func (external) Name() string { return "External" }

// Prepare learns what the pods depend on of the database's URL. Whether the
// database answers, only the pods can tell, by becoming ready.
func (e external) Prepare(ctx context.Context, on Ground) (Place, error) {
	const want = "a postgres:// URL under the key " + resources.DatabaseURLKey
	name := e.spec.SecretRef.Name
	secret, err := on.Secret(ctx, v1alpha1.ConditionStorageReady, reasonDatabaseSecretNotFound, name, want)
	if err != nil {
		return Place{}, err
	}
	url := string(secret.Data[resources.DatabaseURLKey])
	if url == "" {
		return Place{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid,
			"Secret %s has nothing under the key %s: put %s", name, resources.DatabaseURLKey, want)
	}
	ports, err := resources.DatabasePorts(url)
	if err != nil {
		return Place{}, problem.Stalled(v1alpha1.ConditionStorageReady, reasonDatabaseSecretInvalid, "Secret %s: %v", name, err)
	}
	return Place{
		Reason:           reasonDatabaseConfigured,
		Message:          "the database's URL is in Secret " + name,
		DatabasePorts:    ports,
		DatabaseChecksum: checksum(on.Instance.UID, url),
	}, nil
}

// Release leaves the database to those who manage it.
func (external) Release(context.Context, Ground) error { return nil }

// checksum tells contents of a Secret apart without giving them away; it is
// salted, so that two Instances with the same content do not show it.
func checksum(instance types.UID, content string) string {
	sum := sha256.Sum256([]byte(string(instance) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}
