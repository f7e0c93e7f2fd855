// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
)

// steps are run in this order until one cannot come to its end.
var steps = []struct {
	name string
	run  func(*Visit, context.Context) error
}{
	{"pin the server", (*Visit).pinServer},
	{"stop the pods that hibernate", (*Visit).stopPods},
	{"give it an address", (*Visit).applyAddress},
	{"give applications their keys", (*Visit).applyApplications},
	{"give it keys to sign tokens", (*Visit).applySigningKeys},
	{"give it a certificate", (*Visit).applyCertificate},
	{"give the data a place", (*Visit).applyStorage},
	{"say who may talk to it", (*Visit).applyNetwork},
	{"check the models", (*Visit).checkModels},
	{"choose a pod template", (*Visit).planRollout},
	{"run the server", (*Visit).applyDeployment},
	{"delete what is no longer wanted", (*Visit).prune},
	{"wait for the pods", (*Visit).awaitRollout},
}

// Run runs the steps.
func (v *Visit) Run(ctx context.Context) error {
	for _, step := range steps {
		if err := step.run(v, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}
