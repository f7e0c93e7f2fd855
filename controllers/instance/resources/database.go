// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// DatabaseURLKey is the key of the Secret of external storage whose value is
// the database's URL.
const DatabaseURLKey = "url"

const defaultPostgresPort = "5432"

// Database is what the objects of an Instance depend on of the external
// database's URL. Embedded storage has the zero value.
type Database struct {
	// Checksum of the URL: the pods read it once, so a new one replaces them.
	Checksum string
	// Ports that the pods connect to, ascending.
	Ports []int32
}

// ParseDatabase reads the URL of an external database the way libpq and pgx do,
// with several hosts, and with host and port as parameters too. Its errors say
// what is wrong without repeating any of the URL.
func ParseDatabase(instance *v1alpha1.Instance, databaseURL string) (Database, error) {
	rest, isPostgres := strings.CutPrefix(databaseURL, "postgres://")
	if !isPostgres {
		rest, isPostgres = strings.CutPrefix(databaseURL, "postgresql://")
	}
	if !isPostgres {
		return Database{}, errors.New("the database URL does not begin with postgres://")
	}
	texts, err := databasePortTexts(rest)
	if err != nil {
		return Database{}, err
	}
	ports, err := databasePorts(texts)
	if err != nil {
		return Database{}, err
	}
	return Database{Checksum: SecretChecksum(instance, databaseURL), Ports: ports}, nil
}

// databasePortTexts are the ports of a URL without its scheme, as written: one
// for every host, empty where it is left out.
func databasePortTexts(rest string) ([]string, error) {
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

// databasePorts are the ports as numbers, ascending and once each.
func databasePorts(texts []string) ([]int32, error) {
	ports := make([]int32, 0, len(texts))
	for _, text := range texts {
		if text == "" {
			text = defaultPostgresPort
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
