// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/pods"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Findings are what can be known about pods that do not become ready.
type Findings struct {
	// Pods that were made from the template.
	Pods []corev1.Pod
	// Creation is what keeps pods from being made at all.
	Creation pods.Trouble
	// Volume is why the data has no place yet; nil when it has one.
	Volume *problem.Problem
	// Embedded says that the data is in a file of the pods' own.
	Embedded bool
	Now      time.Time
}

// A Trouble is what keeps the pods of a template from becoming ready.
type Trouble struct {
	// Message says it in the words of the scheduler or the kubelet; empty when
	// nothing is known.
	Message string
	// Cause says whose trouble it is; empty when that cannot be told.
	Cause v1alpha1.FailureCause
	// Hopeless says that the rest of the deadline would be waited for in vain.
	Hopeless bool
}

const (
	// hopelessRestarts is after how many restarts a container is not expected to
	// run for good any more.
	hopelessRestarts = 3
	// hopelessAfter is how long a pod may wait for a node, a quota, an image or a
	// Secret before that is not expected to come in time.
	hopelessAfter = time.Minute
	// loading is how long a server that runs may take to load its models before it
	// is its database that it waits for.
	loading = 30 * time.Second
	// foreignDatabase is the exit code of a server whose database holds the data of
	// another Instance. It says so as its last words.
	foreignDatabase = 3
)

// Diagnose says what keeps pods from becoming ready, and whose trouble it is.
//
// A container that ends, or an image that cannot be had, is trouble of the
// server. Pods that run, answer and do not report ready wait for the one thing
// that readiness asks for and a server cannot mend: a database elsewhere. That is
// said once a server has had the time to load its models. A server ends when it
// cannot open a file of its own, so with embedded storage it is the server's own
// trouble. The kubelet does not pass on what a server answers; nothing more can be
// told of it here.
func Diagnose(findings Findings) Trouble {
	found := pods.Find(findings.Pods)
	if found.Kind == pods.None {
		found = findings.Creation
	}
	trouble := Trouble{Message: found.Message, Cause: v1alpha1.FailureCauseTenant}
	waited := !found.Since.IsZero() && findings.Now.Sub(found.Since) > hopelessAfter
	switch found.Kind {
	case pods.Crashing:
		if found.ExitCode == foreignDatabase {
			trouble.Cause, trouble.Hopeless = v1alpha1.FailureCauseForeignDatabase, true
			break
		}
		trouble.Cause, trouble.Hopeless = v1alpha1.FailureCauseServer, found.Restarts >= hopelessRestarts
	case pods.ImageMissing:
		trouble.Cause, trouble.Hopeless = v1alpha1.FailureCauseServer, waited
	case pods.Unscheduled, pods.Misconfigured, pods.Unmade:
		trouble.Hopeless = waited
	case pods.Unready:
		trouble.Cause = causeOfUnready(findings.Embedded, found.Since, findings.Now)
	case pods.None:
		if findings.Volume == nil {
			return Trouble{}
		}
		trouble.Message = findings.Volume.Message
	}
	return trouble
}

func causeOfUnready(embedded bool, since, now time.Time) v1alpha1.FailureCause {
	switch {
	case embedded:
		return v1alpha1.FailureCauseServer
	case !since.IsZero() && now.Sub(since) > loading:
		return v1alpha1.FailureCauseDatabase
	}
	return v1alpha1.FailureCauseTenant
}
