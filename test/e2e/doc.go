// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the platform on a real Kubernetes cluster: the operator is
// installed from the chart, Instances are applied as a platform team would, and a real
// kubelet runs the pods. Clients send requests over HTTPS with the credentials and CA
// that the operator created, and a patient uses a real browser, which hack/setup
// provides:
//
//	go run ./hack/setup browser -- go test ./test/e2e
//
// Tests mostly wait for pods, so most run in parallel, each in a separate namespace.
// Load tests run alone.
//
// This package contains only tests. Behavior that does not need a kubelet is tested
// next to its code, by faster tests.
package e2e
