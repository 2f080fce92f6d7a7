package depproxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Failure describes a failed request to a registry. It is only for the operator, because it names the host.
type Failure struct {
	Why   string
	Fix   string
	Lasts bool // a retry has the same result
	// Without is the kind of registry that the task could do without. It is empty if that would not help.
	Without string
	// Away means that the registry cannot be reached, is silent, or fails for all requests.
	Away bool
	// Unreachable means that it cannot be reached or is silent. Requests were sent again before that is said.
	Unreachable bool
}

// explainFailure converts an error of a kind of registry to a Failure.
func (s *Store) explainFailure(kind string, err error) Failure {
	failure := describeFailure(kind, err, s.upstreams.patience())
	origin := failedOrigin(err)
	failure.Away = !failure.Lasts && s.transport.registries[place{kind, origin}] != nil &&
		s.transport.outages.isAway(origin)
	if failure.Unreachable = failure.Away && !errors.As(err, new(*httpError)); failure.Unreachable {
		failure.Fix = "nothing was changed, and company approve tries again once this machine reaches the registry" +
			goOnWithout(kind)
	}
	return failure
}

// goOnWithout returns the end of a fix: the line of the config that leaves a kind of registry out.
func goOnWithout(kind string) string {
	return "; or go on without its packages, with deps.without: [" + kind + "] in company.yaml"
}

// failedOrigin returns the origin of the host in an error, or "".
func failedOrigin(err error) string {
	if h := (*httpError)(nil); errors.As(err, &h) {
		return h.origin
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if address, err := url.Parse(u.URL); err == nil && address.Host != "" {
			return originOf(address)
		}
	}
	return ""
}

// describeFailure converts an error that was answered with "bad gateway" to a Failure.
func describeFailure(kind string, err error, patience time.Duration) Failure {
	host := "the registry"
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if address, perr := url.Parse(u.URL); perr == nil && address.Host != "" {
			host += " " + address.Host
		}
	}
	switch {
	case diskFull(err):
		return Failure{Why: "the host's disk is full",
			Fix: "free some space on the disk of the office's cache of packages, and the task goes on"}
	case isOwnFault(err):
		return Failure{Why: "the office's cache of packages cannot be used: " + err.Error(),
			Fix: "mend that (its folder must be writable), and the task goes on"}
	}
	reach := "see that this machine reaches the registry, and the task goes on" + goOnWithout(kind)
	if h := (*httpError)(nil); errors.As(err, &h) {
		failure := Failure{Why: fmt.Sprintf("the registry %s answers with status %d", h.host, h.status), Fix: reach,
			Without: kind}
		if h.status == http.StatusUnauthorized || h.status == http.StatusForbidden {
			failure.Fix = "give the client on this machine a login that the registry accepts"
			failure.Lasts = true
			failure.Without = ""
		}
		return failure
	}
	for _, lasting := range []error{errTooLarge, errDigestMismatch, errPrivateAddress, errWrongKind} {
		if errors.Is(err, lasting) {
			return Failure{Why: lasting.Error(),
				Fix: "find out why the registry serves this, and mend it there; or lock another version", Lasts: true}
		}
	}
	if errors.Is(err, errSilent) {
		return Failure{Why: fmt.Sprintf(
			"%s accepts requests and does not answer within %s", host, min(patience, probeAfter+probeTimeout)), Fix: reach,
			Without: kind}
	}
	return Failure{Why: fmt.Sprintf("%s cannot be reached: %v", host, findRootCause(err)), Fix: reach, Without: kind}
}
