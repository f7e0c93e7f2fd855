// SPDX-License-Identifier: Apache-2.0

// Command probe runs in a pod of the end-to-end test: it connects to the given
// addresses and reports for each whether the connection succeeded. PROBE_AFTER is the
// delay before connecting, so that policies can take effect for the pod.
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
		fmt.Println(address, dialStatus(address))
	}
}

// dialStatus returns "open" or "closed". A policy drops packets without a reply, so a
// few seconds of silence mean closed.
func dialStatus(address string) string {
	dialer := net.Dialer{Timeout: 3 * time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return "closed"
	}
	_ = conn.Close()
	return "open"
}
