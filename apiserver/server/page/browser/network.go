// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
)

// Throttle makes the network slow: each request waits so long for its answer,
// and all together get so many kilobits a second.
func (tab *Tab) Throttle(latency time.Duration, kilobits int) {
	tab.t.Helper()
	bytes := float64(kilobits) * 1000 / 8
	do(tab, "slow the network", send("set network conditions", network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{
			Latency:            float64(latency) / float64(time.Millisecond),
			DownloadThroughput: bytes,
			UploadThroughput:   bytes,
		}}}))
}

// Request is something that the page had to fetch.
type Request struct {
	URL    string
	Method string
	Type   string // Document, Stylesheet, Script, Image, Fetch
	Status int    // of HTTP; 0 without an answer
	Bytes  int    // that came over the network: header and body, compressed as they are
	Cached bool   // it was there already
}

// Requests are those since the last Go, Submit and their like, in the order in
// which they were sent. One that redirects is one of its own.
func (tab *Tab) Requests() []Request {
	tab.traffic.Lock()
	defer tab.traffic.Unlock()
	requests := make([]Request, len(tab.traffic.sent))
	for i, sent := range tab.traffic.sent {
		requests[i] = sent.Request
	}
	return requests
}

// traffic is what a tab sent and received. Chromium's goroutine writes it.
type traffic struct {
	sync.Mutex
	sent []*sentRequest
}

// sentRequest is a request with what events call it. A redirect goes on under
// the same id.
type sentRequest struct {
	Request
	id network.RequestID
}

// forget starts anew.
func (r *traffic) forget() {
	r.Lock()
	defer r.Unlock()
	r.sent = nil
}

// hear takes down what the network does.
func (r *traffic) hear(event any) {
	r.Lock()
	defer r.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if event.RedirectResponse != nil {
			r.with(event.RequestID, func(request *Request) {
				request.answered(event.RedirectResponse)
				request.Bytes = int(event.RedirectResponse.EncodedDataLength)
			})
		}
		if unasked(event.Request.URL) {
			return
		}
		r.sent = append(r.sent, &sentRequest{id: event.RequestID, Request: Request{
			URL: event.Request.URL, Method: event.Request.Method, Type: string(event.Type),
		}})
	case *network.EventRequestServedFromCache:
		r.with(event.RequestID, func(request *Request) { request.Cached = true })
	case *network.EventResponseReceived:
		r.with(event.RequestID, func(request *Request) { request.answered(event.Response) })
	case *network.EventLoadingFinished:
		r.with(event.RequestID, func(request *Request) { request.Bytes = int(event.EncodedDataLength) })
	}
}

// unasked reports whether it was the browser that asked, sooner or later, for
// an icon that no page names.
func unasked(url string) bool { return strings.HasSuffix(url, "/favicon.ico") }

// with changes the last request of an id, if it is one since the last page.
func (r *traffic) with(id network.RequestID, change func(*Request)) {
	for _, sent := range slices.Backward(r.sent) {
		if sent.id == id {
			change(&sent.Request)
			return
		}
	}
}

// answered takes down the head of an answer.
func (q *Request) answered(response *network.Response) {
	q.Status = int(response.Status)
	q.Cached = q.Cached || response.FromDiskCache || response.FromPrefetchCache
}
