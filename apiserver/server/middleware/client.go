// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// Locate notes the address of who calls. It stands inside of Identify. What
// headers say of it is believed of proxies that are trusted, and of nobody else;
// nil trusts none. What they say of the name and the scheme that the client
// called is believed of nobody.
func Locate(trusted func(netip.Addr) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			CallOf(r.Context()).Client = clientAddress(r, trusted)
			next.ServeHTTP(w, r)
		})
	}
}

// clientAddress is who the last trusted proxy says that it was called by, or who
// connected where that is no such proxy.
//
// A proxy writes one of the two headers and may pass on the other as a client
// made it up. Where they disagree nobody can say which one is true, so that the
// proxy itself counts as the client.
func clientAddress(r *http.Request, trusted func(netip.Addr) bool) netip.Addr {
	peer := hostAddress(r.RemoteAddr)
	if trusted == nil || !peer.IsValid() || !trusted(peer) {
		return peer
	}
	byList := r.Header.Values("X-Forwarded-For")
	byElement := r.Header.Values("Forwarded")
	one := nearest(peer, addressesOfList(byList), trusted)
	other := nearest(peer, addressesOfElements(byElement), trusted)
	switch {
	case byElement == nil:
		return one
	case byList == nil || one == other:
		return other
	default:
		return peer
	}
}

// nearest goes back from who connected, over proxies that are trusted, to the
// first address that is none of theirs. Where a proxy says nothing that is an
// address, it ends at the proxy. The last of the addresses is the latest; one
// that is not valid stands for what is none.
func nearest(peer netip.Addr, addresses []netip.Addr, trusted func(netip.Addr) bool) netip.Addr {
	for i := len(addresses) - 1; i >= 0 && trusted(peer) && addresses[i].IsValid(); i-- {
		peer = addresses[i]
	}
	return peer
}

// addressesOfList reads X-Forwarded-For: addresses with commas between them, some
// with a port.
func addressesOfList(values []string) []netip.Addr {
	if values == nil {
		return nil
	}
	texts := strings.Split(strings.Join(values, ","), ",")
	addresses := make([]netip.Addr, len(texts))
	for i, text := range texts {
		addresses[i] = hostAddress(strings.Trim(text, " \t"))
	}
	return addresses
}

// addressesOfElements reads Forwarded (RFC 7239): the value of "for" of each
// element. A header with anything in it that is not of its grammar says nothing
// at all, since a client may have opened a quotation that a proxy then closes.
func addressesOfElements(values []string) []netip.Addr {
	if values == nil {
		return nil
	}
	rest, addresses := strings.Join(values, ","), []netip.Addr(nil)
	for more := true; more; {
		var address netip.Addr
		var ok bool
		if address, rest, more, ok = forwardedElement(rest); !ok {
			return nil
		}
		addresses = append(addresses, address)
	}
	return addresses
}

// forwardedElement reads the pairs up to the next comma, or the end.
func forwardedElement(text string) (address netip.Addr, rest string, more, ok bool) {
	for {
		name, value, after, ok := forwardedPair(strings.TrimLeft(text, " \t"))
		if !ok {
			return netip.Addr{}, "", false, false
		}
		if strings.EqualFold(name, "for") {
			if address.IsValid() {
				return netip.Addr{}, "", false, false // it has to be there once
			}
			address = hostAddress(value)
		}
		after = strings.TrimLeft(after, " \t")
		switch {
		case after == "":
			return address, "", false, true
		case after[0] == ',':
			return address, after[1:], true, true
		case after[0] != ';':
			return netip.Addr{}, "", false, false
		}
		text = after[1:]
	}
}

// forwardedPair reads a name, an equals sign, and a token or a quoted string.
// There may be nothing before a comma or a semicolon.
func forwardedPair(text string) (name, value, rest string, ok bool) {
	name, rest = token(text)
	if name == "" {
		return "", "", rest, rest == "" || rest[0] == ',' || rest[0] == ';'
	}
	if !strings.HasPrefix(rest, "=") {
		return "", "", "", false
	}
	if rest = rest[1:]; strings.HasPrefix(rest, `"`) {
		value, rest, ok = quoted(rest[1:])
		return name, value, rest, ok
	}
	value, rest = token(rest)
	return name, value, rest, value != ""
}

// tokenCharacters are those of a token (RFC 9110, section 5.6.2). Some proxies
// do not quote a colon and brackets, as they should.
const tokenCharacters = "!#$%&'*+-.^_`|~:[]" +
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func token(text string) (token, rest string) {
	rest = strings.TrimLeft(text, tokenCharacters)
	return text[:len(text)-len(rest)], rest
}

// quoted reads what follows a quotation mark, up to the next one.
func quoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// hostAddress reads an address, which IPv6 may have in brackets, with or without
// a port. It is not valid where there is none, such as "unknown".
func hostAddress(text string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return plain(withPort.Addr())
	}
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		var closed bool
		if text, closed = strings.CutSuffix(inside, "]"); !closed {
			return netip.Addr{}
		}
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return plain(address)
}

// plain writes an address in the one form that it is compared in.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
