package api

import (
	"context"
	"net/http"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// tokenKey is the context key of a request with a token. The value is the latest end of its
// session.
type tokenKey struct{}

// markToken marks a request over TCP that has a token. Requests over the socket need no token: its
// file belongs to the owner of the office, whose command line has the same permissions. A
// session's request ends with the session, because a stream could otherwise run forever.
func markToken(r *http.Request, last, now time.Time) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithValue(r.Context(), tokenKey{}, last), context.CancelFunc(func() {})
	if !last.IsZero() {
		ctx, cancel = context.WithTimeout(ctx, last.Sub(now))
	}
	return r.WithContext(ctx), cancel
}

// cameByToken reports whether the request of ctx was authorized by a token.
func cameByToken(ctx context.Context) bool { return ctx.Value(tokenKey{}) != nil }

// sessionOf returns the latest end of a request's session, or the zero time if there is no
// session.
func sessionOf(ctx context.Context) time.Time {
	last, _ := ctx.Value(tokenKey{}).(time.Time)
	return last
}

// limitCommand rejects commands that name a checkout or a remote if the request has a token. The
// company would read that checkout, or push with the owner's logins. It returns EAccess.
func limitCommand(ctx context.Context, command company.Command) error {
	if !cameByToken(ctx) {
		return nil
	}
	switch command.(type) {
	case company.Submit:
		return company.E(company.EAccess, "a token cannot submit with this command").
			Because("it could name any checkout and remote of this machine").
			Fix("use POST /api/v1/submissions with a known project")
	case company.AddProject:
		return company.E(company.EAccess, "a token cannot add a project").
			Because("it could name any folder of this machine").Fix("on the machine of the office: company project add PATH")
	}
	return nil
}

// limitProject returns the project of a request. Requests over the socket may name any project.
// Requests with a token may name only a project that the office knows, and get its checkout. It
// returns ENotFound for an unknown project, without reading any folder.
func (s *Server) limitProject(ctx context.Context, arg string) (string, error) {
	if arg == "" || !cameByToken(ctx) {
		return arg, nil
	}
	var named []company.ProjectRecord
	for _, record := range s.office.Source().State.Projects() {
		if record.ID == arg || record.WorkDir == arg {
			return record.WorkDir, nil
		}
		if record.Name == arg {
			named = append(named, record)
		}
	}
	switch len(named) {
	case 0:
		return "", company.E(company.ENotFound, "unknown project "+safetext.EscapeLine(arg, 80)).
			Because("a token can only use the projects of the office").
			Fix("GET /api/v1/projects lists them; on the machine of the office: company project add PATH")
	case 1:
		return named[0].WorkDir, nil
	}
	return "", company.E(company.EConflict, "several projects are called "+safetext.EscapeLine(arg, 80)).
		Fix("name it by its id: GET /api/v1/projects")
}
