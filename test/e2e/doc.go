// SPDX-License-Identifier: Apache-2.0

// Package e2e proves the platform on a real Kubernetes: the operator installed
// from the chart, Instances applied as a platform team would, pods that a real
// kubelet runs, questions asked over HTTPS with the credentials and the
// authority that the operator made, and by a patient in a real browser, which
// hack/setup provides:
//
//	go run ./hack/setup browser -- go test ./test/e2e
//
// Tests wait for pods much more than they work, so most run side by side, each
// in a namespace of its own. Those under load run alone.
//
// It holds tests only. What can be shown without a kubelet is shown where it
// lives, by faster tests.
package e2e
