// SPDX-License-Identifier: Apache-2.0

// Command probe runs in a pod of the end-to-end test: it connects to the
// addresses it is given and says of each whether it was let in.
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	for _, address := range os.Args[1:] {
		fmt.Println(address, reach(address))
	}
}

// reach is "open" or "closed". A packet that a policy drops gets no answer, so
// a few seconds of silence mean closed.
func reach(address string) string {
	conn, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		return "closed"
	}
	_ = conn.Close()
	return "open"
}
