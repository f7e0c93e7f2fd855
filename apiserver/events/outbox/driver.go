// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"errors"

	"github.com/riverqueue/river/riverdriver"
)

// ending is a driver whose listeners say that they are to end. River's notifier tries
// again without a pause, and for ever, where it is to end and storage answers another
// error, such as that it is closed.
type ending[Tx any] struct{ riverdriver.Driver[Tx] }

// GetListener implements riverdriver.Driver.
func (d ending[Tx]) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return endingListener{d.Driver.GetListener(params)}
}

type endingListener struct{ riverdriver.Listener }

// Connect implements riverdriver.Listener.
func (l endingListener) Connect(ctx context.Context) error {
	return orEnded(ctx, l.Listener.Connect(ctx))
}

// Listen implements riverdriver.Listener.
func (l endingListener) Listen(ctx context.Context, topic string) error {
	return orEnded(ctx, l.Listener.Listen(ctx, topic))
}

// WaitForNotification implements riverdriver.Listener.
func (l endingListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	notification, err := l.Listener.WaitForNotification(ctx)
	return notification, orEnded(ctx, err)
}

// orEnded is that a context was cancelled, where it was, and else an error.
func orEnded(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}
