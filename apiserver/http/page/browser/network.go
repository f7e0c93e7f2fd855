// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
)

// ThrottleNetwork simulates a slow network, given the latency per request and the total
// bandwidth in kilobits per second.
func (tab *Tab) ThrottleNetwork(latency time.Duration, kilobits int) {
	tab.t.Helper()
	bytes := float64(kilobits) * 1000 / 8
	runAction(tab, "slow the network", sendCommand("set network conditions", network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{
			Latency:            float64(latency) / float64(time.Millisecond),
			DownloadThroughput: bytes,
			UploadThroughput:   bytes,
		}}}))
}

// A Request is a request made by the page.
type Request struct {
	URL    string
	Method string
	Type   string // Document, Stylesheet, Script, Image, Fetch
	Status int    // HTTP status; 0 without a response
	Bytes  int    // received over the network: headers and body, as compressed
	Cached bool   // served from the cache
}

// Requests returns the requests since the last Go or Reload, in order.
// A redirect is a request of its own.
func (tab *Tab) Requests() []Request {
	tab.network.Lock()
	defer tab.network.Unlock()
	requests := make([]Request, len(tab.network.requests))
	for i, sent := range tab.network.requests {
		requests[i] = sent.Request
	}
	return requests
}

// networkLog records the requests of a tab. Chromium's goroutine writes to it.
type networkLog struct {
	sync.Mutex
	requests []*sentRequest
}

// sentRequest is a request with its protocol ID. A redirect keeps the ID.
type sentRequest struct {
	Request
	id network.RequestID
}

// reset clears the log.
func (l *networkLog) reset() {
	l.Lock()
	defer l.Unlock()
	l.requests = nil
}

// handleEvent records network events.
func (l *networkLog) handleEvent(event any) {
	l.Lock()
	defer l.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if event.RedirectResponse != nil {
			l.update(event.RequestID, func(request *Request) {
				request.setResponse(event.RedirectResponse)
				request.Bytes = int(event.RedirectResponse.EncodedDataLength)
			})
		}
		if isFaviconRequest(event.Request.URL) {
			return
		}
		l.requests = append(l.requests, &sentRequest{id: event.RequestID, Request: Request{
			URL: event.Request.URL, Method: event.Request.Method, Type: string(event.Type),
		}})
	case *network.EventRequestServedFromCache:
		l.update(event.RequestID, func(request *Request) { request.Cached = true })
	case *network.EventResponseReceived:
		l.update(event.RequestID, func(request *Request) { request.setResponse(event.Response) })
	case *network.EventLoadingFinished:
		l.update(event.RequestID, func(request *Request) { request.Bytes = int(event.EncodedDataLength) })
	}
}

// isFaviconRequest reports whether the browser itself requested an icon that no page links
// to.
func isFaviconRequest(url string) bool { return strings.HasSuffix(url, "/favicon.ico") }

// update changes the latest request with an ID, if it was sent since the last Go or Reload.
func (l *networkLog) update(id network.RequestID, change func(*Request)) {
	for _, sent := range slices.Backward(l.requests) {
		if sent.id == id {
			change(&sent.Request)
			return
		}
	}
}

// setResponse records the headers of a response.
func (r *Request) setResponse(response *network.Response) {
	r.Status = int(response.Status)
	r.Cached = r.Cached || response.FromDiskCache || response.FromPrefetchCache
}
