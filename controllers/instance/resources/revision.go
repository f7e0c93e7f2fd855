// SPDX-License-Identifier: Apache-2.0

package resources

// Revision is the current revision of the objects that the operator builds for a server
// image. An Instance keeps its pinned revision until it moves to another server image,
// so that an operator upgrade restarts no pods.
//
// Until the first release, change the objects of revision 1 and record them with
//
//	go test ./controllers/instance/resources -run TestRevision -update
//
// After a release, a change of the builders' output that does not depend on a new field
// of the spec needs a new revision: raise Revision, and keep building the old output for
// Instances whose Input.Server.Revision is lower. A new field of the spec needs no
// revision: it applies in every revision if it is set. An operator older than the pinned
// revision builds its own latest revision.
const Revision int32 = 1
