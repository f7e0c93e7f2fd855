// SPDX-License-Identifier: Apache-2.0

// Package resources builds the objects that an Instance owns.
//
// Each object has one pure function, Build<Thing>, in a file of its own next to its
// table test. pod.go and mounts.go hold the volumes, security context and placement of an
// Instance's pods. The same input yields the same object, or nil if the object is not
// desired. Values that the Instance does not contain, such as keys, certificates and the
// content of referenced Secrets, are passed as arguments. The package uses no client,
// clock or randomness, and does not decide when to apply an object.
//
// The objects are apply configurations that contain only the fields the operator
// manages, so that server-side apply leaves all other fields to their defaults and
// owners.
package resources
