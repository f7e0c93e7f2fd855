// SPDX-License-Identifier: Apache-2.0

// Package resources builds the objects that make up an Instance.
//
// Every object has one pure function, Build<Thing>, in a file of its own next
// to its table test: same input, same object, and nil when the object is not
// wanted. What cannot be read from the Instance, such as keys, certificates and
// what a referenced Secret holds, comes in as an argument. There is no client,
// no clock and no randomness here, and nothing decides when to apply an object.
//
// The objects are apply configurations: they hold only the fields that we mean,
// so that server-side apply leaves everything else to its defaults and owners.
package resources
