// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// consoleErrors collects messages shown in the developer console: errors, exceptions,
// Content-Security-Policy violations and failed requests. Chromium's goroutine writes to it.
type consoleErrors struct {
	sync.Mutex
	ignored          []string
	seen             []string
	documentRequests []network.RequestID
}

// IgnoreErrors prevents errors that contain one of the texts from failing the test.
func (tab *Tab) IgnoreErrors(texts ...string) {
	tab.consoleErrors.Lock()
	defer tab.consoleErrors.Unlock()
	tab.consoleErrors.ignored = append(tab.consoleErrors.ignored, texts...)
}

// reportErrors fails the test if there are errors that are not ignored.
func (tab *Tab) reportErrors() {
	if tab.context.Err() == nil {
		tab.location() // the response follows all earlier events
	}
	tab.consoleErrors.Lock()
	defer tab.consoleErrors.Unlock()
	for _, message := range tab.consoleErrors.seen {
		if !slices.ContainsFunc(tab.consoleErrors.ignored, func(text string) bool { return strings.Contains(message, text) }) {
			tab.t.Errorf("browser console: %s", message)
		}
	}
}

// handleEvent records errors.
func (e *consoleErrors) handleEvent(event any) {
	e.Lock()
	defer e.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if event.Type == network.ResourceTypeDocument {
			e.documentRequests = append(e.documentRequests, event.RequestID)
		}
	case *log.EventEntryAdded:
		e.addLogEntry(event.Entry)
	case *runtime.EventExceptionThrown:
		e.seen = append(e.seen, "exception: "+exceptionText(event.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError || event.Type == runtime.ConsoleAPICalledTypeAssert {
			e.seen = append(e.seen, "console: "+joinArgs(event.Args))
		}
	}
}

// addLogEntry records an error reported by the browser itself. It skips error statuses of
// documents, such as rejected forms, because tests check them explicitly.
func (e *consoleErrors) addLogEntry(entry *log.Entry) {
	if entry.Level != log.EntryLevelError || slices.Contains(e.documentRequests, entry.NetworkRequestID) ||
		isFaviconRequest(entry.URL) {
		return
	}
	e.seen = append(e.seen, strings.TrimSpace(string(entry.Source)+": "+entry.Text+" "+entry.URL))
}

// exceptionText returns the text of an exception.
func exceptionText(details *runtime.ExceptionDetails) string {
	if details.Exception != nil && details.Exception.Description != "" {
		return details.Exception.Description
	}
	return details.Text
}

// joinArgs returns the text of a console message.
func joinArgs(args []*runtime.RemoteObject) string {
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = arg.Description
		if texts[i] == "" {
			texts[i] = decodeString(arg.Value)
		}
	}
	return strings.Join(texts, " ")
}
