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

// faults are what a developer would see in the console: errors, exceptions,
// what the Content-Security-Policy forbade and what could not be fetched.
// Chromium's goroutine writes them.
type faults struct {
	sync.Mutex
	allowed   []string
	seen      []string
	documents []network.RequestID
}

// Allow has the test not fail for errors whose text contains one of these.
func (tab *Tab) Allow(texts ...string) {
	tab.faults.Lock()
	defer tab.faults.Unlock()
	tab.faults.allowed = append(tab.faults.allowed, texts...)
}

// report fails the test for what was not allowed.
func (tab *Tab) report() {
	if tab.context.Err() == nil {
		tab.location() // an answer comes after all that went before it
	}
	tab.faults.Lock()
	defer tab.faults.Unlock()
	for _, fault := range tab.faults.seen {
		if !slices.ContainsFunc(tab.faults.allowed, func(text string) bool { return strings.Contains(fault, text) }) {
			tab.t.Errorf("the browser says: %s", fault)
		}
	}
}

// hear takes down what is an error.
func (f *faults) hear(event any) {
	f.Lock()
	defer f.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if event.Type == network.ResourceTypeDocument {
			f.documents = append(f.documents, event.RequestID)
		}
	case *log.EventEntryAdded:
		f.log(event.Entry)
	case *runtime.EventExceptionThrown:
		f.seen = append(f.seen, "exception: "+exception(event.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError || event.Type == runtime.ConsoleAPICalledTypeAssert {
			f.seen = append(f.seen, "console: "+joined(event.Args))
		}
	}
}

// log takes down an error of the browser's own. That a document has a status
// of an error, as a form that is sent back, is for the test to judge.
func (f *faults) log(entry *log.Entry) {
	if entry.Level != log.EntryLevelError || slices.Contains(f.documents, entry.NetworkRequestID) ||
		unasked(entry.URL) {
		return
	}
	f.seen = append(f.seen, strings.TrimSpace(string(entry.Source)+": "+entry.Text+" "+entry.URL))
}

// exception is the text of what was thrown.
func exception(details *runtime.ExceptionDetails) string {
	if details.Exception != nil && details.Exception.Description != "" {
		return details.Exception.Description
	}
	return details.Text
}

// joined is what was written to the console.
func joined(args []*runtime.RemoteObject) string {
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = arg.Description
		if texts[i] == "" {
			texts[i] = unquote(arg.Value)
		}
	}
	return strings.Join(texts, " ")
}
