// SPDX-License-Identifier: Apache-2.0

// Package children finds and writes the objects that make up an Instance.
//
// A child is what carries the Instance's UID: in the controller's owner
// reference, or, for data, which may outlive it, in a label. What bears the name
// of a child and is not one is never written, and told by an error that says so.
//
// What the objects hold, package resources builds; whether they are wanted,
// the steps decide.
package children
