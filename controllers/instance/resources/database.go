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

	sslModeParameter     = "sslmode"
	rootCertParameter    = "sslrootcert"
	rootCertOfTheSystem  = "system"
	verifyFull           = "verify-full"
	howToVerify          = ": use sslmode=verify-full, and caRef for an authority of your own, or accept it by allowInsecure: true"
	loopbackOfTheMachine = "localhost"
)

var (
	errPort = errors.New("the database URL has a port that is not a number from 1 to 65535: " +
		"special characters in the password must be percent-encoded")
	errPortCount = errors.New("the database URL has more or fewer ports than hosts: give one port for all, or one for each")

	errNoSSLMode = errors.New("the database URL names no sslmode, and PostgreSQL's default, prefer, " +
		"does without encryption where the other side has none" + howToVerify)
	errUnencrypted = errors.New("by its sslmode the database URL does without encryption, always or where the other side has none" + howToVerify)
	errUnverified  = errors.New("by its sslmode the database URL takes any server for the database" + howToVerify)
	errAnyHost     = errors.New("by its sslmode the database URL takes any server for the database that has a certificate of the authority" + howToVerify)
	errSSLMode     = errors.New("the database URL has an sslmode that does not exist" + howToVerify)
)

// DatabasePorts are the ports that pods connect to by the URL of an external
// database, ascending. The URL is read the way libpq and pgx do, with several
// hosts, and with host and port as parameters too. Errors say what is wrong
// without repeating any of the URL.
func DatabasePorts(databaseURL string) ([]int32, error) {
	parsed, err := parseDatabaseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	if strings.Join(parsed.hosts, "") == "" {
		return nil, errNoHost
	}
	if len(parsed.ports) > 1 && len(parsed.ports) != len(parsed.hosts) {
		return nil, errPortCount
	}
	return parsePorts(parsed.ports)
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
			return nil, errPort
		}
		ports = append(ports, int32(port))
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}

// CheckDatabaseIsVerified says how the URL of an external database is weaker than
// sslmode=verify-full, which spec.storage.external.allowInsecure accepts; nil
// when it is not, and for a database that is reached within the pod, by loopback
// or a socket, where nobody can stand between. sslmode is what pgx and libpq take
// it for: prefer where it is left out, verify-full with sslrootcert=system, which
// pgx would put above any sslmode, and libpq beside no weaker one. Errors hold
// nothing of the URL; one that cannot be read is an error too.
func CheckDatabaseIsVerified(databaseURL string) error {
	parsed, err := parseDatabaseURL(databaseURL)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parsed.hosts, isElsewhere) {
		return nil
	}
	mode := parsed.parameters[sslModeParameter]
	if mode == "" && parsed.parameters[rootCertParameter] == rootCertOfTheSystem {
		return nil
	}
	return checkSSLMode(mode)
}

func checkSSLMode(mode string) error {
	switch mode {
	case verifyFull:
		return nil
	case "":
		return errNoSSLMode
	case "disable", "allow", "prefer":
		return errUnencrypted
	case "require":
		return errUnverified
	case "verify-ca":
		return errAnyHost
	}
	return errSSLMode
}

// isElsewhere says whether a host is reached over the network. A host that is
// left out is a socket or this machine.
func isElsewhere(host string) bool {
	if host == "" || host == loopbackOfTheMachine || strings.HasPrefix(host, "/") {
		return false
	}
	address, err := netip.ParseAddr(host)
	return err != nil || !address.IsLoopback()
}

// notePorts writes the ports of a database in one line.
func notePorts(in Input) string {
	if !in.has(notesPorts) || StorageOf(in.Instance).database == nil {
		return ""
	}
	words := make([]string, len(in.DatabasePorts))
	for i, port := range in.DatabasePorts {
		words[i] = strconv.Itoa(int(port))
	}
	return strings.Join(words, ",")
}

// NotedPorts reads DatabasePortsAnnotation from the annotations of a pod template:
// the ports of the database that its pods connect to, as Input.PutBackPorts takes
// them. There are none where it was written before revision 3, or by somebody
// else.
func NotedPorts(annotations map[string]string) []int32 {
	noted := annotations[DatabasePortsAnnotation]
	if noted == "" {
		return nil
	}
	ports, err := parsePorts(strings.Split(noted, ","))
	if err != nil {
		return nil
	}
	return ports
}
