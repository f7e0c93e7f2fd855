// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// errAddressNotAllowed indicates that the address policy blocks the receiver. Its message
// does not include the address.
var errAddressNotAllowed = errors.New("receiver address is not allowed: private or reserved network, or port not in webhooks.allowedPorts")

// dialTimeout limits how long connecting may take. It counts toward the timeout of the
// attempt.
const dialTimeout = 10 * time.Second

// dialer connects only to addresses that the address policy allows.
type dialer struct {
	policy   AddressPolicy
	resolver *net.Resolver
}

// dial connects to one of the addresses that a host name resolves to. The policy is
// checked against the resolved IP address at dial time, which defeats DNS rebinding.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connect := net.Dialer{
		Timeout:  dialTimeout,
		Resolver: d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return d.checkAddress(address)
		},
	}
	return connect.DialContext(ctx, network, address)
}

// checkAddress returns an error unless the policy allows the address, which is an IP and
// port.
func (d dialer) checkAddress(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !d.policy.allowsAddress(target.Addr()) || !d.policy.allowsPort(target.Port()) {
		return errAddressNotAllowed
	}
	return nil
}
