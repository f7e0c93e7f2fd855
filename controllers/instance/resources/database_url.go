// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"net/url"
	"strings"
)

// A databaseURL holds the parts of a database URL that the operator needs, parsed as libpq
// and pgx do. The server connects with pgx.
type databaseURL struct {
	// hosts and ports are unvalidated; an empty value means the default. Either all hosts
	// share one port, or each host has its own.
	hosts, ports []string
	// parameters maps names to values. If a name occurs several times, the last value wins.
	parameters map[string]string
}

// Parse errors contain no part of the URL, because any part may belong to a password with
// unencoded special characters.
var (
	errNotPostgres = errors.New("invalid database URL: expected the prefix postgres:// or postgresql://")
	errNoHost      = errors.New("missing host in the database URL: expected the form postgres://user:password@host:5432/database")
	errEncoding    = errors.New("invalid encoding in the database URL: special characters must be percent-encoded")
	errParameters  = errors.New("invalid parameters in the database URL: expected the form ?name=value&name=value; special characters must be percent-encoded")
	errBrackets    = errors.New("invalid IPv6 address in the database URL: expected the form postgres://user:password@[2001:db8::1]:5432/database")
)

func parseDatabaseURL(text string) (databaseURL, error) {
	rest, isPostgres := strings.CutPrefix(text, "postgres://")
	if !isPostgres {
		rest, isPostgres = strings.CutPrefix(text, "postgresql://")
	}
	if !isPostgres {
		return databaseURL{}, errNotPostgres
	}
	address, query, _ := strings.Cut(trimUserInfo(rest), "?")
	locations, database, _ := strings.Cut(address, "/")
	if _, err := decodeURL(database); err != nil || strings.Contains(rest, "\x00") {
		return databaseURL{}, errEncoding
	}
	parsed, err := parseHostPorts(locations)
	if err != nil {
		return databaseURL{}, err
	}
	if parsed.parameters, err = parseParameters(query); err != nil {
		return databaseURL{}, err
	}
	return parsed.withParameterOverrides(), nil
}

// trimUserInfo removes user and password, which end at the first @ not preceded by a
// slash.
func trimUserInfo(rest string) string {
	if end := strings.IndexAny(rest, "@/"); end >= 0 && rest[end] == '@' {
		return rest[end+1:]
	}
	return rest
}

// parseHostPorts parses host:port,host:port. It decodes each list as a whole, because
// commas may be percent-encoded.
func parseHostPorts(text string) (databaseURL, error) {
	var hosts, ports []string
	for location := range strings.SplitSeq(text, ",") {
		host, port, err := splitHostPort(location)
		if err != nil {
			return databaseURL{}, err
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	hostList, err := decodeURL(strings.Join(hosts, ","))
	if err != nil {
		return databaseURL{}, errEncoding
	}
	portList, err := decodeURL(strings.Join(ports, ","))
	if err != nil {
		return databaseURL{}, errEncoding
	}
	return databaseURL{hosts: strings.Split(hostList, ","), ports: strings.Split(portList, ",")}, nil
}

// splitHostPort splits host:port. The host may be an IPv6 address in brackets.
func splitHostPort(location string) (host, port string, err error) {
	inBrackets, isIPv6 := strings.CutPrefix(location, "[")
	if !isIPv6 {
		host, port, _ = strings.Cut(location, ":")
		return host, port, nil
	}
	host, after, closed := strings.Cut(inBrackets, "]")
	port, hasPort := strings.CutPrefix(after, ":")
	if !closed || host == "" || after != "" && !hasPort {
		return "", "", errBrackets
	}
	return host, port, nil
}

// parseParameters parses name=value&name=value.
func parseParameters(query string) (map[string]string, error) {
	parameters := map[string]string{}
	tlsLast := ""
	for pair := range strings.SplitSeq(strings.TrimSuffix(query, "&"), "&") {
		if query == "" {
			break
		}
		rawName, rawValue, assigned := strings.Cut(pair, "=")
		name, err := decodeURL(rawName)
		if err != nil || !assigned || strings.Contains(rawValue, "=") {
			return nil, errParameters
		}
		if parameters[name], err = decodeURL(rawValue); err != nil {
			return nil, errParameters
		}
		if name == "ssl" || name == sslModeParameter {
			tlsLast = name
		}
	}
	if tlsLast == "ssl" && parameters["ssl"] == "true" { // JDBC syntax
		parameters[sslModeParameter] = "require"
	}
	return parameters, nil
}

// withParameterOverrides replaces the hosts and ports before the path with the host and
// port parameters, if set.
func (u databaseURL) withParameterOverrides() databaseURL {
	if host, set := u.parameters["host"]; set {
		u.hosts = strings.Split(host, ",")
	}
	if port, set := u.parameters["port"]; set {
		u.ports = strings.Split(port, ",")
	}
	return u
}

// decodeURL decodes percent-encoding. Spaces are allowed only around the value and are
// ignored.
func decodeURL(raw string) (string, error) {
	decoded, err := url.PathUnescape(strings.Trim(raw, " "))
	if err != nil || strings.Contains(strings.Trim(raw, " "), " ") || strings.Contains(decoded, "\x00") {
		return "", errEncoding
	}
	return decoded, nil
}
