// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"crypto/sha256"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A judgement is what was found of a logo. To judge one takes milliseconds and to read
// it as much again, at each visit of each Instance.
type judgement struct {
	// source, version and key say which content was judged: the UID and the resource
	// version of a ConfigMap, and the key in it.
	source       types.UID
	version, key string
	// kept is the digest of the logo that the configuration has since.
	kept [sha256.Size]byte
	// refusal says why the content was not taken; nil when it was.
	refusal error
}

// judge notes what was found in a ConfigMap, and which logo the configuration has since.
func judge(found metav1.Object, key, kept string, refusal error) judgement {
	return judgement{found.GetUID(), found.GetResourceVersion(), key, sha256.Sum256([]byte(kept)), refusal}
}

// isOf says whether it was the content of a key of a ConfigMap that was judged.
func (j judgement) isOf(found metav1.Object, key string) bool {
	return j.source == found.GetUID() && j.version == found.GetResourceVersion() && j.key == key
}

// holds says whether the configuration still has the logo that it had then.
func (j judgement) holds(logo string) bool { return j.kept == sha256.Sum256([]byte(logo)) }

// logos remember the last judgement of each Instance's logo, by its UID. They are safe for
// concurrent use, and ready to be used when they are empty.
type logos struct{ judgements sync.Map }

func (l *logos) of(instance types.UID) judgement {
	found, _ := l.judgements.Load(instance)
	last, _ := found.(judgement)
	return last
}

func (l *logos) keep(instance types.UID, last judgement) { l.judgements.Store(instance, last) }

func (l *logos) forget(instance types.UID) { l.judgements.Delete(instance) }
