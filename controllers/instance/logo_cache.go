// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/sha256"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A logoValidation is the result of validating a logo. Reading and validating a logo
// take milliseconds each, which would add up across all reconciles.
type logoValidation struct {
	// configMapUID, resourceVersion and key identify the validated content: the UID and
	// resource version of a ConfigMap, and the key in it.
	configMapUID         types.UID
	resourceVersion, key string
	// digest is the digest of the logo in the configuration after the validation.
	digest [sha256.Size]byte
	// err explains why the content was rejected. It is nil if the content was accepted.
	err error
}

// newLogoValidation returns the result of validating the logo under a key of a ConfigMap.
// logo is the logo in the configuration after the validation.
func newLogoValidation(configMap metav1.Object, key, logo string, err error) logoValidation {
	return logoValidation{configMap.GetUID(), configMap.GetResourceVersion(), key, sha256.Sum256([]byte(logo)), err}
}

// isForVersion reports whether the validation covers this version and key of a
// ConfigMap.
func (v logoValidation) isForVersion(configMap metav1.Object, key string) bool {
	return v.configMapUID == configMap.GetUID() && v.resourceVersion == configMap.GetResourceVersion() && v.key == key
}

// isForLogo reports whether the configuration still contains the same logo.
func (v logoValidation) isForLogo(logo string) bool { return v.digest == sha256.Sum256([]byte(logo)) }

// A logoCache holds the last validation of each Instance's logo, by UID. It is safe for
// concurrent use, and its zero value is ready to use.
type logoCache struct{ validations sync.Map }

func (c *logoCache) get(instance types.UID) logoValidation {
	found, _ := c.validations.Load(instance)
	last, _ := found.(logoValidation)
	return last
}

func (c *logoCache) put(instance types.UID, last logoValidation) { c.validations.Store(instance, last) }

func (c *logoCache) delete(instance types.UID) { c.validations.Delete(instance) }
