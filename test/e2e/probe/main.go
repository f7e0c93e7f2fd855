// SPDX-License-Identifier: Apache-2.0

// Command probe runs in a pod of the end-to-end test: it connects to the
// addresses it is given and says of each whether it was let in. PROBE_AFTER is how
// long it waits before, so that policies know of the pod.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	if wait, err := time.ParseDuration(os.Getenv("PROBE_AFTER")); err == nil {
		time.Sleep(wait)
	}
	for _, address := range os.Args[1:] {
		fmt.Println(address, reach(address))
	}
}

// reach is "open" or "closed". A packet that a policy drops gets no answer, so
// a few seconds of silence mean closed.
func reach(address string) string {
	dialer := net.Dialer{Timeout: 3 * time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return "closed"
	}
	_ = conn.Close()
	return "open"
}
