// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"errors"

	"github.com/riverqueue/river/riverdriver"
)

// cancelableDriver is a driver whose listeners return the context's error once the context
// is canceled. With any other error, such as "closed", River's notifier would retry forever
// without a delay during shutdown.
type cancelableDriver[Tx any] struct{ riverdriver.Driver[Tx] }

// GetListener implements riverdriver.Driver.
func (d cancelableDriver[Tx]) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return cancelableListener{d.Driver.GetListener(params)}
}

type cancelableListener struct{ riverdriver.Listener }

// Connect implements riverdriver.Listener.
func (l cancelableListener) Connect(ctx context.Context) error {
	return preferContextError(ctx, l.Listener.Connect(ctx))
}

// Listen implements riverdriver.Listener.
func (l cancelableListener) Listen(ctx context.Context, topic string) error {
	return preferContextError(ctx, l.Listener.Listen(ctx, topic))
}

// WaitForNotification implements riverdriver.Listener.
func (l cancelableListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	notification, err := l.Listener.WaitForNotification(ctx)
	return notification, preferContextError(ctx, err)
}

// preferContextError returns the context's error if ctx is done, and err otherwise.
func preferContextError(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}
