// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// A writeRecord is the remembered state of the last write of an object.
type writeRecord struct {
	// hash of the object that was sent.
	hash string
	// resourceVersion that the API server returned, and the time of the write.
	resourceVersion string
	writtenAt       time.Time
	// fingerprint identifies the live values that differed from the sent fields, and drift
	// describes them. Zero and nil if the object matched.
	fingerprint fingerprint
	drift       *Drift
}

// maxCacheLag is how long a cache may lag behind the last write. If a cache shows an older
// version for longer, the API server was restored from a backup.
const maxCacheLag = time.Minute

// isNewerThan reports whether the write is newer than the resource version in a cache.
func (w writeRecord) isNewerThan(resourceVersion string) bool {
	order, err := resourceversion.CompareResourceVersion(w.resourceVersion, resourceVersion)
	return err == nil && order > 0 && time.Since(w.writtenAt) < maxCacheLag
}

// A writeCache holds the last write of each object that drifts, and writes that the
// client's cache does not show yet. It is safe for concurrent use. The zero value is ready
// to use.
type writeCache struct {
	mutex   sync.Mutex
	records map[types.UID]writeRecord
}

func (c *writeCache) get(object types.UID) (writeRecord, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found, ok := c.records[object]
	return found, ok
}

func (c *writeCache) set(object types.UID, last writeRecord) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.records == nil {
		c.records = map[types.UID]writeRecord{}
	}
	c.records[object] = last
}

func (c *writeCache) delete(object types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.records, object)
}
