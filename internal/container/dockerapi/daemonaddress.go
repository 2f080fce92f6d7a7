package dockerapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
)

// standardSocket is the daemon's address where nothing else is set.
const standardSocket = "/var/run/docker.sock"

// daemonAddress is the address of the daemon and where it is from. Both are empty for the standard socket.
type daemonAddress struct{ host, from string }

func (a daemonAddress) String() string {
	if a.from == "" {
		return a.host
	}
	return a.host + " (" + a.from + ")"
}

// findDaemon returns the daemon's address as Docker's own client finds it: from DOCKER_HOST, or the context of
// DOCKER_CONTEXT or of the client's config. Without them, it returns the socket of a rootless daemon or of Docker
// Desktop if the standard socket is missing.
func findDaemon(env func(string) (string, bool), standard string) (daemonAddress, error) {
	get := func(name string) string {
		value, _ := env(name)
		return value
	}
	if host := get("DOCKER_HOST"); host != "" {
		return daemonAddress{host, "DOCKER_HOST"}, nil
	}
	home, folder := get("HOME"), get("DOCKER_CONFIG")
	if folder == "" {
		folder = filepath.Join("/", home, ".docker") // never in the current folder, which may be a repository
	}
	var file struct{ CurrentContext string }
	configFile := filepath.Join(folder, "config.json")
	err := readJSON(configFile, &file)
	name, namedBy := get("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		name, namedBy = file.CurrentContext, configFile
	}
	if name != "" && name != "default" {
		return readContext(folder, name, namedBy)
	}
	found := daemonAddress{}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		found.from = fmt.Sprintf("not read: %s: %v", configFile, err)
	}
	if _, err := os.Stat(standard); err == nil {
		return found, nil
	}
	for _, socket := range []string{get("XDG_RUNTIME_DIR") + "/docker.sock", "/" + home + "/.docker/run/docker.sock",
		"/" + home + "/.docker/desktop/docker.sock"} {
		socket = filepath.Clean(socket)
		if info, err := os.Stat(socket); err == nil && info.Mode()&fs.ModeSocket != 0 {
			return daemonAddress{"unix://" + socket, "there is no " + standard}, nil
		}
	}
	return found, nil
}

// readContext returns the address of a context of Docker's client. namedBy is what chose the context.
func readContext(folder, name, namedBy string) (daemonAddress, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var context struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	fault := func(what string) *company.Error {
		return company.E(company.EDocker, fmt.Sprintf("the Docker context %q %s", name, what)).NeedsPerson()
	}
	const choose = "choose one of docker context ls with docker context use, or set DOCKER_HOST"
	err := readJSON(filepath.Join(folder, "contexts/meta", id, "meta.json"), &context)
	if errors.Is(err, fs.ErrNotExist) {
		return daemonAddress{}, fault("does not exist").Because(namedBy + " names it").Fix(choose)
	}
	if err != nil {
		return daemonAddress{}, fault("cannot be read").Wrap(err).Fix(choose)
	}
	docker := context.Endpoints["docker"]
	certificates := filepath.Join(folder, "contexts/tls", id, "docker")
	_, err = os.Stat(certificates)
	switch scheme, _, _ := strings.Cut(docker.Host, "://"); {
	case docker.Host == "":
		return daemonAddress{}, fault("has no address").Because(namedBy + " names it").Fix(choose)
	case scheme != "unix" && err == nil:
		return daemonAddress{}, fault("needs its own certificates").Because("only those of DOCKER_CERT_PATH are used").
			Fix(fmt.Sprintf("export DOCKER_HOST=%s DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=%s", docker.Host, certificates))
	case scheme != "unix" && docker.SkipTLSVerify:
		return daemonAddress{}, fault("uses TLS without verifying the daemon").Because("that is not supported").
			Fix("set DOCKER_HOST, DOCKER_CERT_PATH and DOCKER_TLS_VERIFY=1")
	}
	return daemonAddress{docker.Host, fmt.Sprintf("context %s of %s", name, namedBy)}, nil
}

// checkScheme returns an error for an address that the client accepts but cannot connect to.
func (a daemonAddress) checkScheme() error {
	address, err := url.Parse(a.host)
	if err != nil || address.Scheme != "ssh" && address.Scheme != "npipe" && address.Scheme != "fd" {
		return nil
	}
	fault := company.E(company.EDocker, "the Docker daemon is at "+a.String()).
		Because(address.Scheme + ":// is not supported").NeedsPerson()
	if address.Scheme == "ssh" {
		return fault.Fix(fmt.Sprintf("forward its socket and set DOCKER_HOST: ssh -fnNT -L /tmp/docker.sock:%s %s; "+
			"export DOCKER_HOST=unix:///tmp/docker.sock", standardSocket, strings.TrimSuffix(a.host, "/")))
	}
	return fault.Fix("set DOCKER_HOST to a unix:// or tcp:// address")
}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
