// SPDX-License-Identifier: Apache-2.0

// Package section is what surveys ask: a section is a file that says what it asks
// next, with which words, and which evidence the answers give. Whether an answer is
// right is said once, by what its question takes, in the judge files.
//
// The arrows go one way: package guidance has the data, this package asks and
// judges, package survey puts sections in a row and leads through them. A section
// sees a Case, all that was said so far, and keeps nothing: the same case gives the
// same question. There is no clock, no storage and no HTTP here.
//
// The words of questions are content, in words/<language>.yaml; those about
// symptoms are the release's.
package section
