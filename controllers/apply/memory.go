// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// A write is what is remembered of the last time that an object was sent.
type write struct {
	// hash of what was sent.
	hash string
	// resourceVersion of what came back, and when that was.
	resourceVersion string
	at              time.Time
	// live is what the object held otherwise in the fields that were sent, and
	// divergence the same for people; nil when it held what was sent.
	live       fingerprint
	divergence *Divergence
}

// patience is for how long a cache is believed to be behind the last write. A
// cache that is older for longer shows an API server that was restored from a
// backup.
const patience = time.Minute

// precedes says whether a cache that shows a resource version does not show the
// write yet.
func (w write) precedes(resourceVersion string) bool {
	order, err := resourceversion.CompareResourceVersion(w.resourceVersion, resourceVersion)
	return err == nil && order > 0 && time.Since(w.at) < patience
}

// A memory holds the last write of each object whose write the cache does not
// show yet, or that diverges. It is safe for concurrent use, and ready to be
// used when it is empty.
type memory struct {
	mutex  sync.Mutex
	writes map[types.UID]write
}

func (m *memory) of(object types.UID) (write, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found, ok := m.writes[object]
	return found, ok
}

func (m *memory) keep(object types.UID, last write) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.writes == nil {
		m.writes = map[types.UID]write{}
	}
	m.writes[object] = last
}

func (m *memory) forget(object types.UID) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.writes, object)
}
