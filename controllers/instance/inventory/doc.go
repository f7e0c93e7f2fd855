// SPDX-License-Identifier: Apache-2.0

// Package inventory reads and writes the owned objects of an Instance.
//
// An owned object carries the Instance's UID in its controller owner reference or, for
// data that may outlive the Instance, in a label. The package never writes to an object
// that has the name of an owned object but does not belong to the Instance; it returns an
// error instead.
//
// Package resources builds the objects, and the phases of package instance apply them.
package inventory
