// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// Options are what a Notifier stands on. All but Directory are required.
type Options struct {
	// Directory has the settings, as files that may change. Empty: none.
	Directory string
	// Development writes messages for which there are no settings to the log,
	// with their codes, and allows a gateway without TLS.
	Development bool
	// Tell is told what became of each message.
	Tell func(Channel, Outcome)
	Log  *slog.Logger
}

// Notifier sends messages by the settings of the moment. It is safe for
// concurrent use.
type Notifier struct {
	options Options
	mailer  atomic.Pointer[Mailer]  // nil: no settings
	gateway atomic.Pointer[Gateway] // nil: no settings
	queues  map[Channel]*Queue
}

// New makes a notifier, which sends once it runs. Its sources have to be loaded
// before.
func New(options Options) *Notifier {
	n := &Notifier{options: options, queues: map[Channel]*Queue{}}
	for _, channel := range channels {
		n.queues[channel] = NewQueue(channel, current{n, channel}, func(o Outcome) { options.Tell(channel, o) }, options.Log)
	}
	return n
}

// Sources keep the settings of mail and of text messages as the directory says
// when they are watched, each by itself. Settings that are wrong stay as they
// were.
func (n *Notifier) Sources() []*reload.Source {
	if n.options.Directory == "" {
		return nil
	}
	return []*reload.Source{
		n.source("smtp", smtpFiles, func(s settings) error {
			mailer, err := parseMailer(s)
			if err == nil {
				n.mailer.Store(mailer)
			}
			return err
		}),
		n.source("sms", smsFiles, func(s settings) error {
			gateway, err := parseGateway(s, n.options.Development)
			if err == nil {
				n.gateway.Store(gateway)
			}
			return err
		}),
	}
}

func (n *Notifier) source(name string, names []string, apply func(settings) error) *reload.Source {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(n.options.Directory, name)
	}
	return &reload.Source{Name: name, Paths: paths, Optional: true, Apply: func(files reload.Files) error {
		return apply(newSettings(files, n.options.Directory, names))
	}}
}

// Reaches reports whether messages can be sent on a channel now.
func (n *Notifier) Reaches(channel Channel) bool { return n.sender(channel) != nil }

// Notify has a message sent, and reports whether it was taken. It never waits.
// A message that cannot be right, or for whose channel there are no settings, is
// dropped and logged, without its recipient and its code.
func (n *Notifier) Notify(ctx context.Context, message Message) bool {
	if err := message.check(); err != nil {
		n.drop(ctx, message, err)
		return false
	}
	if !n.Reaches(message.Channel) {
		n.drop(ctx, message, errUnreachable)
		return false
	}
	return n.queues[message.Channel].Send(message)
}

var errUnreachable = errors.New("the instance has no settings for this channel: expected files such as smtp.host or sms.url in the directory of --notifications-dir")

func (n *Notifier) drop(ctx context.Context, message Message, err error) {
	if n.queues[message.Channel] != nil { // else it is none of our channels
		n.options.Tell(message.Channel, Dropped)
	}
	n.options.Log.ErrorContext(ctx, "a message is dropped", "channel", message.Channel, "error", err)
}

// Run sends messages until ctx ends, and then, for a bounded time, those that
// still wait.
func (n *Notifier) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, queue := range n.queues {
		all.Go(func() { queue.Run(ctx) })
	}
	all.Wait()
}

// sender is who sends on a channel at the moment, nil when nobody does.
func (n *Notifier) sender(channel Channel) Sender {
	if mailer := n.mailer.Load(); channel == Email && mailer != nil {
		return mailer
	}
	if gateway := n.gateway.Load(); channel == TextMessage && gateway != nil {
		return gateway
	}
	if n.options.Development && n.queues[channel] != nil {
		return LogSender{n.options.Log}
	}
	return nil
}

// current sends by the settings at the time of sending.
type current struct {
	notifier *Notifier
	channel  Channel
}

// Send implements Sender.
func (c current) Send(ctx context.Context, message Message) error {
	sender := c.notifier.sender(c.channel)
	if sender == nil {
		return errUnreachable
	}
	return sender.Send(ctx, message)
}

// LogSender writes messages to the log instead of sending them, with recipient
// and code, for development alone.
type LogSender struct{ Log *slog.Logger }

// Send implements Sender.
func (s LogSender) Send(ctx context.Context, message Message) error {
	letter := message.write()
	s.Log.InfoContext(ctx, "a message that is not sent, because this is development",
		"channel", message.Channel, "to", message.Recipient, "subject", letter.subject, "text", letter.text)
	return nil
}
