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
	var wrong ErrorList
	for i, origin := range c.CORS.AllowedOrigins {
		if origin != AnyOrigin {
			_, err := NormalizeOrigin(origin)
			wrong.addError(fmt.Sprintf("cors.allowedOrigins[%d]", i), err)
		}
	}
	validatePlans(&wrong, c.Plans)
	for i, proxy := range c.Proxies {
		_, err := ParseNetwork(proxy)
		wrong.addError(fmt.Sprintf("proxies[%d]", i), err)
	}
	_, err := ParseURL(c.URL)
	wrong.addError("url", err)
	if c.Webhooks != nil {
		validateWebhooks(&wrong, c.Webhooks)
	}
	if c.Retention != nil && c.Retention.Deliveries != "" {
		_, err := c.Retention.Deliveries.Duration()
		wrong.addError("retention.deliveries", err)
	}
	if c.Page != nil {
		validatePage(&wrong, c.Page)
	}
	return wrong.toError()
}

func validatePlans(wrong *ErrorList, plans map[string]MonthlyCalls) {
	for _, name := range slices.Sorted(maps.Keys(plans)) {
		if name == "" {
			wrong.add("plans", "plan name must not be empty; applications without a plan have no limits")
		}
		calls := plans[name]
		for _, service := range []struct {
			name  string
			limit *int64
		}{{"explain", calls.Explain}, {"rationale", calls.Rationale}, {"suggest", calls.Suggest}, {"triage", calls.Triage}} {
			if service.limit != nil && *service.limit < 0 {
				wrong.add("plans."+name+"."+service.name, "%d is negative; expected the number of calls allowed per month, 0 for none", *service.limit)
			}
		}
	}
}

func validateWebhooks(wrong *ErrorList, webhooks *Webhooks) {
	for i, port := range webhooks.AllowedPorts {
		if port < 1 || port > 65535 {
			wrong.add(fmt.Sprintf("webhooks.allowedPorts[%d]", i), "expected 1 to 65535")
		}
	}
	if webhooks.CA != "" {
		_, err := parseRootCAs([]byte(webhooks.CA))
		wrong.addError("webhooks.ca", err)
	}
}

// parseRootCAs parses a PEM bundle.
func parseRootCAs(bundle []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, errors.New("expected certificates in PEM")
	}
	return pool, nil
}

// AnyOrigin is the value of CORS.AllowedOrigins that allows every origin.
const AnyOrigin = "*"

// NormalizeOrigin returns an origin, scheme://host or scheme://host:port, as browsers
// write it: in lower case and without the scheme's default port.
func NormalizeOrigin(text string) (string, error) {
	origin, err := url.Parse(text)
	if err != nil || !isServerURL(origin) || origin.Path != "" && origin.Path != "/" {
		return "", fmt.Errorf("%.100q is not an origin; write it as https://portal.example or https://portal.example:8443, or * for all", text)
	}
	normal := strings.ToLower(origin.Scheme + "://" + origin.Host)
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[origin.Scheme]
	return strings.TrimSuffix(normal, defaultPort), nil
}

// ParseURL parses the public URL of a server and removes trailing slashes. Empty text
// yields no URL.
func ParseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if address, err := url.Parse(text); err != nil || !isServerURL(address) {
		return "", fmt.Errorf("%.100q is not an instance URL; write it as https://acme.example", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// isServerURL reports whether a URL has a scheme, a host and possibly a path, and nothing
// else.
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
		return netip.Prefix{}, fmt.Errorf("%.100q is not a CIDR; write it as 10.0.0.0/8 or 2001:db8::/32, or a single address as 10.0.0.1", text)
	}
	const mapped = 96 // prefix length of IPv4-mapped IPv6 addresses
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network.Masked(), nil
}
