package api

import (
	"context"
	"net/http"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// tokenKey marks the context of a request that a token let in. Its value is the last moment
// of the session.
type tokenKey struct{}

// markToken marks a request that came over TCP with a token. The socket needs no token: its
// file belongs to the owner of the office, whose command line does all of this. The
// request of a session ends with the session, in now's time: a stream could last for ever.
func markToken(r *http.Request, last, now time.Time) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithValue(r.Context(), tokenKey{}, last), context.CancelFunc(func() {})
	if !last.IsZero() {
		ctx, cancel = context.WithTimeout(ctx, last.Sub(now))
	}
	return r.WithContext(ctx), cancel
}

// cameByToken reports whether a token let the request of ctx in.
func cameByToken(ctx context.Context) bool { return ctx.Value(tokenKey{}) != nil }

// sessionOf is the last moment of the session of a request; zero: it has none.
func sessionOf(ctx context.Context) time.Time {
	last, _ := ctx.Value(tokenKey{}).(time.Time)
	return last
}

// limitCommand refuses commands that name a checkout or a remote themselves, where a token
// let the request in: the company reads a checkout, and pushes with the owner's logins.
// EAccess: no token is let do so.
func limitCommand(ctx context.Context, c company.Command) error {
	if !cameByToken(ctx) {
		return nil
	}
	switch c.(type) {
	case company.Submit:
		return company.E(company.EAccess, "a token cannot send a submission as a command").
			Because("such a command names any checkout and remote of this machine").Fix("POST /api/v1/submissions checks it and names a known project")
	case company.AddProject:
		return company.E(company.EAccess, "a token cannot make a checkout known to the office").
			Because("any folder of this machine could be named").Fix("on the machine of the office: company project add PATH")
	}
	return nil
}

// limitProject gives the project that a request may name. On the socket it is any. Where a
// token let the request in it is one that the office knows, by its checkout then, or none.
// ENotFound: the office does not know it; no folder was looked at.
func (s *Server) limitProject(ctx context.Context, arg string) (string, error) {
	if arg == "" || !cameByToken(ctx) {
		return arg, nil
	}
	var named []company.ProjectRecord
	for _, p := range s.office.Source().State.Projects() {
		if p.ID == arg || p.WorkDir == arg {
			return p.WorkDir, nil
		}
		if p.Name == arg {
			named = append(named, p)
		}
	}
	switch len(named) {
	case 0:
		return "", company.E(company.ENotFound, "the office knows no project "+safetext.EscapeLine(arg, 80)).
			Because("a token reaches the projects of the office alone").Fix("GET /api/v1/projects lists them; on the machine of the office: company project add PATH")
	case 1:
		return named[0].WorkDir, nil
	}
	return "", company.E(company.EConflict, "several projects have the name "+safetext.EscapeLine(arg, 80)).Fix("name it by its id: GET /api/v1/projects")
}
