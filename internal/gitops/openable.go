package gitops

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// judgeUnopened judges the error of a remote that git was not even asked for: it is the address.
func judgeUnopened(err error) error {
	var e *company.Error
	if errors.As(err, &e) && (e.Code == company.ENotFound || e.Code == company.EInvalid || e.Code == company.EAuth) {
		return e.NeedsPerson()
	}
	return err
}

// What git says of a repository that is not there, and of a host that it cannot find.
var (
	noRepositoryRE = lazyregexp.New(`(?i)repository '[^']*' not found|does not appear to be a git repository|returned error: 404`)
	noHostRE       = lazyregexp.New(`(?i)Could not resolve host(name)?`)
)

// judgeUnread judges the error of a remote that git could not read.
func (a *remoteEndpoint) judgeUnread(ctx context.Context, err error) error {
	var e *company.Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &e) || company.NeedsPerson(err) {
		return err
	}
	switch {
	case noRepositoryRE.MatchString(e.Why):
		found := *e
		found.Code, found.Message = company.ENotFound, "the remote "+Mask(a.url)+" is not there, or this login may not see it"
		return found.Fix("see where the remote is: git remote -v").NeedsPerson()
	case a.host == "": // a folder of this machine
		return e.NeedsPerson()
	case noHostRE.MatchString(e.Why) && isUnknownHost(ctx, a.host):
		found := *e
		found.Code, found.Message = company.ENotFound, "the remote "+Mask(a.url)+" cannot be opened"
		return found.Because("there is no host " + a.host).Fix("see where the remote is: git remote -v").NeedsPerson()
	}
	return err
}

// isUnknownHost reports whether the name service says that there is no such host. A machine
// without a network gets no answer: that is no reason to think so.
func isUnknownHost(ctx context.Context, host string) bool {
	const limit = time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := net.DefaultResolver.LookupHost(ctx, strings.Trim(host, "[]"))
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound && !dns.IsTemporary && !dns.IsTimeout
}
