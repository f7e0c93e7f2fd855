// SPDX-License-Identifier: Apache-2.0

// Package deliver makes one attempt to tell a receiver of an event over HTTPS, and says
// how it went. It goes to no address that it may not: each is judged when it is dialled,
// after the name was resolved, so that a name which leads elsewhere the next moment
// changes nothing. Nothing of an answer is kept but its status, which could else be a
// window into a network that is not public.
//
// What follows from how an attempt went is decided in package events.
package deliver
