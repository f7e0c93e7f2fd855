// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// DatabaseURLKey is the key of the Secret of external storage whose value is
// the database's URL.
const DatabaseURLKey = "url"

const defaultDatabasePort = 5432

// DatabasePorts are the ports that pods connect to by the URL of an external
// database, ascending. The URL is read the way libpq and pgx do, with several
// hosts, and with host and port as parameters too. Errors say what is wrong
// without repeating any of the URL.
func DatabasePorts(databaseURL string) ([]int32, error) {
	rest, isPostgres := strings.CutPrefix(databaseURL, "postgres://")
	if !isPostgres {
		rest, isPostgres = strings.CutPrefix(databaseURL, "postgresql://")
	}
	if !isPostgres {
		return nil, errors.New("the database URL does not begin with postgres://")
	}
	texts, err := portTexts(rest)
	if err != nil {
		return nil, err
	}
	return parsePorts(texts)
}

// portTexts are the ports of a URL without its scheme, as written: one
// for every host, empty where it is left out.
func portTexts(rest string) ([]string, error) {
	if end := strings.IndexAny(rest, "@/"); end >= 0 && rest[end] == '@' {
		rest = rest[end+1:]
	}
	address, query, _ := strings.Cut(rest, "?")
	hosts, _, _ := strings.Cut(address, "/")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the parameters of the database URL cannot be read: special characters must be percent-encoded")
	}
	if hosts == "" && parameters.Get("host") == "" {
		return nil, errors.New("the database URL names no host: it should look like postgres://user:password@host:5432/database")
	}
	if parameters.Has("port") {
		return strings.Split(parameters.Get("port"), ","), nil
	}
	var texts []string
	for host := range strings.SplitSeq(hosts, ",") {
		texts = append(texts, portText(host))
	}
	return texts, nil
}

// portText is what follows the colon of host:port, where the host may be an
// IPv6 address in brackets.
func portText(host string) string {
	colon := strings.LastIndexByte(host, ':')
	if colon <= strings.LastIndexByte(host, ']') {
		return ""
	}
	return host[colon+1:]
}

// parsePorts are the ports as numbers, ascending and once each.
func parsePorts(texts []string) ([]int32, error) {
	ports := make([]int32, 0, len(texts))
	for _, text := range texts {
		if text == "" {
			text = strconv.Itoa(defaultDatabasePort)
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return nil, errors.New("the database URL has a port that is not a number from 1 to 65535: special characters in the password must be percent-encoded")
		}
		ports = append(ports, int32(port))
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}
