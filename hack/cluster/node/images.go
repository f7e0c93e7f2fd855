// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Import reads an image archive into the container runtime. It comes through a
// pipe, because the node sees another /run than the machine.
func (n Node) Import(ctx context.Context, archive io.Reader) error {
	cmd := n.Command(ctx, "ctr", "--namespace=k8s.io", "images", "import", "--local", "-")
	cmd.Stdin = archive
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := n.Run(cmd); err != nil {
		return fmt.Errorf("%w: %s", err, &output)
	}
	return nil
}
