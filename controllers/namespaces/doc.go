// SPDX-License-Identifier: Apache-2.0

// Package namespaces restricts an operator to selected namespaces. A namespace may be
// missing, reappear, or be deleted with everything in it.
//
//	cache.go                the operator's cache, composed of one per namespace
//	namespace_cache.go      the cache of one namespace, and when it has synced
//	informer.go             informers across namespaces, including late ones
//	list_watch.go           observes the results of lists and watches
//	role_binding_guard.go   the RoleBinding that must outlive a namespace's Instances
//	health.go               problems of namespaces, formatted for users
//
// The package is independent of the objects that an Instance consists of.
package namespaces
