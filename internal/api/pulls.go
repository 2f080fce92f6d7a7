package api

import (
	"context"
	"errors"
	"net/http"

	"company/internal/company"
	"company/internal/view"
)

// PullSyncing names the pull requests about which a forge is asked.
type PullSyncing struct {
	PullRequests []string `json:"pull_requests,omitempty"` // by number or task; none: all that are open
}

// PullsSynced is what came of asking about each of them.
type PullsSynced struct {
	PullRequests []view.PullSync `json:"pull_requests"`
}

// PullClosing closes a pull request without a merge.
type PullClosing struct {
	Why string `json:"why,omitempty"` // for the record, and for the forge
}

// pullRoutes ask the forge about pull requests, and close them there.
var pullRoutes = []Route{
	{Method: http.MethodPost, Path: "prs/sync", Summary: "asks the forge what became of open pull requests, as `company pr sync`: what asks for work becomes a follow-up task", Body: PullSyncing{}, Answer: PullsSynced{}, serve: (*Server).servePullSync},
	{Method: http.MethodPost, Path: "prs/{id}/close", Summary: "closes a pull request without merging it, on its forge too, as `company pr close`", Body: PullClosing{}, Answer: CommandResult{}, Keyed: true, serve: (*Server).servePullClose},
}

// servePost answers a request whose body is an In, and whose work ask does at the desk.
func servePost[In any](s *Server, w http.ResponseWriter, r *http.Request, ask func(ctx context.Context, in In) (any, error)) {
	var in In
	v, err := any(nil), decodeReader(r.Body, &in)
	if err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			err = tooLarge(large.Limit)
		} else {
			err = company.E(company.EInvalid, "the request is not what was expected").Wrap(err).Fix(s.sameVersion())
		}
		writeError(w, err)
		return
	}
	ctx, cancel, err := s.askDesk(r.Context())
	defer cancel()
	if err == nil {
		v, err = ask(ctx, in)
	}
	switch {
	case isRefusedToToken(r, err):
		writeForbidden(w, err)
	case err != nil:
		writeError(w, orEnding(r, err))
	default:
		writeJSON(w, v)
	}
}

func (s *Server) servePullSync(w http.ResponseWriter, r *http.Request) {
	servePost(s, w, r, func(ctx context.Context, in PullSyncing) (any, error) {
		src := s.source()
		refs := in.PullRequests
		if len(refs) == 0 {
			for _, p := range src.PullRequests() {
				refs = append(refs, string(p.Task))
			}
		}
		done := PullsSynced{PullRequests: []view.PullSync{}}
		var open []view.PullRecord
		named := map[company.TaskID]bool{}
		for _, ref := range refs { // wrong names are refused before any request
			p, err := src.PullRecord(ref)
			if err != nil {
				return nil, err
			}
			if p.Pull.MayHaveNews(len(in.PullRequests) > 0) && !named[p.Pull.Lead.ID] {
				open, named[p.Pull.Lead.ID] = append(open, p), true
			}
		}
		if len(open) == 0 {
			return done, nil
		}
		all, err := s.desk.SyncPulls(ctx, open, func(c company.RecordPRFeedback) (company.TaskID, error) {
			id := NewCommandID()
			if _, err := s.office.DoID(ctx, id, company.President, c); err != nil {
				return "", err
			}
			return s.office.Source().State.SubmittedBy(company.President, id), nil
		})
		done.PullRequests = append(done.PullRequests, all...)
		return done, err
	})
}

func (s *Server) servePullClose(w http.ResponseWriter, r *http.Request) {
	servePost(s, w, r, func(ctx context.Context, in PullClosing) (any, error) {
		id, err := commandID("", r.Header.Values("Idempotency-Key"))
		if err != nil {
			return nil, err
		}
		p, err := s.source().PullRecord(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		if p.Pull.State == company.PROpen {
			if err := s.desk.ClosePull(ctx, p, in.Why); err != nil {
				return nil, err
			}
		}
		evs, err := s.office.DoID(ctx, id, company.President, company.SettlePR{Task: p.Pull.Lead.ID, State: company.PRClosed, Why: in.Why})
		return CommandResult{Events: append([]company.Event{}, evs...)}, err
	})
}
