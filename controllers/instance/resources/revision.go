// SPDX-License-Identifier: Apache-2.0

package resources

import "github.com/anamnesis-dev/anamnesis/api/v1alpha1"

// Revision of the objects that this operator builds around a server image. An
// Instance keeps the revision that it is pinned to until it moves to another
// server image, so that an upgrade of the operator restarts nobody: every
// revision that an Instance may be pinned to is still built as it was.
const Revision int32 = 5

// A change is one thing that builders do since some revision, for a reason that
// is not in the Instance. Its value is that revision.
//
// To make one: raise Revision unless its objects are not released yet, add a
// line here, and ask Input.has for it where the objects differ, so that what
// was written before stays beside what is written now. Then write the objects
// down by `go test ./controllers/instance/resources -run TestRevisions -update`.
// A field of the spec that is left out changes nothing and needs no line; one
// that is set counts in every revision.
//
// To drop a revision that no Instance is pinned to any more, delete the lines of
// the one after it, which is then the oldest: what asked for them no longer
// compiles, and shows what goes.
type change int32

const (
	// tellsMemory: the server is told how much memory it has.
	tellsMemory change = 2

	// knowsQuestions: a preflight check is known by what it asks and no longer by
	// how its pod is made.
	knowsQuestions change = 3
	// sparesData: Argo CD is told to leave volume claims alone.
	sparesData change = 3
	// closesEgress: pods reach the cluster's resolver and no other, no webhooks,
	// and databases neither at the Kubernetes API nor at the metadata of clouds.
	closesEgress change = 3
	// notesPorts: a pod template says to which ports of a database its pods
	// connect.
	notesPorts change = 3

	// keepsKeys: keys that data or clients depend on are kept with the data, as it
	// is when the Instance is deleted.
	keepsKeys change = 4
	// tellsClients: applications are told where the Instance is and whom to trust,
	// and the server whose database it opens.
	tellsClients change = 4
	// turnsKeys: the server knows several keys of an application, and from when on a
	// key signs.
	turnsKeys change = 4
	// encrypts: the server is given keysets, and where to find Secrets of senders.
	encrypts change = 4

	// sendsWebhooks: pods reach the receivers of webhooks, and the operator is known
	// to the server as an application of its own, which subscribes them.
	sendsWebhooks change = 5
	// showsPages: the server has pages for patients, and is told how they look.
	showsPages change = 5
)

// has says whether a change is part of the revision that the Instance is pinned
// to. An operator that is older than the pin builds the newest that it knows.
func (in Input) has(c change) bool { return in.Server.Revision >= int32(c) }

// TurnsKeys says whether the server can be told several keys for one thing.
func (in Input) TurnsKeys() bool { return in.has(turnsKeys) }

// SendsWebhooks says whether a build of the server has webhooks, and knows the
// operator.
func SendsWebhooks(server v1alpha1.ServerPin) bool { return Input{Server: server}.has(sendsWebhooks) }
