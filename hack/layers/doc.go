// SPDX-License-Identifier: Apache-2.0

// Package layers checks that the import graph of the module follows the architecture.
// layers.go lists the layers, the pure packages and the exceptions; the tests compare these
// lists with the imports of all packages. Test files may import anything. Style rules belong
// in the linter configuration.
package layers
