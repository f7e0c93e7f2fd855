// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultDatabasePort = 5432

	sslModeParameter  = "sslmode"
	rootCertParameter = "sslrootcert"
	systemRootCert    = "system"
	verifyFull        = "verify-full"
	verifyHint        = ": use sslmode=verify-full, with caRef for a private CA, or set allowInsecure: true to accept this"
	localhostName     = "localhost"
)

var (
	errInvalidPort = errors.New("invalid port in the database URL: expected a number from 1 to 65535; " +
		"special characters in the password must be percent-encoded")
	errPortHostMismatch = errors.New("the numbers of hosts and ports in the database URL differ: set one port for all hosts, or one for each")

	errNoSSLMode = errors.New("sslmode is not set in the database URL, and PostgreSQL's default, prefer, " +
		"falls back to unencrypted connections" + verifyHint)
	errUnencrypted        = errors.New("the sslmode of the database URL allows unencrypted connections" + verifyHint)
	errUnverifiedServer   = errors.New("the sslmode of the database URL does not verify the server certificate" + verifyHint)
	errUnverifiedHostname = errors.New("the sslmode of the database URL does not verify the server's hostname" + verifyHint)
	errInvalidSSLMode     = errors.New("unknown sslmode in the database URL" + verifyHint)
)

// DatabasePortsFromURL returns the ports in the URL of an external database, in
// ascending order. Like libpq and pgx, it accepts several hosts, and hosts and ports as
// parameters. Errors never contain any part of the URL.
func DatabasePortsFromURL(databaseURL string) ([]int32, error) {
	parsed, err := parseDatabaseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	if strings.Join(parsed.hosts, "") == "" {
		return nil, errNoHost
	}
	if len(parsed.ports) > 1 && len(parsed.ports) != len(parsed.hosts) {
		return nil, errPortHostMismatch
	}
	return parsePorts(parsed.ports)
}

// parsePorts parses ports and returns them in ascending order without duplicates.
func parsePorts(values []string) ([]int32, error) {
	ports := make([]int32, 0, len(values))
	for _, value := range values {
		if value == "" {
			value = strconv.Itoa(defaultDatabasePort)
		}
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 {
			return nil, errInvalidPort
		}
		ports = append(ports, int32(port))
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}

// ValidateDatabaseTLS returns an error if the URL of an external database cannot be parsed
// or is less secure than sslmode=verify-full. It accepts every database that is reached
// within the pod, over loopback or a Unix socket, because such connections cannot be
// intercepted. It interprets sslmode as pgx and libpq do: unset means prefer.
// sslrootcert=system means verify-full; with a weaker sslmode, which libpq rejects and pgx
// overrides, it returns an error. Errors never contain any part of the URL.
func ValidateDatabaseTLS(databaseURL string) error {
	parsed, err := parseDatabaseURL(databaseURL)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parsed.hosts, isRemoteHost) {
		return nil
	}
	mode := parsed.parameters[sslModeParameter]
	if mode == "" && parsed.parameters[rootCertParameter] == systemRootCert {
		return nil
	}
	return validateSSLMode(mode)
}

func validateSSLMode(mode string) error {
	switch mode {
	case verifyFull:
		return nil
	case "":
		return errNoSSLMode
	case "disable", "allow", "prefer":
		return errUnencrypted
	case "require":
		return errUnverifiedServer
	case "verify-ca":
		return errUnverifiedHostname
	}
	return errInvalidSSLMode
}

// isRemoteHost reports whether a host is reached over the network. An empty host is a
// Unix socket or the local machine.
func isRemoteHost(host string) bool {
	if host == "" || host == localhostName || strings.HasPrefix(host, "/") {
		return false
	}
	address, err := netip.ParseAddr(host)
	return err != nil || !address.IsLoopback()
}

// formatDatabasePorts formats the ports of a database, separated by commas.
func formatDatabasePorts(in Input) string {
	if StorageFor(in.Instance).database == nil {
		return ""
	}
	ports := make([]string, len(in.DatabasePorts))
	for i, port := range in.DatabasePorts {
		ports[i] = strconv.Itoa(int(port))
	}
	return strings.Join(ports, ",")
}

// ParseDatabasePorts returns the database ports in a pod template's
// DatabasePortsAnnotation, for Input.RollbackPorts. It returns nil if the annotation is
// missing or invalid.
func ParseDatabasePorts(annotations map[string]string) []int32 {
	value := annotations[DatabasePortsAnnotation]
	if value == "" {
		return nil
	}
	ports, err := parsePorts(strings.Split(value, ","))
	if err != nil {
		return nil
	}
	return ports
}
