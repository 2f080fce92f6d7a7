package depproxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Failure is what a registry failed at, for the operator alone: it names his host.
type Failure struct {
	Why   string
	Fix   string
	Lasts bool // every try ends alike
	// Without is the kind of registry that the work may go on without; empty: that would not help.
	Without string
	// Away: the registry cannot be reached, is silent, or fails for all that it is asked.
	Away bool
}

// explainFailure makes a Failure of an error of a kind of registry.
func (s *Store) explainFailure(kind string, err error) Failure {
	f := describeFailure(kind, err, s.upstreams.patience())
	origin := failedOrigin(err)
	f.Away = !f.Lasts && s.transport.registries[place{kind, origin}] != nil && s.transport.outages.isAway(origin)
	return f
}

// failedOrigin is the origin of the host that an error is about; empty: it is about none.
func failedOrigin(err error) string {
	if h := (*httpError)(nil); errors.As(err, &h) {
		return h.origin
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if at, err := url.Parse(u.URL); err == nil && at.Host != "" {
			return originOf(at)
		}
	}
	return ""
}

// describeFailure makes a Failure of an error that was answered with "bad gateway".
func describeFailure(kind string, err error, patience time.Duration) Failure {
	host := "the registry"
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if at, perr := url.Parse(u.URL); perr == nil && at.Host != "" {
			host += " " + at.Host
		}
	}
	switch {
	case diskFull(err):
		return Failure{Why: "the host's disk is full", Fix: "free some space on the disk of the office's cache of packages, and the task goes on"}
	case isOwnFault(err):
		return Failure{Why: "the office's cache of packages cannot be used: " + err.Error(), Fix: "mend that (its folder must be writable), and the task goes on"}
	}
	reach := "see that this machine reaches the registry, and the task goes on; or go on without its packages, with deps.without: [" + kind + "] in company.yaml"
	if h := (*httpError)(nil); errors.As(err, &h) {
		f := Failure{Why: fmt.Sprintf("the registry %s answers with status %d", h.host, h.status), Fix: reach, Without: kind}
		if h.status == http.StatusUnauthorized || h.status == http.StatusForbidden {
			f.Fix, f.Lasts, f.Without = "give the client on this machine a login that the registry accepts", true, ""
		}
		return f
	}
	for _, lasting := range []error{errTooLarge, errDigestMismatch, errPrivateAddress, errWrongKind} {
		if errors.Is(err, lasting) {
			return Failure{Why: lasting.Error(), Fix: "find out why the registry serves this, and mend it there; or lock another version", Lasts: true}
		}
	}
	if errors.Is(err, errSilent) {
		return Failure{Why: fmt.Sprintf("%s accepts requests and does not answer within %s", host, min(patience, probeAfter+probeTimeout)), Fix: reach, Without: kind}
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return Failure{Why: fmt.Sprintf("%s cannot be reached: %v", host, err), Fix: reach, Without: kind}
}
