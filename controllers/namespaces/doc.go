// SPDX-License-Identifier: Apache-2.0

// Package namespaces lets an operator work in some namespaces only, each of
// which may be missing, come back, or be deleted with all that is in it.
//
//	cache.go    the operator's cache: one of each namespace, taken up when it is whole
//	member.go   the cache of one namespace, and when it is whole
//	informer.go what watches all of them, those too that come later
//	observe.go  how each list and watch went
//	hold.go     the RoleBinding that must outlive a namespace's Instances
//	health.go   what is not as it should be, for people
//
// It knows nothing of what an Instance is made of.
package namespaces
