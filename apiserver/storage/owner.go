// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"
)

// Owner identifies the Instance that opens a store. The zero Owner, for servers that run
// outside a cluster, can open any store and does not mark it.
type Owner struct {
	UID string
	// AdoptUIDs are the UIDs of former Instances whose data this Instance takes over.
	AdoptUIDs []string
}

// CheckMarker returns a *WrongOwnerError if the owner may not open a store marked with
// ownerUID. An empty ownerUID means that the store is unmarked, which any owner may open.
func (o Owner) CheckMarker(ownerUID string) error {
	if o.UID == "" || ownerUID == "" || ownerUID == o.UID || slices.Contains(o.AdoptUIDs, ownerUID) {
		return nil
	}
	return &WrongOwnerError{OwnerUID: ownerUID, RequestedUID: o.UID}
}

// WrongOwnerError indicates that a store holds the data of another Instance. Retrying
// does not help.
type WrongOwnerError struct {
	OwnerUID     string // UID of the Instance that owns the data
	RequestedUID string // UID of the Instance that tried to open it
}

// Error names the owner and explains how to take over the data.
func (e *WrongOwnerError) Error() string {
	return fmt.Sprintf("the database belongs to the Instance with UID %s, not to this Instance with UID %s: "+
		"use a separate database or, once that Instance is deleted, set the annotation anamnesis.dev/adopt: %s to adopt its data", e.OwnerUID, e.RequestedUID, e.OwnerUID)
}
