// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// Options configure a Notifier. All fields but SettingsDir and DevMode are required.
type Options struct {
	// SettingsDir is the directory of the settings files, which are reloaded when they
	// change. If empty, there are no settings.
	SettingsDir string
	// DevMode logs messages, including their codes, if no settings exist for their
	// channel, and allows a gateway without TLS.
	DevMode bool
	// OnOutcome is called with the outcome of each message.
	OnOutcome func(Channel, Outcome)
	Log       *slog.Logger
}

// Notifier sends messages using the current settings. It is safe for concurrent use.
type Notifier struct {
	options Options
	mailer  atomic.Pointer[Mailer]     // nil without settings
	gateway atomic.Pointer[SMSGateway] // nil without settings
	queues  map[Channel]*Queue
}

// New returns a notifier, which sends messages once Run is called. Load its Sources
// first.
func New(options Options) *Notifier {
	n := &Notifier{options: options, queues: map[Channel]*Queue{}}
	for _, channel := range allChannels {
		n.queues[channel] = NewQueue(channel, currentSender{n, channel}, func(o Outcome) { options.OnOutcome(channel, o) }, options.Log)
	}
	return n
}

// Sources returns the sources of the email and SMS settings, to be watched
// independently. Invalid settings leave the current ones in place.
func (n *Notifier) Sources() []*reload.Source {
	if n.options.SettingsDir == "" {
		return nil
	}
	return []*reload.Source{
		n.newSource(configv1alpha1.SMTPFormat, func(content map[string][]byte) error {
			mailer, err := parseMailer(content)
			if err == nil {
				n.mailer.Store(mailer)
			}
			return err
		}),
		n.newSource(configv1alpha1.SMSGatewayFormat, func(content map[string][]byte) error {
			gateway, err := parseGateway(content, n.options.DevMode)
			if err == nil {
				n.gateway.Store(gateway)
			}
			return err
		}),
	}
}

func (n *Notifier) newSource(format configv1alpha1.SenderFormat, apply func(content map[string][]byte) error) *reload.Source {
	directory := n.options.SettingsDir
	return &reload.Source{Name: format.Name, Paths: settingsPaths(format, directory), Optional: true, Apply: func(files reload.Files) error {
		return apply(readSettings(format, directory, files))
	}}
}

// CanSend reports whether messages can currently be sent on a channel.
func (n *Notifier) CanSend(channel Channel) bool { return n.senderFor(channel) != nil }

// Notify enqueues a message and reports whether it was accepted. It never blocks. A
// message that is invalid, or whose channel has no settings, is dropped and logged
// without its recipient and code.
func (n *Notifier) Notify(ctx context.Context, message Message) bool {
	if err := message.validate(); err != nil {
		n.drop(ctx, message, err)
		return false
	}
	if !n.CanSend(message.Channel) {
		n.drop(ctx, message, errChannelNotConfigured)
		return false
	}
	return n.queues[message.Channel].Enqueue(message)
}

var errChannelNotConfigured = errors.New("channel is not configured: add files such as smtp.host or sms.url to the directory of --notifications-dir")

func (n *Notifier) drop(ctx context.Context, message Message, err error) {
	if n.queues[message.Channel] != nil { // otherwise the channel is unknown
		n.options.OnOutcome(message.Channel, Dropped)
	}
	n.options.Log.ErrorContext(ctx, "dropped message", "channel", message.Channel, "error", err)
}

// Run sends messages until ctx is done. Then it drains the queues for a limited time.
func (n *Notifier) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, queue := range n.queues {
		group.Go(func() { queue.Run(ctx) })
	}
	group.Wait()
}

// senderFor returns the current sender of a channel, or nil if none is configured.
func (n *Notifier) senderFor(channel Channel) Sender {
	if mailer := n.mailer.Load(); channel == Email && mailer != nil {
		return mailer
	}
	if gateway := n.gateway.Load(); channel == TextMessage && gateway != nil {
		return gateway
	}
	if n.options.DevMode && n.queues[channel] != nil {
		return LogSender{n.options.Log}
	}
	return nil
}

// currentSender sends with the settings in effect at the time of sending.
type currentSender struct {
	notifier *Notifier
	channel  Channel
}

// Send implements Sender.
func (c currentSender) Send(ctx context.Context, message Message) error {
	sender := c.notifier.senderFor(c.channel)
	if sender == nil {
		return errChannelNotConfigured
	}
	return sender.Send(ctx, message)
}

// LogSender logs messages instead of sending them, including recipient and code. Use
// it in development only.
type LogSender struct{ Log *slog.Logger }

// Send implements Sender.
func (s LogSender) Send(ctx context.Context, message Message) error {
	rendered := message.render()
	s.Log.InfoContext(ctx, "logged message instead of sending it",
		"channel", message.Channel, "to", message.Recipient, "subject", rendered.subject, "text", rendered.text)
	return nil
}
