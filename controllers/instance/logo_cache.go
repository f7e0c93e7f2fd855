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
	// digest is the digest of the logo that the configuration contains since.
	digest [sha256.Size]byte
	// err explains why the content was rejected. It is nil if the content was accepted.
	err error
}

// newLogoValidation records the result of validating a ConfigMap's logo, and the logo
// that the configuration contains since.
func newLogoValidation(found metav1.Object, key, kept string, refusal error) logoValidation {
	return logoValidation{found.GetUID(), found.GetResourceVersion(), key, sha256.Sum256([]byte(kept)), refusal}
}

// isForVersion reports whether the validation covers this version and key of a
// ConfigMap.
func (j logoValidation) isForVersion(found metav1.Object, key string) bool {
	return j.configMapUID == found.GetUID() && j.resourceVersion == found.GetResourceVersion() && j.key == key
}

// isForLogo reports whether the configuration still contains the same logo.
func (j logoValidation) isForLogo(logo string) bool { return j.digest == sha256.Sum256([]byte(logo)) }

// A logoCache holds the last validation of each Instance's logo, by UID. It is safe for
// concurrent use, and its zero value is ready to use.
type logoCache struct{ validations sync.Map }

func (l *logoCache) get(instance types.UID) logoValidation {
	found, _ := l.validations.Load(instance)
	last, _ := found.(logoValidation)
	return last
}

func (l *logoCache) put(instance types.UID, last logoValidation) { l.validations.Store(instance, last) }

func (l *logoCache) delete(instance types.UID) { l.validations.Delete(instance) }
