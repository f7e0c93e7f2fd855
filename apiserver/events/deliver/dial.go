// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// errAddress says that a receiver is where nothing is sent to. It does not say where.
var errAddress = errors.New("the address of the receiver is not allowed: it is in a private or special network, or by another port than is allowed")

// dialTimeout is how long a connection may take to be made, of the time that an attempt
// has.
const dialTimeout = 10 * time.Second

// A dialer connects to addresses that are in reach.
type dialer struct {
	reach    Reach
	resolver *net.Resolver
}

// dial connects to the addresses of a name. Whatever the name leads to is judged by its
// number, at the moment at which it is dialled.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connect := net.Dialer{
		Timeout:  dialTimeout,
		Resolver: d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return d.judge(address)
		},
	}
	return connect.DialContext(ctx, network, address)
}

// judge refuses an address, as a number with a port, that is not in reach.
func (d dialer) judge(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !d.reach.allows(target.Addr()) || !d.reach.allowsPort(target.Port()) {
		return errAddress
	}
	return nil
}
