package api

import (
	"context"
	"errors"
	"net/http"

	"company/internal/company"
	"company/internal/present/view"
)

// PullSyncing selects the pull requests to sync with a forge.
type PullSyncing struct {
	PullRequests []string `json:"pull_requests,omitempty"` // by number or task (empty means all open ones)
}

// PullsSynced holds the results of a sync.
type PullsSynced struct {
	PullRequests []view.PullSync `json:"pull_requests"`
}

// PullClosing closes a pull request without a merge.
type PullClosing struct {
	Why string `json:"why,omitempty"` // recorded, and posted on the forge
}

// pullRoutes lists the routes that sync pull requests with the forge and close them there.
var pullRoutes = []Route{
	{Method: http.MethodPost, Path: "prs/sync",
		Summary: "fetch feedback, like `company pr sync`", Body: PullSyncing{}, Answer: PullsSynced{},
		serve: (*Server).servePullSync},
	{Method: http.MethodPost, Path: "prs/{id}/close",
		Summary: "close a pull request, like `company pr close`", Body: PullClosing{},
		Answer: CommandResult{}, Keyed: true, serve: (*Server).servePullClose},
}

// servePost serves a request with a body of type In. It calls ask with the decoded body.
func servePost[In any](
	server *Server, w http.ResponseWriter, r *http.Request, ask func(ctx context.Context, in In) (any, error),
) {
	var in In
	v, err := any(nil), decodeReader(r.Body, &in)
	if err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			err = tooLarge(large.Limit)
		} else {
			err = company.E(company.EInvalid, "invalid request").Wrap(err).Fix(server.sameVersion())
		}
		writeError(w, err)
		return
	}
	ctx, cancel, err := server.askDesk(r.Context())
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
	servePost(s, w, r, func(ctx context.Context, pullSyncing PullSyncing) (any, error) {
		src := s.source()
		refs := pullSyncing.PullRequests
		if len(refs) == 0 {
			for _, p := range src.PullRequests() {
				refs = append(refs, string(p.Task))
			}
		}
		done := PullsSynced{PullRequests: []view.PullSync{}}
		var open []view.PullRecord
		named := map[company.TaskID]bool{}
		for _, ref := range refs { // unknown names are rejected before any request
			pullRecord, err := src.PullRecord(ref)
			if err != nil {
				return nil, err
			}
			if pullRecord.Pull.MayHaveNews(len(pullSyncing.PullRequests) > 0) && !named[pullRecord.Pull.Lead.ID] {
				open, named[pullRecord.Pull.Lead.ID] = append(open, pullRecord), true
			}
		}
		if len(open) == 0 {
			return done, nil
		}
		all, err := s.desk.SyncPulls(ctx, open, func(prFeedback company.RecordPRFeedback) (company.TaskID, error) {
			id := NewCommandID()
			if _, err := s.office.DoID(ctx, id, company.President, prFeedback); err != nil {
				return "", err
			}
			return s.office.Source().State.SubmittedBy(company.President, id), nil
		})
		done.PullRequests = append(done.PullRequests, all...)
		return done, err
	})
}

func (s *Server) servePullClose(w http.ResponseWriter, r *http.Request) {
	servePost(s, w, r, func(ctx context.Context, pullClosing PullClosing) (any, error) {
		id, err := commandID("", r.Header.Values("Idempotency-Key"))
		if err != nil {
			return nil, err
		}
		pullRecord, err := s.source().PullRecord(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		if pullRecord.Pull.State == company.PROpen {
			if err := s.desk.ClosePull(ctx, pullRecord, pullClosing.Why); err != nil {
				return nil, err
			}
		}
		evs, err := s.office.DoID(ctx, id, company.President,
			company.SettlePR{Task: pullRecord.Pull.Lead.ID, State: company.PRClosed, Why: pullClosing.Why})
		return CommandResult{Events: append([]company.Event{}, evs...)}, err
	})
}
