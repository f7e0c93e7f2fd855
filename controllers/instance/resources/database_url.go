// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"net/url"
	"strings"
)

// A databaseURL is what the operator must know of a database's URL, read the way
// libpq and pgx do, which the server connects with.
type databaseURL struct {
	// hosts and ports as written; an empty one stands for the default. There is
	// one port for all hosts, or one for each.
	hosts, ports []string
	// parameters by name; of several with one name the last counts.
	parameters map[string]string
}

// Errors of parsing say what is wrong and hold nothing of the URL: any part of it
// may be a piece of a password whose special characters are not encoded.
var (
	errNotPostgres = errors.New("the database URL does not begin with postgres://")
	errNoHost      = errors.New("the database URL names no host: it should look like postgres://user:password@host:5432/database")
	errEncoding    = errors.New("the database URL cannot be read: special characters must be percent-encoded")
	errParameters  = errors.New("the parameters of the database URL cannot be read: they should look like ?name=value&name=value, and special characters must be percent-encoded")
	errBrackets    = errors.New("the database URL has brackets that hold no IPv6 address: it should look like postgres://user:password@[2001:db8::1]:5432/database")
)

func parseDatabaseURL(text string) (databaseURL, error) {
	rest, isPostgres := strings.CutPrefix(text, "postgres://")
	if !isPostgres {
		rest, isPostgres = strings.CutPrefix(text, "postgresql://")
	}
	if !isPostgres {
		return databaseURL{}, errNotPostgres
	}
	address, query, _ := strings.Cut(withoutUser(rest), "?")
	locations, database, _ := strings.Cut(address, "/")
	if _, err := decodeURL(database); err != nil || strings.Contains(rest, "\x00") {
		return databaseURL{}, errEncoding
	}
	parsed, err := parseLocations(locations)
	if err != nil {
		return databaseURL{}, err
	}
	if parsed.parameters, err = parseParameters(query); err != nil {
		return databaseURL{}, err
	}
	return parsed.overridden(), nil
}

// withoutUser leaves out user and password, which end with the first @ that no
// slash precedes.
func withoutUser(rest string) string {
	if end := strings.IndexAny(rest, "@/"); end >= 0 && rest[end] == '@' {
		return rest[end+1:]
	}
	return rest
}

// parseLocations reads host:port,host:port. The lists are decoded as a whole, so
// that a comma may be encoded.
func parseLocations(text string) (databaseURL, error) {
	var hosts, ports []string
	for location := range strings.SplitSeq(text, ",") {
		host, port, err := splitLocation(location)
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

// splitLocation splits host:port, where the host may be an IPv6 address in
// brackets.
func splitLocation(location string) (host, port string, err error) {
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

// parseParameters reads name=value&name=value.
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
	if tlsLast == "ssl" && parameters["ssl"] == "true" { // as JDBC writes it
		parameters[sslModeParameter] = "require"
	}
	return parameters, nil
}

// overridden lets the parameters host and port count instead of what stands
// before the path.
func (u databaseURL) overridden() databaseURL {
	if host, set := u.parameters["host"]; set {
		u.hosts = strings.Split(host, ",")
	}
	if port, set := u.parameters["port"]; set {
		u.ports = strings.Split(port, ",")
	}
	return u
}

// decodeURL decodes percent-encoding. Spaces may only stand around what is
// decoded, where they count for nothing.
func decodeURL(raw string) (string, error) {
	decoded, err := url.PathUnescape(strings.Trim(raw, " "))
	if err != nil || strings.Contains(strings.Trim(raw, " "), " ") || strings.Contains(decoded, "\x00") {
		return "", errEncoding
	}
	return decoded, nil
}
