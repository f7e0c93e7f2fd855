// SPDX-License-Identifier: Apache-2.0

// Package apply sends objects to the API server by server-side apply, and only
// when there is something to say: when a field that is sent differs from the
// live object, or when what is sent is not what was sent last time.
//
// The first is a comparison of a subset, so that defaults, autoscalers and
// other owners of an object are left in peace. Which lists and maps several
// owners share, and what tells items of lists apart, is taken from the schema
// that the API server itself merges by, as client-go carries it. The second
// finds fields that are no longer sent, which a comparison with the live object
// cannot see; it rests on a hash kept in an annotation of the object itself.
//
// Nothing here knows what the objects mean or whose they are.
package apply
