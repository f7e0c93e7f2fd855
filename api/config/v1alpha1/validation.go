// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Validate returns an ErrorList of all invalid fields, or nil. It accepts configurations
// with and without defaults.
func (c *ServerConfiguration) Validate() error {
	var errs ErrorList
	for i, origin := range c.CORS.AllowedOrigins {
		if origin != AnyOrigin {
			_, err := NormalizeOrigin(origin)
			errs.addError(fmt.Sprintf("cors.allowedOrigins[%d]", i), err)
		}
	}
	validatePlans(&errs, c.Plans)
	for i, proxy := range c.Proxies {
		_, err := ParseNetwork(proxy)
		errs.addError(fmt.Sprintf("proxies[%d]", i), err)
	}
	_, err := ParseURL(c.URL)
	errs.addError("url", err)
	if c.Webhooks != nil {
		validateWebhooks(&errs, c.Webhooks)
	}
	if c.Retention != nil && c.Retention.Deliveries != "" {
		_, err := c.Retention.Deliveries.Duration()
		errs.addError("retention.deliveries", err)
	}
	if c.Page != nil {
		validatePage(&errs, c.Page)
	}
	return errs.toError()
}

func validatePlans(errs *ErrorList, plans map[string]MonthlyCalls) {
	for _, name := range slices.Sorted(maps.Keys(plans)) {
		if name == "" {
			errs.add("plans", "plan name must not be empty: applications without a plan have no limits")
		}
		calls := plans[name]
		for _, service := range []struct {
			name  string
			limit *int64
		}{{"explain", calls.Explain}, {"rationale", calls.Rationale}, {"suggest", calls.Suggest}, {"triage", calls.Triage}} {
			if service.limit != nil && *service.limit < 0 {
				errs.add("plans."+name+"."+service.name, "negative limit %d: expected the number of calls allowed per month, or 0 to allow none", *service.limit)
			}
		}
	}
}

func validateWebhooks(errs *ErrorList, webhooks *Webhooks) {
	for i, port := range webhooks.AllowedPorts {
		if port < 1 || port > 65535 {
			errs.add(fmt.Sprintf("webhooks.allowedPorts[%d]", i), "expected 1 to 65535")
		}
	}
	if webhooks.CA != "" {
		_, err := parseRootCAs([]byte(webhooks.CA))
		errs.addError("webhooks.ca", err)
	}
}

// parseRootCAs parses a PEM bundle.
func parseRootCAs(bundle []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, errors.New("expected PEM-encoded certificates")
	}
	return pool, nil
}

// AnyOrigin is the value of CORS.AllowedOrigins that allows every origin.
const AnyOrigin = "*"

// NormalizeOrigin returns an origin, scheme://host or scheme://host:port, in the form that
// browsers send: in lower case and without the scheme's default port.
func NormalizeOrigin(text string) (string, error) {
	origin, err := url.Parse(text)
	if err != nil || !isServerURL(origin) || origin.Path != "" && origin.Path != "/" {
		return "", fmt.Errorf("invalid origin %.100q: expected a scheme, a host and an optional port, such as https://portal.example:8443, or * for all origins", text)
	}
	normal := strings.ToLower(origin.Scheme + "://" + origin.Host)
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[origin.Scheme]
	return strings.TrimSuffix(normal, defaultPort), nil
}

// ParseURL parses the public URL of a server and removes trailing slashes. It accepts an
// empty URL.
func ParseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if address, err := url.Parse(text); err != nil || !isServerURL(address) {
		return "", fmt.Errorf("invalid instance URL %.100q: expected an http or https URL, such as https://acme.example", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// isServerURL reports whether a URL consists of an http or https scheme, a host and an
// optional path.
func isServerURL(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && isValidHost(u.Hostname()) &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

func isValidHost(host string) bool {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	return host != "" && !strings.Contains(host, "*")
}

// ParseNetwork parses a network in CIDR notation, or a single address. Host bits after
// the prefix are ignored, and IPv4-mapped IPv6 networks become IPv4 networks.
func ParseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("invalid CIDR %.100q: expected a network such as 10.0.0.0/8 or 2001:db8::/32, or a single address such as 10.0.0.1", text)
	}
	const mapped = 96 // prefix length of IPv4-mapped IPv6 addresses
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network.Masked(), nil
}
