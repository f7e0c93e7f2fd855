// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TemplateHash tells pod templates of Deployments apart: two templates with
// the same fields have the same hash. It is short enough for a label.
func TemplateHash(deployment *appsapply.DeploymentApplyConfiguration) string {
	return hash(deployment.Spec.Template)
}

// SecretChecksum tells contents of a Secret apart without giving them away. It
// is salted with the Instance's UID, so that two Instances with the same
// content do not show it.
func SecretChecksum(instance *v1alpha1.Instance, content string) string {
	sum := sha256.Sum256([]byte(string(instance.UID) + "\x00" + content))
	return hex.EncodeToString(sum[:])
}

// hash is the beginning of the SHA-256 of an apply configuration's JSON, which
// is the same for the same fields: encoding/json orders maps by key.
func hash(configuration any) string {
	encoded, err := json.Marshal(configuration)
	if err != nil {
		panic(fmt.Sprintf("apply configurations can always be encoded: %v", err))
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:hashLength]
}
