// SPDX-License-Identifier: Apache-2.0

// Package layers holds the import graph of the module to the architecture. The layers, the
// pure packages and the exceptions are data in layers.go; the tests compare them to the
// imports of all packages. Tests may import anything. Rules on style belong in the
// configuration of the linter.
package layers
