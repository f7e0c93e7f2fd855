// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// ImportImage imports an image archive into the container runtime. The archive is
// piped because the node has a different /run than the machine.
func (n Node) ImportImage(ctx context.Context, archive io.Reader) error {
	cmd := n.Command(ctx, "ctr", "--namespace=k8s.io", "images", "import", "--local", "-")
	cmd.Stdin = archive
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := n.Run(cmd); err != nil {
		return fmt.Errorf("%w: %s", err, &output)
	}
	return nil
}
